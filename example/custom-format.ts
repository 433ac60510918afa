// Events as web pages, as JSON, and as a calendar that calendar apps subscribe to (iCalendar, RFC 5545).
//
//   npm run example example/custom-format.ts    then open http://localhost:3000/events, or subscribe to /events.ics
import fastify from 'fastify'
import resources, { type Attributes, type Format, memoryStore, type Row } from 'fastify-resources'

const attributes = {
  type: 'object',
  required: ['title', 'start', 'end'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    start: { type: 'string', format: 'date-time' },
    end: { type: 'string', format: 'date-time' },
    place: { type: 'string', maxLength: 120 }
  }
} as const

/** Returns a content line. RFC 5545, section 3.1, folds lines that are longer than 75 bytes. */
function line (name: string, value: string): string {
  const chunks = ['']
  for (const character of `${name}:${value}`) {
    if (Buffer.byteLength(chunks.at(-1) + character) > 74) chunks.push('')
    chunks[chunks.length - 1] += character
  }
  return `${chunks.join('\r\n ')}\r\n`
}

/** Escapes a text as section 3.3.11 says. */
const escape = (text: unknown): string => String(text).replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n')

/** Returns a moment in UTC, such as `20261122T093000Z`. */
const moment = (value: unknown): string => new Date(String(value)).toISOString().replace(/[-:]|\.\d+/g, '')

const open = line('BEGIN', 'VCALENDAR') + line('VERSION', '2.0') + line('PRODID', '-//fastify-resources//events//EN')
const close = line('END', 'VCALENDAR')

function event ({ id, attributes: { title, start, end, place } }: Row<Attributes>): string {
  return line('BEGIN', 'VEVENT') + line('UID', `event-${id}@example.com`) + line('DTSTAMP', moment(start)) +
    line('DTSTART', moment(start)) + line('DTEND', moment(end)) + line('SUMMARY', escape(title)) +
    (place === undefined ? '' : line('LOCATION', escape(place))) + line('END', 'VEVENT')
}

const ics: Format = {
  name: 'ics',
  mediaTypes: ['text/calendar'],
  compileWriter: () => ({
    record: (row) => open + event(row) + close,
    // Lists are streamed: what stands before the rows, each row, and what stands after them.
    list: { open, row: event, separator: '', close },
    problem: ({ status, detail }) => open + line('X-ERROR', escape(`${status} ${detail}`)) + close
  })
}

const app = fastify({
  logger: { level: 'warn' },
  // Clients that stall are disconnected after 6 s of headers or 11 s of a body.
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }
})
const events = memoryStore()
await events.create(
  { title: 'Founders\' breakfast', start: '2026-12-01T09:30:00+01:00', end: '2026-12-01T10:30:00+01:00', place: 'Room 1, upstairs' },
  {},
  { signal: new AbortController().signal }
)
app.register(resources, { name: 'events', attributes, store: events, formats: ['html', 'json', ics], sort: ['start'] })

const url = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`Events are at ${url}/events, and as a calendar at ${url}/events.ics. Stop it with Ctrl-C.`)
