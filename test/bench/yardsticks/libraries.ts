/** The routes of `hand.ts`, written with libraries: a builder and a parser for XML, a template for pages. */
import ejs from 'ejs'
import { XMLBuilder, XMLParser } from 'fast-xml-parser'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { create } from 'xmlbuilder2'
import { digest } from '../../../lib/core/formats/form/read.js'
import { integers, MARKED, MARKED_RANGE, MARKED_TOTAL, type MarkedPages, splitList } from './pages-by-hand.js'
import { type Post, schema } from '../posts.js'
import { addHeaders, addPageHeaders, cursorAfter, linksOf, QUERIES, type Row } from './hand.js'

type Element = Readonly<Record<string, unknown>>
/** Writes an element without an XML declaration. */
type Build = (element: Element) => string

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@', suppressBooleanAttributes: false })
export const builders: Readonly<Record<'xmlbuilder2' | 'fast-xml-parser', Build>> = {
  xmlbuilder2: (element) => create(element).end({ headless: true }),
  'fast-xml-parser': (element) => builder.build(element)
}

/** Returns the object that both builders take. They differ only in the key of an element's text. */
function elementOf ({ id, title, body, published, rating }: Row): Element {
  return {
    id: { '@type': 'integer', '#text': id },
    title,
    body,
    published: { '@type': 'boolean', '#text': published },
    rating: { '@type': 'integer', '#text': rating }
  }
}

export function buildOne (build: Build, row: Row): string {
  return DECLARATION + build({ post: elementOf(row) })
}

export function buildList (build: Build, rows: readonly Row[]): string {
  return DECLARATION + build({ posts: { '@type': 'array', post: rows.map(elementOf) } })
}

const place = (name: string): string => `<%= post.${name} %>`

/** Returns the template of a page, or of a line of a list, that shows `post`. */
function templateOf (page: string, body: string): string {
  return page
    .replace(/name="post\[\?\]\[was\]" value="[^"]*/, 'name="post[?][was]" value="<%= page.was %>')
    .replaceAll('@title@', place('title'))
    .replaceAll('@body@', body)
    .replaceAll(integers.format(MARKED.rating), '<%= page.integers.format(post.rating) %>')
    .replaceAll(String(MARKED.rating), place('rating'))
    .replaceAll(String(MARKED.id), place('id'))
    .replaceAll(String(MARKED.version), place('version'))
}

/** Returns a template that depends on whether `post` is published. */
function either ([yes, no]: readonly [yes: string, no: string]): string {
  return `<% if (post.published) { %>${yes}<% } else { %>${no}<% } %>`
}

const compile = (template: string): ejs.TemplateFunction => ejs.compile(template, { _with: false, localsName: 'page' })

function compileRecord ({ records: [yes, no] }: MarkedPages): (row: Row) => string {
  const render = compile(`<% const post = page.post %>${either([templateOf(yes, place('body')), templateOf(no, place('body'))])}`)
  return (post) => {
    const was = (['title', 'body', 'published', 'rating'] as const).map((name) => `${name} ${digest(post[name])}`).join(' ')
    return render({ post, was, integers })
  }
}

const SHORT_BODY = '<% if (post.body.length > 100) { %><%= post.body.slice(0, 100) %>…<% } else { %><%= post.body %><% } %>'

function compileList ({ lists: [yes, no] }: MarkedPages): (rows: readonly Row[], next: number, total: number) => string {
  const { head, line, tail } = splitList(yes)
  const begin = head.replace(MARKED_TOTAL, '<%= page.total %>')
  const lines = `<% for (const post of page.posts) { %>${either([templateOf(line, SHORT_BODY), templateOf(splitList(no).line, SHORT_BODY)])}<% } %>`
  const end = tail.replace(MARKED_RANGE, '1&#8211;<%= page.posts.length %> of <%= page.total %>').replaceAll(cursorAfter(MARKED.id), '<%= page.cursor %>')
  const render = compile(begin + lines + end)
  return (posts, next, total) => render({ posts, cursor: cursorAfter(next), total: integers.format(total), integers })
}

type Shown = FastifyRequest<{ Params: { id: string } }>
type Listed = FastifyRequest<{ Querystring: { limit?: string } }>
type Created = FastifyRequest<{ Body: { post: Post } }>

export function makeLibraries (build: Build, pages: MarkedPages, posts: readonly Post[]): FastifyInstance {
  const app = fastify()
  const rows = new Map<number, Row>(posts.map((post, index) => [index + 1, { id: index + 1, version: 1, ...post }]))
  let lastId = rows.size
  const renderRecord = compileRecord(pages)
  const renderList = compileList(pages)
  // The parser returns strings; the schema's check converts them.
  const parser = new XMLParser({ parseTagValue: false })
  app.addContentTypeParser('application/xml', { parseAs: 'string' }, (_request, body, done) => { done(null, parser.parse(body)) })

  function sendRow (row: Row, { headers: { accept } }: FastifyRequest, reply: FastifyReply): FastifyReply {
    const isPage = accept?.startsWith('text/html') === true
    addHeaders(reply).header('etag', `"${row.version}.${isPage ? 'html' : 'xml'}"`)
    if (isPage) return addPageHeaders(reply).send(renderRecord(row))
    return reply.type('application/xml; charset=utf-8').send(buildOne(build, row))
  }

  app.get('/posts', (request: Listed, reply) => {
    const limit = request.query.limit === undefined ? Infinity : Number(request.query.limit)
    const found = [...rows.values()].slice(0, limit)
    const next = found.length < rows.size ? found.at(-1)?.id : undefined
    addHeaders(reply).header('accept-query', QUERIES)
    if (next !== undefined) reply.header('link', linksOf(limit, next))
    if (request.headers.accept?.startsWith('text/html') === true) return addPageHeaders(reply).send(renderList(found, next as number, rows.size))
    return reply.type('application/xml; charset=utf-8').send(buildList(build, found))
  })

  app.get('/posts/:id', (request: Shown, reply) => {
    const row = rows.get(Number(request.params.id))
    return row === undefined ? reply.callNotFound() : sendRow(row, request, reply)
  })

  app.post('/posts', { schema: { body: { type: 'object', required: ['post'], properties: { post: schema } } } }, (request: Created, reply) => {
    const row = { ...request.body.post, id: ++lastId, version: 1 }
    rows.set(row.id, row)
    return sendRow(row, request, reply.code(201).header('location', `/posts/${row.id}`))
  })

  return app
}
