import t, { type Test } from 'tap'
import { memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { draft } from '../../../support/helper.js'

const attributes = {
  type: 'object',
  properties: {
    artistId: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    local: { type: 'string', format: 'date-time-local' },
    day: { type: 'string', format: 'date' },
    opens: { type: 'string', format: 'time-local' },
    status: { type: 'string', oneOf: [{ const: 'a', title: 'Draft' }, { const: 'b', title: 'Sent' }] }
  }
} as const

/** Returns the conditions that the page of a list shows. */
async function chipsOf (
  t: Test,
  query: Readonly<Record<string, string>>,
  options: Partial<ResourceOptions> = {},
  headers: Readonly<Record<string, string>> = {}
): Promise<string[]> {
  const artists = memoryStore()
  for (const name of ['Ann & Co', 'Bob', undefined]) artists.create({ name }, {})
  const albums = memoryStore()
  for (const artistId of [1, 2, 3]) {
    albums.create(
      { artistId, at: '2026-01-31T12:00:00Z', local: '2026-01-31T12:00:00', day: '2026-01-31', status: 'a' }, {}
    )
  }
  const lang = ['en', 'de', 'fr', 'es']
  const app = await draft(t, (map) => {
    map.resources('artists', {
      attributes: { type: 'object', properties: { name: { type: 'string' } } },
      html: { title: 'name', lang, messages: (lang: string) => lang === 'de' ? { singular: 'Künstler' } : {} },
      store: artists
    })
    map.resources('albums', {
      attributes, store: albums, references: { artistId: 'artists' }, html: { lang }, ...options as object
    })
  })
  const { statusCode, body } = await app.inject({
    url: `/albums?${new URLSearchParams(query).toString()}`, headers: { accept: 'text/html', ...headers }
  })
  t.equal(statusCode, 200, JSON.stringify(query))
  return [...body.matchAll(/<a class="chip"[^>]*>([^<]*) <span>/g)].map(([, chip = '']) => chip)
}

t.test('the conditions of a list show dates and times as its rows do', async (t) => {
  const moment = '2026-01-31T12:00:00+00:00'
  t.strictSame(await chipsOf(t, { 'at[gte]': moment }), ['At is on or after Jan 31, 2026, 12:00 PM UTC'])
  t.strictSame(await chipsOf(t, { 'at[gte]': '2026-01-31T14:00:00+02:00' }),
    ['At is on or after Jan 31, 2026, 2:00 PM +02:00'])
  t.strictSame(await chipsOf(t, { 'at[gte]': moment }, { html: { timeZone: 'Asia/Tokyo' } }),
    ['At is on or after Jan 31, 2026, 9:00 PM'])
  t.strictSame(await chipsOf(t, { 'local[lt]': '2026-02-01T09:30:00' }), ['Local is before Feb 1, 2026, 9:30 AM'])
  t.strictSame(await chipsOf(t, { day: '2026-01-31', 'day[in]': '2026-01-31,2026-02-01' }),
    ['Day is Jan 31, 2026', 'Day is one of Jan 31, 2026, Feb 1, 2026'])
  t.match(await chipsOf(t, { 'at[gte]': moment }, {}, { 'accept-language': 'de' }), [/31\.01\.2026, 12:00 UTC$/])
})

t.test('the words before a time of day differ from those before a date', async (t) => {
  const query = { 'opens[gte]': '12:00:00', 'opens[lt]': '14:30:00', 'day[gte]': '2026-01-31' }
  const expected = {
    en: ['Opens is at or after 12:00:00', 'Opens is before 14:30:00', 'Day is on or after Jan 31, 2026'],
    fr: ['Opens\u00a0: à partir de 12:00:00', 'Opens\u00a0: avant 14:30:00', 'Day\u00a0: à partir du 31 janv. 2026'],
    es: ['Opens: desde 12:00:00', 'Opens: antes de 14:30:00', 'Day: desde el 31 ene 2026']
  }
  for (const [language, chips] of Object.entries(expected)) {
    t.strictSame(await chipsOf(t, query, {}, { 'accept-language': language }), chips, language)
  }
})

t.test('the conditions of a list show choices by their titles', async (t) => {
  t.strictSame(await chipsOf(t, { status: 'a', 'status[in]': 'a,b,c\\,d' }),
    ['Status is Draft', 'Status is one of Draft, Sent, c,d'])
})

t.test('the conditions of a list show referenced rows by their names, if the list has rows of them', async (t) => {
  t.strictSame(await chipsOf(t, { artistId: '1' }), ['Artist is Ann &amp; Co'])
  t.strictSame(await chipsOf(t, { 'artistId[in]': '1,2,9' }), ['Artist is one of Ann &amp; Co, Bob, 9'])
  t.strictSame(await chipsOf(t, { artistId: '3' }, {}, { 'accept-language': 'de' }), ['Artist: Künstler 3'],
    'a row without a title is named in the language of the page')
  t.strictSame(await chipsOf(t, { artistId: '9' }), ['Artist is 9'])
})
