import type { InjectOptions } from 'fastify'

/** What Fastify reads of a body by default (`bodyLimit`), in bytes, less what stands around the repeated part. */
const ROOM = 1_048_576 - 200
/** So many values are read of one body, less those that stand around the repeated part. */
const VALUES = 50_000 - 10
/** What Node reads of a request's head (`maxHeaderSize`), in bytes, less its other lines. */
const HEAD_ROOM = 15_000

export const JSON_TYPE = 'application/json'
export const XML_TYPE = 'application/xml'
export const HTML_TYPE = 'text/html'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** As many of the units as a body has room for; `values`: how many of those that are counted are in each. */
export function repeat (unit: string, separator = '', room = ROOM, values = 0): string {
  const count = Math.floor(Math.min((room + separator.length) / Buffer.byteLength(unit + separator), VALUES / values))
  return Array.from({ length: count }, () => unit).join(separator)
}

/** As many units as a body has room for, each made from its index. */
export function series (make: (index: number) => string, separator = ''): string {
  const units: string[] = []
  let left = ROOM
  for (let index = 0; ; index++) {
    const unit = make(index)
    left -= unit.length + separator.length
    if (left < 0 || index >= VALUES) return units.join(separator)
    units.push(unit)
  }
}

/** The same for a header or a query. */
export function repeatInHead (unit: string, separator = ''): string {
  return repeat(unit, separator, HEAD_ROOM)
}

/** `"tags":["","",…]` */
export function jsonArray (name: string, unit: string): string {
  return `"${name}":${jsonItems(unit)}`
}

/** `["","",…]` */
export function jsonItems (unit: string, room = ROOM): string {
  return `[${repeat(unit, ',', room, countValues(JSON.parse(unit)))}]`
}

/** `1\n1\n…` */
export function lines (line: string): string {
  return repeat(line, '\n', ROOM, 1)
}

function countValues (value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((count, part) => count + countValues(part), 1) : 1
}

/** `<post><tags type="array"><a/><a/>…</tags></post>` */
export function xmlArray (name: string, unit: string): string {
  return `<post><${name} type="array">${repeat(unit, '', ROOM, 1)}</${name}></post>`
}

export function postJson (members: string, accept = JSON_TYPE): InjectOptions {
  return write(JSON_TYPE, accept, `{"post":{${members}}}`)
}

export function postXml (body: string, accept = JSON_TYPE): InjectOptions {
  return write(XML_TYPE, accept, body)
}

export function postForm (body: string, accept = HTML_TYPE): InjectOptions {
  return write(FORM_TYPE, accept, body)
}

/** The form of the first row. */
export function putForm (body: string, accept = HTML_TYPE): InjectOptions {
  return postForm(`_method=PUT&id=1&${body}`, accept)
}

export function get (url: string, accept = HTML_TYPE, headers: Record<string, string> = {}): InjectOptions {
  return { method: 'GET', url, headers: { accept, ...headers } }
}

function write (type: string, accept: string, payload: string): InjectOptions {
  return { method: 'POST', url: '/posts', headers: { 'content-type': type, accept }, payload }
}
