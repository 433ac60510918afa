import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, { draw, home, memoryStore } from '../../../../lib/index.js'
import type { HtmlOptions } from '../../../../lib/html/index.js'
import type { PageMessages } from '../../../../lib/html/messages.js'
import { build } from '../../../support/helper.js'

const article = {
  type: 'object',
  required: ['title', 'code'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 99, title: 'Headline', description: 'Plain <b>text</b>.' },
    code: { type: 'string', pattern: '^[a-z]{3}$', description: 'Three letters' },
    status: {
      title: 'Status',
      oneOf: [{ const: 'draft', title: 'Draft & more' }, { const: 'live', title: 'Published' }, { type: 'null' }]
    },
    publishedOn: { anyOf: [{ type: 'string', format: 'date', description: 'A day' }, { type: 'null' }] },
    place: { $ref: '#/definitions/place' },
    lines: {
      type: 'array',
      title: 'Lines',
      items: {
        type: 'object',
        title: 'Line',
        required: ['amount'],
        properties: {
          amount: { type: 'integer', title: 'Amount' },
          kind: { oneOf: [{ const: 'a', title: 'Alpha' }, { const: 'b', title: 'Beta' }] }
        }
      }
    },
    tree: { $ref: '#/definitions/tree' },
    extra: {
      type: 'object',
      properties: { known: { type: 'string', title: 'Known' } },
      additionalProperties: { type: 'integer' }
    },
    authorId: { type: 'integer' }
  },
  definitions: {
    place: {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string', minLength: 1, maxLength: 20, title: 'Town' } }
    },
    tree: {
      type: 'object',
      properties: {
        leaf: { type: 'string', title: 'Leaf' }, more: { type: 'array', items: { $ref: '#/definitions/tree' } }
      }
    }
  }
} as const

/** The texts of the app in German. */
const GERMAN: Readonly<Record<string, string>> = {
  Library: 'Bücherei',
  Articles: 'Beiträge',
  article: 'Beitrag',
  Authors: 'Autoren',
  author: 'Autor',
  Notes: 'Notizen',
  note: 'Notiz',
  Headline: 'Schlagzeile',
  'Plain <b>text</b>.': 'Nur <i>Text</i>.',
  Code: 'Kürzel',
  'Three letters': 'Drei Buchstaben',
  Status: 'Stand',
  'Draft & more': 'Entwurf & mehr',
  Published: 'Live',
  'Published on': 'Erschienen am',
  'A day': 'Ein Tag',
  Place: 'Ort',
  Town: 'Stadt',
  Lines: 'Posten',
  Line: 'Zeile',
  Amount: 'Menge',
  Kind: 'Art',
  Alpha: 'Erstes',
  Tree: 'Baum',
  Leaf: 'Blatt',
  Known: 'Bekannt',
  Author: 'Verfasser',
  Name: 'Name',
  Text: 'Inhalt'
}

const phrasesIn = (lang: string): Pick<PageMessages, 'phrases'> => ({ phrases: lang === 'de' ? GERMAN : {} })

const row = {
  title: 'Tea',
  code: 'tea',
  status: 'draft',
  publishedOn: '2026-01-31',
  place: { city: 'Rome' },
  lines: [{ amount: 2, kind: 'a' }],
  tree: { leaf: 'x', more: [{ leaf: 'y' }] },
  extra: { known: 'k', other: 1 },
  authorId: 1
}

async function open (t: Test, messages: HtmlOptions['messages'] = phrasesIn): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  const options = { lang: ['en', 'de'], messages } as const
  app.register(swagger, { openapi: { openapi: '3.1.0' } })
  app.register(home, { title: 'Library', ...options })
  app.register(draw((map) => {
    map.resources('authors', {
      attributes: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 20 } } },
      html: options
    })
    map.resources('articles', {
      attributes: article, store: memoryStore(), references: { authorId: 'authors' }, html: options
    }, (one) => {
      one.resources('notes', {
        attributes: { type: 'object', properties: { text: { type: 'string', maxLength: 20 } } }, html: options
      })
    })
  }))
  for (const [
    url, payload
  ] of [['/authors', { author: { name: 'Ada' } }], ['/articles', { article: row }],
      ['/articles/1/notes', { note: { text: 'n' } }]] as const) {
    t.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 201)
  }
  return app
}

