import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Format, WriterContext } from '../formats/format.js'
import type { Resource } from '../resource/resource.js'
import { lazy } from '../util/functions.js'

/** Raise it whenever a format of the package writes rows in another way, so that clients drop their copies. */
const WRITING = 1
/** The length of a shape, in hexadecimal digits. */
const LENGTH = 8

/**
 * Compiles the function that returns the shape of an answer: a short digest of what a format writes besides the values
 * of a row. It is part of the entity tag, which must change when the representation does (RFC 9110 §8.8.1).
 */
export function compileShape (
  { name, browser, settings, languageOf }: Format,
  { plural, singular, singleton, path, idType, key, schema, actions, memberWrites, foreignKey }: Resource,
  context: WriterContext
): (request: Pick<FastifyRequest, 'headers'>) => string {
  // A page has links and forms beside its row. Other references are known once the app is ready.
  const describePage = (): readonly unknown[] => {
    const { formats, collectionActions, memberActions, children, references, newSegment, editSegment } = context
    const names = formats.map(({ name }) => name)
    const links = [names, collectionActions, memberActions, children, references, newSegment, editSegment]
    return [path, idType, key, actions, memberWrites, foreignKey, ...links]
  }
  const known = new Map<string | undefined, string>()
  const text = lazy(() => {
    const { only, include } = context.selection ?? {}
    const parts = [WRITING, name, settings, plural, singular, singleton, schema, only, include]
    return JSON.stringify([...parts, ...(browser === true ? describePage() : [])], spellOut)
  })
  return (request) => {
    const language = languageOf?.(request)
    let shape = known.get(language)
    if (shape === undefined) {
      shape = createHash('sha256').update(`${text()} ${language}`).digest('hex').slice(0, LENGTH)
      known.set(language, shape)
    }
    return shape
  }
}

/** Replaces what JSON has no spelling for. A function of the app is known by its source. */
function spellOut (_name: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value]
  return typeof value === 'function' ? String(value) : value
}
