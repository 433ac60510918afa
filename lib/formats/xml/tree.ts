import { isUtf8 } from 'node:buffer'
import { SaxesParser } from 'saxes'
import { checkCount } from '../../count.js'
import { MalformedBodyError } from '../../errors.js'
import { abbreviate } from '../../text.js'

/** An element as it was read. */
export interface Element {
  /** The name without its prefix. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** All text directly inside. */
  text: string
  readonly children: Element[]
  /** `<a/>` rather than `<a></a>`. */
  readonly selfClosing: boolean
}

/** Deeper documents make recursive readers fail; no resource is that deep. */
const DEPTH = 32

/**
 * The root element of a document, by a strict parser: not well-formed, not UTF-8, a DOCTYPE or a depth beyond 32 is
 * refused. Entities are the five of XML 1.0 §4.6.
 * @throws MalformedBodyError, TooManyValuesError
 */
export function parseXml (body: Buffer): Element {
  if (!isUtf8(body)) throw new MalformedBodyError('the body is not valid UTF-8')
  const parser = new SaxesParser({ xmlns: false, position: false })
  const open: Element[] = []
  let root: Element | undefined
  let elements = 0
  let attributesOfAll = 0
  parser.on('error', ({ message }) => { throw new MalformedBodyError(`the body is not well-formed XML: ${abbreviate(message)}`) })
  parser.on('doctype', () => { throw new MalformedBodyError('a DOCTYPE is not accepted') })
  parser.on('xmldecl', checkDeclaration)
  parser.on('opentag', ({ name, attributes, isSelfClosing }) => {
    checkCount(++elements)
    // Here: one more listener would make V8 keep the parser as a dictionary, and everything takes twice as long.
    checkCount(attributesOfAll += Object.keys(attributes).length)
    if (open.length >= DEPTH) throw new MalformedBodyError(`the document is nested deeper than ${DEPTH} levels`)
    const element: Element = { name: localName(name), attributes, text: '', children: [], selfClosing: isSelfClosing }
    const parent = open.at(-1)
    if (parent === undefined) root = element
    else parent.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => { open.pop() })
  const append = (text: string): void => {
    const element = open.at(-1)
    if (element !== undefined) element.text += text
  }
  parser.on('text', append)
  parser.on('cdata', append)
  parser.write(body.toString()).close()
  // A document without an element is not well-formed.
  return root as unknown as Element
}

function checkDeclaration ({ encoding }: { encoding?: string | undefined }): void {
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) throw new MalformedBodyError(`the document says that it is in ${abbreviate(encoding)}; send UTF-8`)
}

function localName (name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
