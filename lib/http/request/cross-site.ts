import type { FastifyRequest } from 'fastify'

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

/**
 * Describes where an unsafe request comes from, and how to trust it, if a browser made it for another origin; else
 * returns undefined. A browser marks its
 * requests by Fetch Metadata, an older one by Origin; a request with neither was made by no page. This is what guards
 * against forged requests, without a token.
 */
export function findCrossSite (request: FastifyRequest, trusted: ReadonlySet<string>): string | undefined {
  const { method, headers } = request
  if (SAFE.has(method)) return undefined
  const { origin, 'sec-fetch-site': mount } = headers
  if (mount === undefined && origin === undefined) return undefined
  if (origin !== undefined && trusted.has(origin)) return undefined
  if (mount === undefined) {
    return isOwn(origin as string, request.host)
      ? undefined
      : describe('another origin', `Origin is ${(origin as string).slice(0, 100)}`, origin)
  }
  if (mount === 'same-origin' || mount === 'none') return undefined
  const isSameSite = mount === 'same-site'
  return describe(
    isSameSite ? 'another origin of this site' : 'another site',
    `Sec-Fetch-Site is ${String(mount).slice(0, 40)}`,
    origin
  )
}

/** An app on another port of localhost is the first that developers meet this with: the message names the option. */
function describe (where: string, why: string, origin: string | undefined): string {
  const whose = origin === undefined || origin === 'null' || origin.length > 100 ? 'its origin' : `"${origin}"`
  return `${where}: ${why}; if its pages may write here, add ${whose} to the option trustedOrigins`
}

/**
 * By the host alone: behind a proxy that ends TLS the scheme is not known here. `host` is the forwarded one only where
 * the app trusts its proxy.
 */
function isOwn (origin: string, host: string): boolean {
  const [, scheme, authority] = /^(https?):\/\/(.+)$/.exec(origin.toLowerCase()) ?? []
  if (scheme === undefined || authority === undefined) return false
  const port = scheme === 'http' ? /:80$/ : /:443$/
  return authority.replace(port, '') === host.toLowerCase().replace(port, '')
}
