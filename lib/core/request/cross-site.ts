import type { FastifyRequest } from 'fastify'

/** The methods that change nothing. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

/**
 * Describes where an unsafe request comes from, and how to trust it, if a browser made it for another origin. Returns
 * `undefined` otherwise. This guards against forged requests without a token. A browser marks its requests by Fetch
 * Metadata, and an older browser by Origin. A request that has neither does not come from a page.
 */
export function findCrossSite (request: FastifyRequest, trusted: ReadonlySet<string>): string | undefined {
  const { method, headers } = request
  if (SAFE.has(method)) return undefined
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && trusted.has(origin)) return undefined
  if (site === undefined) {
    return origin === undefined || isOwn(origin, request.host)
      ? undefined
      : describe('another origin', `Origin is ${origin.slice(0, 100)}`, origin)
  }
  if (site === 'same-origin' || site === 'none') return undefined
  const isSameSite = site === 'same-site'
  return describe(
    isSameSite ? 'another origin of this site' : 'another site',
    `Sec-Fetch-Site is ${String(site).slice(0, 40)}`,
    origin
  )
}

/** Names the option, because developers meet this error first with an app on another port of localhost. */
function describe (where: string, why: string, origin: string | undefined): string {
  const whose = origin === undefined || origin === 'null' || origin.length > 100 ? 'its origin' : `"${origin}"`
  return `${where}: ${why}; if its pages may write here, add ${whose} to the option trustedOrigins`
}

/**
 * Returns whether an origin has this host. The scheme is not compared, because it is unknown behind a proxy that ends
 * TLS. `host` is the forwarded one only if the app trusts its proxy.
 */
function isOwn (origin: string, host: string): boolean {
  const [, scheme, authority] = /^(https?):\/\/(.+)$/.exec(origin.toLowerCase()) ?? []
  if (scheme === undefined || authority === undefined) return false
  const port = scheme === 'http' ? /:80$/ : /:443$/
  // `localhost.` is the host `localhost`, written as an absolute name (RFC 3986 §3.2.2).
  const simplify = (text: string): string => text.replace(port, '').replace(/\.(?=:\d+$|$)/, '')
  return simplify(authority) === simplify(host.toLowerCase())
}
