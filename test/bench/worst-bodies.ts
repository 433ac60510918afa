import type { InjectOptions } from 'fastify'

/** The bytes of a body that Fastify reads by default (`bodyLimit`), less those around the repeated part. */
const ROOM = 1_048_576 - 200
/** The number of values that are read from one body, less those around the repeated part. */
const VALUES = 50_000 - 10
/** The bytes of a request's head that Node.js reads (`maxHeaderSize`), less the other lines. */
const HEAD_ROOM = 15_000

export const JSON_TYPE = 'application/json'
export const XML_TYPE = 'application/xml'
export const HTML_TYPE = 'text/html'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Repeats a unit until the body is full. @param values the number of counted values in each unit */
export function repeat (unit: string, separator = '', room = ROOM, values = 0): string {
  const count = Math.floor(Math.min((room + separator.length) / Buffer.byteLength(unit + separator), VALUES / values))
  return Array.from({ length: count }, () => unit).join(separator)
}

/** Makes units from their index until the body is full. */
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

/** Repeats a unit until a header or a query is full. */
export function repeatInHead (unit: string, separator = ''): string {
  return repeat(unit, separator, HEAD_ROOM)
}

/** Returns `"tags":["","",…]`. */
export function jsonArray (name: string, unit: string): string {
  return `"${name}":${jsonItems(unit)}`
}

/** Returns `["","",…]`. */
export function jsonItems (unit: string, room = ROOM): string {
  return `[${repeat(unit, ',', room, countValues(JSON.parse(unit)))}]`
}

/** Returns `1\n1\n…`. */
export function lines (line: string): string {
  return repeat(line, '\n', ROOM, 1)
}

function countValues (value: unknown): number {
  return typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((count, part) =>
      count + countValues(part), 1)
    : 1
}

/** Returns `<post><tags type="array"><a/><a/>…</tags></post>`. */
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

/** Returns a request that sends the form of the first row. */
export function putForm (body: string, accept = HTML_TYPE): InjectOptions {
  return postForm(`_method=PUT&id=1&${body}`, accept)
}

export function get (url: string, accept = HTML_TYPE, headers: Record<string, string> = {}): InjectOptions {
  return { method: 'GET', url, headers: { accept, ...headers } }
}

function write (type: string, accept: string, payload: string): InjectOptions {
  return { method: 'POST', url: '/posts', headers: { 'content-type': type, accept }, payload }
}
