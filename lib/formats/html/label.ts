import type { Property, Schema } from '../../shape.js'
import { capitalize, wordsOf } from './messages.js'

/** `publishedAt` → `Published at`, unless the schema has a title. */
export function labelOf ({ name, schema }: Pick<Property, 'name' | 'schema'>): string {
  return annotationOf(schema, 'title') ?? capitalize(wordsOf(name))
}

/** What a schema says of a value in words; a blank text is none. */
export function annotationOf (schema: Schema, keyword: 'title' | 'description'): string | undefined {
  const text = schema[keyword]
  return typeof text === 'string' && text !== '' ? text : undefined
}
