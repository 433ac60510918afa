import type { Property } from '../../schema/shape.js'
import type { Schema } from '../../schema/types.js'
import { capitalize, wordsOf } from './messages.js'

/** What a name is in an id, where it may have no white space (HTML §3.2.6.1): the same for no other name. */
export function partOfId (name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}\p{M}_.-]/gu, (character) => `~${character.codePointAt(0)?.toString(16)}`)
}

/** `post[author][name]` → `post:author:name`: no name has a colon, and none of a page's own ids has one. */
export function idOf (name: string): string {
  return name.split(/\]?\[|\]$/).filter((part) => part !== '').map(partOfId).join(':')
}

/** `publishedAt` → `Published at`, unless the schema has a title. */
export function labelOf ({ name, schema }: Pick<Property, 'name' | 'schema'>): string {
  return annotationOf(schema, 'title') ?? capitalize(wordsOf(name))
}

/** What a schema says of a value in words; a blank text is none. */
export function annotationOf (schema: Schema, keyword: 'title' | 'description'): string | undefined {
  const text = schema[keyword]
  return typeof text === 'string' && text !== '' ? text : undefined
}
