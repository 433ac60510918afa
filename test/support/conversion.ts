import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { xml } from './helper.js'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type Attributes = { [name: string]: Json }
/** The result of a payload: the kept attributes, the names in a 422, or another status. */
export type Outcome = Attributes | { refused: string[] } | number
export type Fields = readonly (readonly [name: string, text: string])[]

const author = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    address: { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
  },
  additionalProperties: false
} as const

/** Attributes of each kind, nullable and not. */
const thing = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    note: { type: ['string', 'null'] },
    count: { type: 'integer' },
    limit: { type: ['integer', 'null'] },
    ratio: { type: 'number' },
    share: { type: ['number', 'null'] },
    flag: { type: 'boolean' },
    maybe: { type: ['boolean', 'null'] },
    day: { type: 'string', format: 'date' },
    moment: { type: 'string', format: 'date-time' },
    until: { type: ['string', 'null'], format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' } },
    numbers: { type: 'array', items: { type: 'integer' } },
    gaps: { type: 'array', items: { type: ['integer', 'null'] } },
    grid: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    author,
    people: { type: 'array', items: author },
    either: { type: ['string', 'integer'] },
    mixed: { type: ['integer', 'boolean', 'null'] }
  }
} as const

export const mediaTypes = {
  json: 'application/json', xml: 'application/xml', form: 'application/x-www-form-urlencoded'
}
export const refused = (...names: string[]): Outcome => ({ refused: names })

export function send (
  app: FastifyInstance, type: string, payload: string | Buffer, method: 'POST' | 'PUT' = 'POST', url = '/things'
): Promise<LightMyRequestResponse> {
  return app.inject({ method, url, headers: { accept: 'application/json', 'content-type': type }, payload })
}

/** Returns the messages of a 422 by attribute, and none for other answers. */
export const errorsOf = (res: LightMyRequestResponse): { [name: string]: string[] } =>
  res.json<{ errors?: { [name: string]: string[] } }>().errors ?? {}

export function outcomeOf (t: Test, res: LightMyRequestResponse, name: string): Outcome {
  if (res.statusCode >= 500) t.fail(`${name}: ${res.body}`)
  if (res.statusCode === 201 || res.statusCode === 200) {
    const { id: _, ...attributes } = res.json<{ thing: Attributes }>().thing
    return attributes
  }
  return res.statusCode === 422 ? { refused: Object.keys(errorsOf(res)) } : res.statusCode
}

export const json = async (t: Test, app: FastifyInstance, attributes: string): Promise<Outcome> =>
  outcomeOf(t, await send(app, mediaTypes.json, `{"thing":${attributes}}`), attributes)
export const read = async (t: Test, app: FastifyInstance, inner: string): Promise<Outcome> =>
  outcomeOf(t, await send(app, mediaTypes.xml, `${xml}<thing>${inner}</thing>`), inner)
/** Sends a form. The names are those inside the group: `count`, `tags][`, `author][name`. */
export const form = async (t: Test, app: FastifyInstance, pairs: Fields): Promise<Outcome> => {
  const payload = new URLSearchParams(pairs.map(([name, text]): [string, string] => [`thing[${name}]`,
    text])).toString()
  return outcomeOf(t, await send(app, mediaTypes.form, payload), payload)
}

export const things = { name: 'things', attributes: thing }
