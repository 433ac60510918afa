import type { create } from 'xmlbuilder2'
import { escapeAttribute, escapeText } from '../core/formats/escape.js'
import { xmlBuilder } from '../core/formats/xml/write.js'

/** A node of an XML Schema that is being built. */
export type XsdNode = ReturnType<typeof create>

const NAMESPACE = 'http://www.w3.org/2001/XMLSchema'

export function makeSchemaNode (): XsdNode {
  return xmlBuilder().create({ version: '1.0', encoding: 'UTF-8' }).ele(NAMESPACE, 'xs:schema')
}

/** Adds an element of XML Schema. */
export function add (
  parent: XsdNode,
  name: string,
  attributes: Readonly<Record<string, string | undefined>> = {}
): XsdNode {
  const given = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, escapeAttribute(value)]]
  )
  // xmlbuilder2 does not escape a text that looks like a reference, so the values are escaped here.
  return parent.ele(NAMESPACE, `xs:${name}`, Object.fromEntries(given))
}

export function addDocumentation (parent: XsdNode, ...texts: ReadonlyArray<string | undefined>): void {
  const present = texts.flatMap((text) => text === undefined || text === '' ? [] : [text])
  if (present.length === 0) return
  const annotation = add(parent, 'annotation')
  for (const text of present) add(annotation, 'documentation').txt(escapeText(text))
}

export function renderSchemaNode (node: XsdNode): string {
  return `${node.doc().end({ prettyPrint: true, wellFormed: true })}\n`
}
