import type { Call } from '../in-process.js'

/** The placeholder of the id in a call that is sent for many rows. */
export const ID = '@id@'

/** Returns the bytes of a request. */
export function renderRequest ({ method, url, headers, body }: Call, id: number): Buffer {
  const [path, content] = [url, body].map((text) => text?.replace(ID, String(id)))
  const lines = Object.entries({ host: 'localhost', ...headers, ...(content !== undefined && { 'content-length': Buffer.byteLength(content) }) })
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${content ?? ''}`)
}

/** Returns one request if all are equal, else one for each id from `firstId` on. */
export function renderRequests (call: Call, count: number, firstId: number): readonly Buffer[] {
  const varies = call.url.includes(ID) || call.body?.includes(ID) === true
  if (varies) return Array.from({ length: count }, (_, index) => renderRequest(call, firstId + index))
  return new Array<Buffer>(count).fill(renderRequest(call, firstId))
}
