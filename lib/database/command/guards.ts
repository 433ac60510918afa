import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Settings, User } from './settings.js'

/** The names by which clients on the same machine call it. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])

/** The header of every answer (Fetch Standard, "Cross-Origin-Resource-Policy header"). */
export const SAME_ORIGIN = ['cross-origin-resource-policy', 'same-origin'] as const

const CURE = 'use localhost, or start the command with --origin https://HOST, and with --prefix /PATH if a proxy ' +
  'serves it below a path'

/** Returns whether only clients on the same machine reach an address. */
export function isLoopback (host: string): boolean {
  return LOOPBACK.has(host)
}

/** Adds the hooks that refuse requests of strangers. */
export function addGuards (
  app: FastifyInstance,
  { host, users, origins }: Pick<Settings, 'host' | 'users' | 'origins'>
): void {
  // A page of another site could load a path as an image, and so find out whether it exists.
  app.addHook('onRequest', async (_request, reply) => { reply.header(...SAME_ORIGIN) })
  if (isLoopback(host)) {
    const hosts = new Set([...LOOPBACK, ...origins.map((origin) => new URL(origin).hostname)])
    // A page of another site could give its own name this address (DNS rebinding), and read everything.
    app.addHook('onRequest', async ({ hostname }) => {
      if (hosts.has(hostname.toLowerCase().replace(/\.$/, ''))) return
      throw Object.assign(new Error(`there is no host "${hostname.slice(0, 100)}" here; ${CURE}`), { statusCode: 421 })
    })
  }
  if (users.length === 0) return
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  const known = users.map((user) => ({ user, expected: hash(user.credentials) }))
  app.decorateRequest(USER, null)
  // HTTP Basic (RFC 7617).
  app.addHook('onRequest', async (request, reply) => {
    const { authorization = '' } = request.headers
    const given = hash(Buffer.from(authorization.replace(/^Basic +/i, ''), 'base64').toString())
    const found = known.find(({ expected }) => timingSafeEqual(given, expected))
    if (found !== undefined) {
      request.setDecorator(USER, found.user)
      return
    }
    reply.header('www-authenticate', 'Basic realm="database", charset="UTF-8"')
    throw Object.assign(new Error('send the name and the password of the option --user'), { statusCode: 401 })
  })
}

/** The decorator of a request with its user. */
const USER = 'user'

/** Returns the user of a request that has passed the guards. */
export function userOf (request: FastifyRequest): User {
  return request.getDecorator<User>(USER)
}
