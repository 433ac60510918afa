import { readFileSync } from 'node:fs'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { exampleFile, startProgram } from '../support/program.js'

/** Starts an example on a free port and returns its address. */
async function start (t: Test, name: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  t.ok(readFileSync(exampleFile(name), 'utf8').split('\n').length <= 81, 'the example has at most 80 lines')
  const { line } = await startProgram(t, exampleFile(name), { environment: { PORT: '0', ...environment } })
  return /http:\/\/[\w.]+:\d+/.exec(line)?.[0] ?? ''
}

const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' }

t.test('tenants: users see and change the notes of their own company only', async (t) => {
  const url = await start(t, 'tenants.ts')
  t.equal((await fetch(`${url}/notes.json`)).status, 401)

  async function signIn (name: string, password: string): Promise<Record<string, string>> {
    const body = new URLSearchParams({ name, password })
    const { headers } = await fetch(`${url}/session`, { method: 'POST', body, redirect: 'manual' })
    return {
      ...JSON_HEADERS,
      cookie: headers.getSetCookie().map((cookie) =>
        cookie.replace(/;.*/s, '')).join('; '),
      location: headers.get('location') ?? ''
    }
  }
  t.equal((await signIn('ann', 'wrong')).location, '/')
  const [ann, bob, eve] = [await signIn('ann', 'tea'), await signIn('bob', 'milk'), await signIn('eve', 'wine')]
  t.equal(ann.location, '/notes')

  const create = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${url}/notes`, { method: 'POST', headers, body: '{"note":{"title":"Budget"}}' })).status
  t.equal(await create(ann), 201)
  t.equal(await create(ann), 409, 'a title is unique in a company')
  t.equal(await create(eve), 201, 'another company may have the same title')
  t.equal(await create(bob), 403, 'a reader may not write')
  const titles = async (headers: Record<string, string>): Promise<unknown> => (await fetch(
    `${url}/notes`, { headers }
  )).json()
  t.match(await titles(bob), { notes: [{ id: 1, title: 'Budget' }] })
  t.match(await titles(eve), { notes: [{ id: 2, title: 'Budget' }] })
  t.equal((await fetch(`${url}/notes/1`, { headers: eve })).status, 404)
})

t.test('an existing database: its rows are edited, and no update of another program is lost', async (t) => {
  const file = `${t.testdir()}/music.sqlite`
  const url = await start(t, 'existing-database.ts', { STORE: file })
  const list = await fetch(`${url}/`, { headers: { accept: 'text/html' } })
  t.equal(list.url, `${url}/artists`)
  t.match(await list.text(), 'Clara Schumann')
  t.match(await (await fetch(`${url}/artists/1/albums.json`)).json(), {
    albums: [{ id: 1, title: 'Piano Trio', releasedOn: '1846-09-01' }]
  })

  const database = new Database(file)
  t.teardown(() => { database.close() })
  const read = await fetch(`${url}/artists/2.json`)
  database.prepare('UPDATE Artist SET Name = ? WHERE ArtistId = 2').run('Fanny Mendelssohn')
  const update = async (version: string | null): Promise<number> =>
    (await fetch(`${url}/artists`, {
      method: 'PUT', headers: { ...JSON_HEADERS, 'if-match': version ?? '' }, body: '{"id":2,"artist":{"name":"Fanny"}}'
    })).status
  t.equal(await update(read.headers.get('etag')), 412, 'the other program has changed the row')
  t.equal(await update((await fetch(`${url}/artists/2.json`)).headers.get('etag')), 200)
  t.match(database.prepare('SELECT Name FROM Artist WHERE ArtistId = 2').get(), { Name: 'Fanny' })
})

t.test('a JSON API: the generated client creates, updates, lists, and is told what is wrong', async (t) => {
  const url = await start(t, 'json-api.ts')
  t.match(await (await fetch(`${url}/documentation`)).text(), 'swagger-ui')
  const { line, ended } = await startProgram(t, exampleFile('json-client.ts'), { environment: { API: url } })
  t.equal(await ended, 0)
  t.equal(line, 'created book 1')
  const book = await (await fetch(`${url}/books/1`)).json()
  t.match(book, { book: { title: 'Dracula', status: 'lent' } }, 'the second update of the same version is refused')
  const returned = await fetch(`${url}/books/1/return`, { method: 'POST' })
  t.match(await returned.json(), { book: { status: 'on the shelf' } })
})

t.test('a custom format: a calendar app gets the events as iCalendar', async (t) => {
  const url = await start(t, 'custom-format.ts')
  const body = JSON.stringify({
    event: {
      title: 'A day; with, punctuation\nand a title of more than seventy-five bytes – in UTF-8',
      start: '2026-12-24T18:00:00Z',
      end: '2026-12-24T20:00:00Z'
    }
  })
  t.equal((await fetch(`${url}/events`, { method: 'POST', headers: JSON_HEADERS, body })).status, 201)
  const answer = await fetch(`${url}/events`, { headers: { accept: 'text/calendar' } })
  t.equal(answer.headers.get('content-type'), 'text/calendar; charset=utf-8')
  const calendar = await answer.text()
  t.ok(calendar.startsWith('BEGIN:VCALENDAR\r\n') && calendar.endsWith('END:VCALENDAR\r\n'))
  t.equal(calendar.match(/^BEGIN:VEVENT\r$/gm)?.length, 2)
  t.ok(calendar.split('\r\n').every((line) =>
    Buffer.byteLength(line) <= 75), 'RFC 5545, section 3.1: lines have at most 75 bytes')
  t.match(
    calendar.replaceAll('\r\n ', ''),
    'SUMMARY:A day\\; with\\, punctuation\\nand a title of more than seventy-five bytes – in UTF-8\r\n'
  )
  t.match(calendar, 'DTSTART:20261201T083000Z\r\n')
  t.equal((await fetch(`${url}/events/9.ics`)).status, 404)
})
