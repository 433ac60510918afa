import type { FastifyRequest } from 'fastify'
import { InvalidAnswerError } from '../errors.js'
import type { Attributes } from '../schema/types.js'
import { show } from '../util/check-option.js'
import { decorateStore } from './decorate.js'
import type { Context, Store } from './store.js'

/** Returns the text that the write of a request sets. */
export type Stamp = (request: FastifyRequest) => string

/** Returns a store whose creates and updates set attributes to what functions return for the request. */
export function stampStore (store: Store, stamps: ReadonlyMap<string, Stamp>): Store {
  const stamp = (attributes: Attributes, { request }: Context): Attributes => {
    // A handler has passed another context than its own.
    if (request === undefined) throw new TypeError('a stamp needs a request; give the store the context of the handler')
    const texts = [...stamps].map(([name, find]): [string, string] => {
      const text: unknown = find(request)
      if (typeof text === 'string') return [name, text]
      throw new InvalidAnswerError(`stamp.${name}`, `has returned ${show(text)}; return a text`)
    })
    return { ...attributes, ...Object.fromEntries(texts) }
  }
  return decorateStore(store, {
    create: (attributes, scope, context) => store.create(stamp(attributes, context), scope, context),
    createMany: (rows, scope, context) =>
      (store as Required<Store>).createMany(rows.map((row) => stamp(row, context)), scope, context),
    update: (id, changes, guard, context) => store.update(id, stamp(changes, context), guard, context)
  })
}