async function read (app: FastifyInstance, url: string, language = 'de'): Promise<string> {
  return (await app.inject({ url, headers: { accept: 'text/html', 'accept-language': language } })).body
}

async function send (app: FastifyInstance, payload: string): Promise<string> {
  return (await app.inject({
    method: 'POST',
    url: '/articles',
    headers: { accept: 'text/html', 'accept-language': 'de', 'content-type': 'application/x-www-form-urlencoded' },
    payload
  })).body
}

/** Replaces references to characters by the characters. */
const decode = (markup: string): string => markup.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(
  Number(code)
))

function textsIn (markup: string, pattern: RegExp): string[] {
  return [...decode(markup).matchAll(pattern)].map(([, text = '']) => text)
}

t.test('phrases translate the names of resources in the bar, headings, breadcrumbs and links', async (t) => {
  const app = await open(t)
  const start = await read(app, '/')
  t.match(start, '<h1>Bücherei</h1>')
  t.strictSame(textsIn(start, /<td [^>]*><a href="\/(?:articles|authors)">([^<]*)</g), ['Autoren', 'Beiträge'])
  const record = decode(await read(app, '/articles/1'))
  t.strictSame(
    textsIn(record, /<nav class="bar"[^>]*>([^]*?)<\/nav>/g).flatMap((bar) => textsIn(bar, />([^<]+)<\/a>/g)),
    ['Bücherei', 'Autoren', 'Beiträge']
  )
  t.match(record, '<title>Tea – Beiträge</title>')
  t.match(record, '>Notizen</a>')
  t.match(record, '>Notiz anlegen</a>')
  t.match(await read(app, '/articles/1/notes'), /<a href="\/articles">Beitr[^<]*<\/a>/)
  t.match(decode(await read(app, '/authors/1')), /<h2[^>]*><a[^>]*>Beiträge<\/a>/,
    'a list of rows that reference a row')
  t.match(decode(await read(app, '/articles/9')), '<p><a href="/articles">Beiträge</a></p>')
})

t.test('phrases translate labels and titles of choices in lists, records and filters', async (t) => {
  const app = await open(t)
  const list = decode(await read(app, '/articles'))
  t.strictSame(textsIn(list, /<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]*)/g).slice(0, 7),
    ['Schlagzeile', 'Kürzel', 'Stand', 'Erschienen am', 'Ort', 'Posten', 'Baum'])
  t.match(list, '<span class="badge b0">Entwurf &amp; mehr</span>')
  t.match(list, /<option value="status">Stand<\/option>/)
  t.match(decode(await read(app, '/articles?status=draft&authorId=1')),
    /class="chip"[^>]*>Stand: Entwurf &amp; mehr .*class="chip"[^>]*>Verfasser: Ada /s)
  const record = decode(await read(app, '/articles/1'))
  const labels = textsIn(record, /<dt>([^<]*)<\/dt>/g)
  t.strictSame(labels, [
    'Schlagzeile', 'Kürzel', 'Stand', 'Erschienen am', 'Ort', 'Stadt', 'Posten', 'Menge', 'Art', 'Baum', 'Blatt',
    'More', 'Blatt', 'Extra', 'Bekannt', 'other', 'Verfasser', 'ID'
  ])
  t.match(record, '<dd><span class="badge b0">Erstes</span></dd>')
  t.match(decode(await read(app, '/articles?only=status,lines')), '>Stand</a></th>', 'a selection of attributes')
})

