import { pipeline } from 'node:stream/promises'
import type { BusboyConstructor, BusboyHeaders } from '@fastify/busboy'
import { FormTooLargeError, MalformedBodyError } from '../core/errors.js'
import { KEY, MAX_FIELDS } from '../core/formats/form/parse.js'
import type { Importing, ImportForm } from '../core/formats/importing.js'
import { type Said, say } from '../core/messages.js'
import { Slices } from '../core/util/slices.js'

/** The most fields of the form that imports rows. */
const MOST_PARTS = 10
/** The longest name of one of them, in bytes. */
const LONGEST_NAME = 100

/** The size of what a form has besides the file, in bytes: above all the numbers of the lines that it leaves out. */
const OTHERS = 524_288

/** The size of the pieces in which a body is read, in bytes. */
const PIECE = 65_536

/** The fields of the forms of the page. */
const FIELDS = ['step', 'file', 'text', 'data', 'match', 'without', 'faulty', 'typed', KEY]

const STEPS = ['preview', 'write', 'faulty', 'rest']

type Parser = InstanceType<BusboyConstructor>

/** The option `import`, as it was checked. */
export type ImportBounds = Pick<Importing, 'rows' | 'bytes'>

/** Makes the import of pages. The parser is loaded only for those that have one. */
export async function makeImporting ({ rows, bytes }: ImportBounds): Promise<Importing> {
  // The page carries a file in base64, which takes four bytes for three.
  const fieldSize = Math.ceil(bytes / 3) * 4
  const limits = { parts: MOST_PARTS, fileSize: bytes, fieldSize: fieldSize + 1 }
  const tooMany = `the form has more than ${MOST_PARTS} fields`
  return {
    rows,
    bytes,
    bodyLimit: fieldSize + OTHERS,
    async parse (body, contentType) {
      const parts = await readParts(body, contentType, {
        limits, longestName: LONGEST_NAME, tooMany, tooLarge: () => tooLarge(bytes)
      })
      const fields = new Map<string, Buffer>()
      for (const { name, content } of parts) {
        if (!FIELDS.includes(name)) throw new MalformedBodyError(`the form has an unknown field "${name}"`)
        if (fields.has(name)) throw new MalformedBodyError(`the form has the field "${name}" twice`)
        fields.set(name, content)
      }
      return toForm(fields, bytes)
    }
  }
}

/** The bounds of a form of a resource. The size of its body is limited before. */
const OF_FORM = {
  limits: { parts: MAX_FIELDS, fileSize: Infinity, fieldSize: Infinity },
  longestName: 1000,
  tooMany: say('tooManyFields', { most: MAX_FIELDS }),
  tooLarge: () => tooLarge(Infinity)
}

/**
 * Reads a form with files, and returns its fields as a form without files has them. A file is base64, and replaces the
 * text of its name, with which a form that comes back carries the file that was chosen before.
 * @throws MalformedBodyError, FormTooLargeError
 */
export async function parseFiles (body: Buffer, contentType: string): Promise<string> {
  const fields: Array<readonly [name: string, text: string]> = []
  const parts = await readParts(body, contentType, OF_FORM)
  const chosen = new Set(parts.flatMap(({ name, fileName, content }) => isChosen(fileName, content) ? [name] : []))
  for (const { name, content, fileName } of parts) {
    if (isChosen(fileName, content)) {
      if (content.length === 0) throw new MalformedBodyError(say('emptyFile', { name: fileName }))
      fields.push([name, content.toString('base64')])
    } else if (fileName === undefined && !chosen.has(name)) fields.push([name, content.toString()])
  }
  return fields.map((field) => field.map(encodeURIComponent).join('=')).join('&')
}

/** Returns whether a part is a file. A browser sends an empty one without a name if no file was chosen. */
function isChosen (fileName: string | undefined, content: Buffer): fileName is string {
  return fileName !== undefined && (fileName !== '' || content.length > 0)
}

/** A field of a form, or a file in it with its name, which is empty if no file was chosen. */
interface Part {
  readonly name: string
  content: Buffer
  readonly fileName: string | undefined
}

/** The bounds of a form, and the errors for a form that exceeds them. */
interface Bounds {
  readonly limits: { readonly parts: number, readonly fileSize: number, readonly fieldSize: number }
  /** The longest name of a field, in bytes. */
  readonly longestName: number
  readonly tooMany: Said
  readonly tooLarge: () => Error
}

