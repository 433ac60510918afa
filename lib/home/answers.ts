import type { FastifyRequest } from 'fastify'
import { NotAcceptableError } from '../core/errors.js'
import { escapeText } from '../core/formats/escape.js'
import type { Format } from '../core/formats/format.js'
import { markup, type Markup } from '../html/html-tag.js'
import type { PageMessages } from '../html/messages.js'
import type { Alternate } from '../html/views/model.js'
import { DECLARATION } from '../core/formats/xml/write.js'
import { type FormatChoice, rankFormats } from '../core/request/accept.js'
import type { Entry } from './entries.js'

type HomeFormat = Pick<Format, 'name' | 'mediaTypes'>

const FORMATS: readonly HomeFormat[] = [
  { name: 'xml', mediaTypes: ['application/xml', 'text/xml'] },
  { name: 'html', mediaTypes: ['text/html', 'application/xhtml+xml'] },
  { name: 'json', mediaTypes: ['application/json'] }
]

/** Finds the format of an answer: by `?format=`, the suffix of the path, or Accept. A malformed URL has no query. */
export function findFormat (
  { headers: { accept }, query, url }: Pick<FastifyRequest, 'headers' | 'query' | 'url'>
): FormatChoice<HomeFormat> | undefined {
  const [, suffix] = /^[^?]*\.(xml|html|json)(?:\?|$)/.exec(url) ?? []
  const { format: name = suffix } = Object(query) as { readonly format?: string }
  return name === undefined ? rank(accept) : rank(undefined, FORMATS.filter((format) => format.name === name))
}

/** Returns the same for an error. If there is no such format, it is one of Accept, or else the first one. */
export function findErrorFormat (request: Parameters<typeof findFormat>[0]): FormatChoice<HomeFormat> {
  return findFormat(request) ?? rank(request.headers.accept) ?? rank(undefined) as FormatChoice<HomeFormat>
}

function rank (accept: string | undefined, formats = FORMATS): FormatChoice<HomeFormat> | undefined {
  return rankFormats(accept, formats).best
}

/** Makes the error for a request whose format is not offered. */
export function makeNotAcceptable (query: unknown): Error {
  const isAsked = Object.hasOwn(Object(query), 'format')
  return new NotAcceptableError(
    isAsked ? 'there is no such format' : 'none of the types in Accept is available here',
    FORMATS.map(({ name, mediaTypes }) => `${mediaTypes.join(', ')} (${name})`).join('; ')
  )
}

/** Returns the links to the other formats of a home page. */
export function linkFormats (href: string): Alternate[] {
  return FORMATS.filter(({ name }) => name !== 'html').map(({ name, mediaTypes: [mediaType = ''] }) =>
    ({ label: name.toUpperCase(), href: `${href}?format=${name}`, mediaType }))
}

/** Writes the resources as XML. */
export function writeXml (entries: readonly Entry[]): string {
  const written = entries.map(({ name, title, path, rows, hasMoreRows }) => [
    '<resource>',
    `<name>${escapeText(name)}</name><title>${escapeText(title)}</title><path>${escapeText(path)}</path>`,
    rows === undefined ? '' : `<rows type="integer">${rows}</rows>`,
    hasMoreRows === true ? '<hasMoreRows type="boolean">true</hasMoreRows>' : '',
    '</resource>'
  ].join(''))
  return `${DECLARATION}<resources type="array">${written.join('')}</resources>\n`
}

/** Renders the resources as a table. */
export function renderEntries (
  title: string,
  entries: readonly Entry[],
  messages: PageMessages,
  digits: Intl.NumberFormat
): Markup {
  const { noResources, resourceName, resourceRows, moreRelated } = messages
  if (entries.length === 0) {
    return markup`<h1>${title}</h1>\n<div class="empty"><p><strong>${noResources}</strong></p></div>\n`
  }
  const rows = entries.map(({ title, path, rows, hasMoreRows }) => {
    const written = rows === undefined ? '' : digits.format(rows)
    const number = hasMoreRows === true ? moreRelated(written) : written
    return markup`<tr><td data-label="${resourceName}" dir="auto"><a href="${path}">${title}</a></td>${
      markup`<td data-label="${resourceRows}" class="number">${number}</td></tr>\n`
    }`
  })
  return markup`<h1>${title}</h1>
<div class="scroll"><table class="list">
<thead><tr><th scope="col">${resourceName}</th><th scope="col" class="number">${resourceRows}</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`
}
