import { createRequire } from 'node:module'
import { lazy } from '../../util/functions.js'

/** Loads xmlbuilder2 when it is first needed, and returns it. It takes longer to load than everything else. */
export const xmlBuilder: () => typeof import('xmlbuilder2') = lazy(
  () => createRequire(import.meta.url)('xmlbuilder2')
)

/** The two tags of an element, without the text between them. */
export interface Tags {
  readonly open: string
  readonly close: string
}

/** A mark that no name contains. It takes one byte, because a wider mark would widen every text that has the tags. */
const HOLE = '|'

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/**
 * Builds the tags of an element by xmlbuilder2, which refuses a name or an attribute that would not be well-formed.
 * @throws Error if the name is not an XML name
 */
export function buildTags (name: string, attributes: Readonly<Record<string, string>> = {}): Tags {
  const element = xmlBuilder().create().ele(name, attributes).txt(HOLE).end({ headless: true, wellFormed: true })
  const hole = element.lastIndexOf(HOLE)
  return { open: element.slice(0, hole), close: element.slice(hole + HOLE.length) }
}

/** Builds an element without content. */
export function buildEmpty (name: string, attributes: Readonly<Record<string, string>>): string {
  return xmlBuilder().create().ele(name, attributes).end({ headless: true, wellFormed: true })
}
