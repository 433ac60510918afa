import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { draw, type Mapper } from '../../lib/index.js'
import { types } from './helper.js'

export const SECRET = 'hush-hush'
export const REFUSAL = { xml: types.xml, html: types.html, json: types.problem } as const
export const MEDIA_TYPES = { xml: 'application/xml', html: 'text/html', json: 'application/json' } as const

export async function drawn (
  t: Test, declare: (map: Mapper) => unknown, before?: (app: FastifyInstance) => void
): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  before?.(app)
  app.register(draw(declare))
  await app.ready()
  return app
}

export function everythingIn (res: LightMyRequestResponse): string {
  return JSON.stringify(res.headers) + res.body
}
