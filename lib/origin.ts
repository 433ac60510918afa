import type { FastifyRequest } from 'fastify'

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

/**
 * Why an unsafe request is one that a browser made for another site, or undefined where it is not. A browser marks its
 * requests by Fetch Metadata, an older one by Origin; a request with neither was made by no page. This is what guards
 * against forged requests, without a token.
 */
export function findCrossSite (request: FastifyRequest, trusted: ReadonlySet<string>): string | undefined {
  const { method, headers } = request
  if (SAFE.has(method)) return undefined
  const { origin, 'sec-fetch-site': site } = headers
  if (site === undefined && origin === undefined) return undefined
  if (origin !== undefined && trusted.has(origin)) return undefined
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? undefined : `Sec-Fetch-Site is ${String(site).slice(0, 40)}`
  return isOwn(origin as string, request.host) ? undefined : `Origin is ${(origin as string).slice(0, 100)}`
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
