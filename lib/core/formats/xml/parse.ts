import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import { MalformedBodyError } from '../../errors.js'
import { checkValueCount, MAX_DEPTH } from '../../schema/limits.js'
import { lazy } from '../../util/functions.js'
import { abbreviate } from '../../util/truncate.js'

/** Loads saxes when the first document is parsed, and returns it. */
const loadSaxes: () => typeof import('saxes') = lazy(() => createRequire(import.meta.url)('saxes'))

/** A parsed element. */
export interface Element {
  /** The name without its prefix. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** The text directly inside, without that of the children. */
  text: string
  readonly children: Element[]
  /** Whether it is written `<a/>`, not `<a></a>`. */
  readonly selfClosing: boolean
}

/** Parses the bytes of a document, and returns its root element. */
export type ParseXml = (body: Buffer) => Element

/**
 * Makes a strict parser, which knows only the five entities of XML 1.0 §4.6. It throws `MalformedBodyError` if a
 * document is not well-formed or not UTF-8, has a DOCTYPE, or is nested deeper than 32 levels. It throws
 * `TooManyValuesError` if there are too many elements or attributes. Its objects are reused for the next document,
 * which saves a tenth of the time.
 */
export function makeXmlParser (): ParseXml {
  let idle: Parsing | undefined
  return (body) => {
    if (!isUtf8(body)) throw new MalformedBodyError('the body is not valid UTF-8')
    const parsing = idle ?? new Parsing()
    // A parser that has thrown is not used again.
    idle = undefined
    const root = parsing.parse(normalizeBreaks(body).toString())
    idle = parsing
    return root
  }
}

const CR = 0x0d
const LF = 0x0a

/** Replaces each CR LF and each CR with an LF (XML 1.0 §2.11). The parser would take a hundred times as long. */
function normalizeBreaks (body: Buffer): Buffer {
  if (!body.includes(CR)) return body
  const normalized = Buffer.allocUnsafe(body.length)
  let length = 0
  for (let index = 0; index < body.length; index++) {
    const byte = body[index] as number
    if (byte !== CR) normalized[length++] = byte
    else if (body[index + 1] !== LF) normalized[length++] = LF
  }
  return normalized.subarray(0, length)
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** Answers for the entities that a document cannot have. The parser would not name them. */
const UNDEFINED_ENTITIES: object = new Proxy({}, {
  get (_entities, name) {
    const entity = abbreviate(String(name))
    throw new MalformedBodyError(
      `the body is not well-formed XML: the entity "&${entity};" is undefined; write its character, and "&" as "&amp;"`
    )
  }
})

class Parsing {
  readonly #parser = new (loadSaxes().SaxesParser)({ xmlns: false, position: false })
  readonly #open: Element[] = []
  #root: Element | undefined
  #elements = 0
  #attributes = 0

  constructor () {
    const parser = this.#parser
    parser.ENTITIES = Object.assign(Object.create(UNDEFINED_ENTITIES) as object, ENTITIES)
    parser.on('error', ({ message }) => {
      throw new MalformedBodyError(`the body is not well-formed XML: ${abbreviate(message)}`)
    })
    parser.on('doctype', () => { throw new MalformedBodyError('a DOCTYPE is not accepted') })
    parser.on('xmldecl', checkDeclaration)
    // No handler for attributes: one more would make V8 keep the parser as a dictionary, which is twice as slow.
    parser.on('opentag', ({ name, attributes, isSelfClosing }) => {
      this.#enter({ name: localName(name), attributes, text: '', children: [], selfClosing: isSelfClosing })
    })
    parser.on('closetag', () => { this.#open.pop() })
    parser.on('text', (text) => { this.#append(text) })
    parser.on('cdata', (text) => { this.#append(text) })
  }

  parse (text: string): Element {
    this.#elements = 0
    this.#attributes = 0
    this.#parser.write(text).close()
    // A document without an element is not well-formed.
    const root = this.#root as Element
    this.#root = undefined
    return root
  }

  #enter (element: Element): void {
    checkValueCount(++this.#elements)
    checkValueCount(this.#attributes += Object.keys(element.attributes).length)
    if (this.#open.length >= MAX_DEPTH) {
      throw new MalformedBodyError(`the document is nested deeper than ${MAX_DEPTH} levels`)
    }
    const parent = this.#open.at(-1)
    if (parent === undefined) this.#root = element
    else parent.children.push(element)
    this.#open.push(element)
  }

  #append (text: string): void {
    const element = this.#open.at(-1)
    if (element !== undefined) element.text += text
  }
}

function checkDeclaration ({ encoding }: { encoding?: string | undefined }): void {
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
    throw new MalformedBodyError(`the document says that it is in ${abbreviate(encoding)}; send UTF-8`)
  }
}

function localName (name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
