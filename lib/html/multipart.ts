import { pipeline } from 'node:stream/promises'
import type { BusboyConstructor, BusboyHeaders } from '@fastify/busboy'
import { FormTooLargeError, MalformedBodyError } from '../core/errors.js'
import { KEY } from '../core/formats/form/parse.js'
import type { Importing, ImportForm } from '../core/formats/importing.js'
import { say } from '../core/messages.js'
import { Slices } from '../core/util/slices.js'

/** The bounds of a form, in fields, and of their names, in bytes. The forms of a page have at most eight fields. */
const MOST_PARTS = 10
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
  const { Busboy } = await import('@fastify/busboy')
  // The page carries a file in base64, which takes four bytes for three.
  const fieldSize = Math.ceil(bytes / 3) * 4
  const limits = { parts: MOST_PARTS, fileSize: bytes, fieldSize: fieldSize + 1 }
  return {
    rows,
    bytes,
    bodyLimit: fieldSize + OTHERS,
    async parse (body, contentType) {
      const fields = await readFields(body, makeParser(() => new Busboy({
        headers: { 'content-type': contentType } as BusboyHeaders, limits
      })), bytes)
      return toForm(fields, bytes)
    }
  }
}

/** @throws MalformedBodyError if the Content-Type has no boundary */
function makeParser (make: () => Parser): Parser {
  try {
    return make()
  } catch (cause) {
    throw refuse(cause)
  }
}

function refuse (cause: unknown): Error {
  return new MalformedBodyError(`the form is not valid multipart/form-data: ${(cause as Error).message}`)
}

/**
 * Reads the fields of a form by their names.
 * @throws MalformedBodyError, FormTooLargeError
 */
async function readFields (body: Buffer, parser: Parser, bytes: number): Promise<ReadonlyMap<string, Buffer>> {
  const fields = new Map<string, Buffer>()
  let fault: Error | undefined
  const add = (name: string, content: Buffer): void => {
    if (Buffer.byteLength(name) > LONGEST_NAME) {
      fault ??= new FormTooLargeError(`a name in the form has more than ${LONGEST_NAME} bytes`)
    }
    if (!FIELDS.includes(name)) fault ??= new MalformedBodyError(`the form has an unknown field "${name}"`)
    if (fields.has(name)) fault ??= new MalformedBodyError(`the form has the field "${name}" twice`)
    fields.set(name, content)
  }
  parser.on('file', (name, stream) => {
    const parts: Buffer[] = []
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('limit', () => { fault ??= tooLarge(bytes) })
    stream.on('end', () => { add(name, Buffer.concat(parts)) })
  })
  parser.on('field', (name, text, _isNameCut, isTextCut) => {
    if (isTextCut) fault ??= tooLarge(bytes)
    // The parser has put U+FFFD in place of bytes that are not UTF-8.
    if (text.includes('\ufffd')) fault ??= new MalformedBodyError('the body is not valid UTF-8')
    add(name, Buffer.from(text))
  })
  parser.on('partsLimit', () => { fault = new FormTooLargeError(`the form has more than ${MOST_PARTS} fields`) })
  try {
    await pipeline(piecesOf(body), parser)
  } catch (cause) {
    throw fault ?? refuse(cause)
  }
  if (fault !== undefined) throw fault
  return fields
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
