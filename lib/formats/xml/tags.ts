import { createRequire } from 'node:module'
import { lazy } from '../../util/lazy.js'

/** Returns xmlbuilder2. It is loaded when it is first needed, since loading it takes longer than loading all else. */
export const xmlBuilder: () => typeof import('xmlbuilder2') = lazy(
  () => createRequire(import.meta.url)('xmlbuilder2') as typeof import('xmlbuilder2')
)

/** An element's two tags, the text between them left out. */
export interface Tags {
  readonly open: string
  readonly close: string
}

/** In no name; and no wider than names are, since it would make every text wide that its tags stand in. */
const HOLE = '|'

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/**
 * The tags of an element, built by xmlbuilder2, which refuses a name or an attribute that would not be well-formed.
 * @throws Error where the name is no XML name
 */
export function buildTags (name: string, attributes: Readonly<Record<string, string>> = {}): Tags {
  const element = xmlBuilder().create().ele(name, attributes).txt(HOLE).end({ headless: true, wellFormed: true })
  const hole = element.lastIndexOf(HOLE)
  return { open: element.slice(0, hole), close: element.slice(hole + HOLE.length) }
}

/** An element that has no content. */
export function buildEmpty (name: string, attributes: Readonly<Record<string, string>>): string {
  return xmlBuilder().create().ele(name, attributes).end({ headless: true, wellFormed: true })
}