function refuse (cause: unknown): Error {
  return new MalformedBodyError(`the form is not valid multipart/form-data: ${(cause as Error).message}`)
}

/**
 * Reads the parts of a form, in their order. The parser is loaded by the first form.
 * @throws MalformedBodyError, FormTooLargeError
 */
async function readParts (body: Buffer, contentType: string, bounds: Bounds): Promise<readonly Part[]> {
  const { Busboy } = await import('@fastify/busboy')
  const { limits, longestName } = bounds
  const parser = makeParser(Busboy, contentType, limits)
  const parts: Part[] = []
  let fault: Error | undefined
  const add = (given: string | undefined, content: Buffer, fileName: string | undefined): Part => {
    const name = given ?? ''
    if (name === '' || !name.isWellFormed()) fault ??= new MalformedBodyError('a part of the form has no name')
    if (Buffer.byteLength(name) > longestName) {
      fault ??= new FormTooLargeError(`a name in the form has more than ${longestName} bytes`)
    }
    const part = { name, content, fileName }
    parts.push(part)
    return part
  }
  parser.on('file', (name, stream, fileName: string | undefined) => {
    const part = add(name, NOTHING, fileName ?? '')
    const pieces: Buffer[] = []
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.on('limit', () => { fault ??= bounds.tooLarge() })
    stream.on('end', () => { part.content = Buffer.concat(pieces) })
    // The parser reports the same error. Without a listener, it would end the process.
    stream.on('error', () => {})
  })
  parser.on('field', (name, text, _isNameCut, isTextCut) => {
    if (isTextCut) fault ??= bounds.tooLarge()
    // The parser has put U+FFFD in place of bytes that are not UTF-8.
    if (text.includes('\ufffd') && !body.includes('\ufffd')) {
      fault ??= new MalformedBodyError('the body is not valid UTF-8')
    }
    add(name, Buffer.from(text), undefined)
  })
  parser.on('partsLimit', () => { fault = new FormTooLargeError(bounds.tooMany) })
  try {
    await pipeline(piecesOf(body), parser)
  } catch (cause) {
    throw fault ?? refuse(cause)
  }
  if (fault !== undefined) throw fault
  return parts
}

/** @throws MalformedBodyError if the Content-Type has no boundary */
function makeParser (Busboy: BusboyConstructor, contentType: string, limits: Bounds['limits']): Parser {
  try {
    return new Busboy({ headers: { 'content-type': contentType } as BusboyHeaders, limits })
  } catch (cause) {
    throw refuse(cause)
  }
}

async function * piecesOf (body: Buffer): AsyncGenerator<Buffer> {
  const slices = new Slices()
  for (let start = 0; start < body.length; start += PIECE) {
    yield body.subarray(start, start + PIECE)
    if (slices.isOver) await slices.pause()
  }
}

/** Returns what a form asks for. The file that the page before it carries counts before another one. */
function toForm (fields: ReadonlyMap<string, Buffer>, bytes: number): ImportForm {
  const text = (name: string): string => fields.get(name)?.toString() ?? ''
  const carried = text('data')
  const file = fields.get('file') ?? NOTHING
  const isCarried = carried !== ''
  const content = isCarried ? Buffer.from(carried, 'base64') : file.length > 0 ? file : fields.get('text') ?? NOTHING
  if (content.length > bytes) throw tooLarge(bytes)
  const step = text('step') || 'preview'
  if (!STEPS.includes(step)) throw new MalformedBodyError(`"step" must be one of ${STEPS.join(', ')}`)
  const lists = step === 'rest' ? [text('without'), text('faulty')] : [text('without')]
  const left = lists.flatMap((lines) => lines.match(/\d+/g) ?? [])
  return {
    step: step === 'rest' ? 'preview' : step as ImportForm['step'],
    content,
    isTyped: isCarried ? fields.has('typed') : file.length === 0,
    match: text('match'),
    without: [...new Set(left.map(Number))],
    key: fields.get(KEY)?.toString()
  }
}

const NOTHING = Buffer.alloc(0)

const KIB = 1024

function tooLarge (bytes: number): Error {
  const most = bytes < KIB * KIB ? `${bytes / KIB} kB` : `${bytes / KIB / KIB} MB`
  return new FormTooLargeError(say('fileTooLarge', { most: most.replace(/(\.\d)\d+/, '$1') }))
}