t.test('phrases translate labels, explanations and errors in forms', async (t) => {
  const app = await open(t)
  const form = decode(await read(app, '/articles/1'))
  t.match(form, '<p class="explanation" id="article:title!description">Nur &lt;i&gt;Text&lt;/i&gt;.</p>')
  t.match(form, /<label for="article:title">Schlagzeile<\/label>/)
  t.strictSame(textsIn(form, /<label for="article:status(?:!\d)?">([^<]*)<\/label>/g),
    ['keine Angabe', 'Entwurf &amp; mehr', 'Live'])
  t.match(form, 'Ein Tag')
  t.match(form, 'Zeile 1 entfernen')
  t.match(form, '>Zeile hinzufügen</button>')
  const refused = decode(await send(app,
    'article[title]=&article[code]=x&article[place][city]=&article[lines][0][amount]=x'))
  t.strictSame(textsIn(refused, /<li><a href="#[^"]*">([^<]*)<\/a><\/li>/g), ['„Schlagzeile“ darf nicht leer sein',
    'Kürzel: Drei Buchstaben', '„Ort: Stadt“ darf nicht leer sein', '„Zeile 1: Menge“ muss eine ganze Zahl sein'])
  const version = /name="_version" value="([^"]*)"/.exec(form)?.[1]
  const change = (title: string): Promise<string> => send(app,
    `_method=PUT&id=1&_version=${version}&article[title]=${title}&article[code]=tea`)
  await change('One')
  t.match(decode(await change('Two')), /<legend>Schlagzeile<\/legend>/, 'a conflict')
})

t.test('an English page, and the page of an app without phrases, keep their texts', async (t) => {
  const app = await open(t)
  t.match(await read(app, '/articles', 'en'), /<h1>Articles<\/h1>.*Headline.*Draft &amp; more.*Plain &lt;b&gt;text/s)
  t.match(await read(app, '/', 'en'), '<h1>Library</h1>')
  t.match(decode(await read(await open(t, {}), '/articles')), /<h1>Articles<\/h1>.*Headline.*Draft &amp; more/s)
})

t.test('the words of the language never translate a label', async (t) => {
  const app = await build(t, {
    name: 'posts',
    html: { lang: 'de' },
    attributes: {
      type: 'object',
      properties: { conflict: { type: 'string', maxLength: 9, description: 'is not valid' }, gone: { type: 'boolean' } }
    }
  })
  t.match(await read(app, '/posts'), /<label for="post:conflict">Conflict .*is not valid.*Gone/s)
})

t.test('phrases change neither JSON, XML, the XML Schema nor the OpenAPI description', async (t) => {
  const [app, plain] = [await open(t), await open(t, {})]
  t.match(JSON.stringify(app.swagger()), '"title":"Headline"')
  t.same(app.swagger(), plain.swagger())
  for (const url of ['/articles.json', '/articles/1.json', '/articles.xml', '/articles/1.xml', '/articles.xsd',
    '/articles.json?rating=x']) {
    const [one, other] = await Promise.all([app, plain].map((app) => app.inject({
      url, headers: { 'accept-language': 'de' }
    })))
    t.equal(one?.body, other?.body, url)
  }
  for (const accept of ['application/json', 'application/xml']) {
    const [one, other] = await Promise.all([app, plain].map((app) => app.inject({
      method: 'POST',
      url: '/articles',
      headers: { accept, 'accept-language': 'de' },
      payload: { article: { title: '' } }
    })))
    t.equal(one?.body, other?.body, accept)
  }
})

t.test('the plural and singular that messages give are keys of phrases too', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, {
    name: 'posts',
    html: {
      lang: ['en', 'de'],
      messages: (lang) => ({
        plural: 'Web posts',
        singular: 'web post',
        phrases: lang === 'de' ? { 'Web posts': 'Beiträge im Netz', 'web post': 'Netzbeitrag' } : {}
      })
    }
  })
  t.match(await read(app, '/posts'), /<h1>Beiträge im Netz<\/h1>.*Netzbeitrag anlegen/s)
  t.match(await read(app, '/posts', 'en'), /<h1>Web posts<\/h1>/)
})
