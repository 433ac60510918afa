import type { create } from 'xmlbuilder2'
import { escapeAttribute, escapeText } from '../../escape.js'
import { xmlBuilder } from '../tags.js'

/** A node of an XML Schema that is being built. */
export type XsdNode = ReturnType<typeof create>

const NAMESPACE = 'http://www.w3.org/2001/XMLSchema'

export function makeSchemaNode (): XsdNode {
  return xmlBuilder().create({ version: '1.0', encoding: 'UTF-8' }).ele(NAMESPACE, 'xs:schema')
}

/** Adds an element of XML Schema; an attribute that is undefined is left out. */
export function add (
  parent: XsdNode,
  name: string,
  attributes: Readonly<Record<string, string | undefined>> = {}
): XsdNode {
  const given = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, escapeAttribute(value)]]
  )
  // Escaped by us: xmlbuilder2 takes what looks like a reference for one, and leaves that as it is.
  return parent.ele(NAMESPACE, `xs:${name}`, Object.fromEntries(given))
}

/** Adds what people are told of a declaration. */
export function addDocumentation (parent: XsdNode, ...texts: ReadonlyArray<string | undefined>): void {
  const told = texts.filter((text) => text !== undefined && text !== '')
  if (told.length === 0) return
  const annotation = add(parent, 'annotation')
  for (const text of told) add(annotation, 'documentation').txt(escapeText(text as string))
}

export function renderSchemaNode (node: XsdNode): string {
  return `${node.doc().end({ prettyPrint: true, wellFormed: true })}\n`
}
