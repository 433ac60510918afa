// A client of example/json-api.ts, whose types are generated from the API's OpenAPI description:
//
//   npm run example example/json-api.ts
//   npx openapi-typescript --default-non-nullable false http://localhost:3000/documentation/json -o example/json-api-paths.d.ts
//   npm run example example/json-client.ts
import createClient from 'openapi-fetch'
import type { paths } from './json-api-paths.js'

type Json = 'application/json' | 'application/problem+json'
const baseUrl = process.env.API ?? 'http://localhost:3000'
const client = createClient<paths, Json>({ baseUrl, headers: { accept: 'application/json' } })

const created = await client.POST('/books', { body: { book: { title: 'Dracula', author: 'Bram Stoker', year: 1897 } } })
// The client returns errors and does not throw them: `error` is the problem document, with a message for each attribute.
if (created.data?.book === undefined) throw new Error(created.error?.detail)
const { id } = created.data.book
console.log(`created book ${id}`)

await client.POST('/books/{bookId}/loans', { params: { path: { bookId: id } }, body: { loan: { reader: 'Ann', dueOn: '2026-12-24' } } })
// The entity tag makes sure that the update changes the version that was read, and no later one.
const version = created.response.headers.get('etag') ?? ''
const lent = await client.PUT('/books', { params: { header: { 'If-Match': version } }, body: { id, book: { status: 'lent' } } })
console.log(`the book is ${lent.data?.book?.status}`)

const late = await client.PUT('/books', { params: { header: { 'If-Match': version } }, body: { id, book: { status: 'lost' } } })
console.log(`a second update of the same version is refused: ${late.response.status}`)

const list = await client.GET('/books', { params: { query: { status: 'lent', sort: '-year', limit: 10 } } })
console.log(`${list.data?.books.map(({ title }) => title).join(', ')} is lent`)

const wrong = await client.POST('/books', { body: { book: { title: '', author: 'Nobody' } } })
console.log(wrong.error !== undefined && 'errors' in wrong.error ? wrong.error.errors : wrong.error)
