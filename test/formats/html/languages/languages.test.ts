import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { ENGLISH_TEXTS, type Message, type MessageCode, say, sayAbout } from '../../../../lib/core/messages.js'
import { ENGLISH } from '../../../../lib/html/languages/en.js'
import { findWords, KNOWN_LANGUAGES, type Language, loadLanguages } from '../../../../lib/html/languages/language.js'
import { compileTranslation, makeMessages } from '../../../../lib/html/languages/make-messages.js'
import resources, { draw, home, InvalidError } from '../../../../lib/index.js'
import { build, post } from '../../../support/helper.js'
import { visitEveryPage, wordsOf } from '../../../support/html/every-page.js'
import swagger from '@fastify/swagger'
import type { HtmlOptions } from '../../../../lib/html/index.js'

const languages = await loadLanguages(KNOWN_LANGUAGES)
const OTHERS = KNOWN_LANGUAGES.filter((lang) => lang !== 'en')

function wordsIn (lang: string): Language {
  return findWords(lang, languages) as Language
}

/** Parameters for each message: a number, or the types. There is a near name, or none. */
const PARAMS = [3, undefined].map((near) => new Proxy<Record<string, unknown>>({}, {
  get: (_, name) => name === 'types' ? ['string', 'null'] : name === 'near' ? near : 3
}))

/** Writes a message in each of the ways that its parameters decide. */
function writeCode (messages: object, code: MessageCode): string[] {
  const word = (messages as Record<string, unknown>)[code]
  return typeof word === 'function' ? PARAMS.map((params) => String(word(params))) : [String(word)]
}

const CODES = Object.keys(ENGLISH_TEXTS) as MessageCode[]

t.test('each language has every word, as a text or as a function like the English one', (t) => {
  for (const lang of OTHERS) {
    const { messages } = wordsIn(lang)
    t.strictSame(Object.entries(ENGLISH).filter(([name, english]) => {
      const word = messages[name as keyof typeof messages]
      return typeof word !== typeof english || (typeof word === 'string' && (word.trim() !== word || word === ''))
    }), [], `${lang} has every word`)
    t.strictSame(Object.keys(messages).filter((name) => !Object.hasOwn(ENGLISH, name)), [], `${lang} has no other word`)
  }
  t.end()
})

t.test('each language says every message in its own words', (t) => {
  t.ok(CODES.length > 80)
  for (const lang of OTHERS) {
    t.strictSame(CODES.filter((code) => {
      const [said = ''] = writeCode(wordsIn(lang).messages, code)
      return said === '' || writeCode(ENGLISH, code).includes(said) || /[{}#]|undefined/.test(said)
    }), [], lang)
  }
  t.end()
})

/** The words that a page in another language may have: names of formats and of the tests, units, and values. */
const NAMES = new Set([
  'XML', 'JSON', 'CSV', 'UTC', 'ID', 'IDs', 'UUID', 'URL', 'UTF', 'Base', 'base', 'BASE', 'PUT', 'POST', 'DELETE',
  'GET', 'ETag', 'ETags', 'Content', 'Type', 'If', 'Match', 'post', 'posts', 'line', 'long', 'ints', 'int', 'inner',
  'id', 'nope', 'inte', 'nullable', 'application', 'json', 'xml', 'html', 'xhtml', 'text', 'limit', 'blank', 'any',
  'sort', 'after', 'before', 'version', '_version', 'method', '_method', 'commit', 'null', 'true', 'false', 'name',
  'aGVsbG', 'json', 'row', 'nbsp', 'next'
])

/** Returns all texts of a language, with numbers in their variable parts. */
function allTexts (messages: object, texts = {}): string[] {
  const words = Object.entries(messages as Record<string, unknown>).flatMap(([name, word]) => {
    if (name in ENGLISH_TEXTS) return writeCode(messages, name as MessageCode)
    return typeof word === 'function'
      ? operators.map((operator) => String(word('1', operator, '2', '3')))
      : [String(word)]
  })
  return [...words, ...Object.values<string>(texts)]
}

const operators = ['null', 'eq', 'gte', 'gt', 'lte', 'lt', 'not', 'in', 'contains', 'starts']

// Each language has its own words, as the tests above show. One without Latin letters shows that every page uses them.
t.test('no page in Arabic has an English word', async (t) => {
  await visitEveryPage(t, { lang: 'ar', messages: { plural: '10', singular: '11' } }, {
    title: '12', description: '13'
  }, (label, { body }, isCrafted) => {
    t.match(body, 'lang="ar" dir="rtl">', label)
    if (isCrafted) return
    const words = wordsOf(body, (text) => text).filter((word) => /\p{Script=Latin}/u.test(word) && !NAMES.has(word))
    t.strictSame([...new Set(words)], [], label)
  })
})

t.test('plurals follow the rules of the language', async (t) => {
  const cases: Array<[lang: string, least: number, shown: string]> = [
    ['de', 2, 'Muss mindestens 2 Zeichen haben'], ['ar', 2, 'يجب ألا تقل القيمة عن حرفين'],
    ['ar', 11, 'يجب ألا تقل القيمة عن 11 حرفًا']
  ]
  for (const [lang, least, shown] of cases) {
    const app = await build(t, {
      name: 'posts',
      attributes: { type: 'object', properties: { a: { type: 'string', minLength: least } } },
      html: { lang }
    })
    t.match(
      (await app.inject({
        method: 'POST',
        url: '/posts',
        headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
        payload: 'post[a]=x'
      })).body,
      `!error">${shown}</p>`,
      lang
    )
  }
  const { items: ar } = wordsIn('ar').messages
  t.strictSame([0, 1, 2, 3, 11, 100].map((count) => ar(count, String(count))),
    ['0 عنصر', 'عنصر واحد', 'عنصران', '3 عناصر', '11 عنصرًا', '100 عنصر'])
  const { total, items } = wordsIn('fr').messages
  t.strictSame(
    [total(1, '1', 'Articles', 'article'), total(2, '2', 'Articles', 'article'), items(0, '0'), items(1234, '1 234'),
      items(1_000_000, '1 000 000')],
    ['1 article', '2 articles', '0 élément', '1 234 éléments', '1 000 000 éléments']
  )
  for (const lang of ['de', 'es', 'pt']) {
    t.strictSame(
      [wordsIn(lang).messages.total(1, '1', 'Cosas', 'cosa')?.toLowerCase(),
        wordsIn(lang).messages.total(2, '2', 'Cosas', 'cosa')?.toLowerCase()],
      ['1 cosa', '2 cosas'],
      lang
    )
  }
  t.end()
})

t.test('each language says what an import does, whether a text is JSON, and what keeps a row', (t) => {
  for (const lang of KNOWN_LANGUAGES) {
    const { importDoes, jsonOrText, undeletable } = lang === 'en' ? ENGLISH : wordsIn(lang).messages
    t.strictSame([importDoes('7', undefined), importDoes(undefined, '8'), importDoes('7', '8')]
      .map((text) => text.replaceAll(/[^78]|undefined/g, '')), ['7', '8', '78'], lang)
    const [hint, json, text] = [jsonOrText(undefined), jsonOrText('json'), jsonOrText('text')]
    t.ok(json.startsWith(hint) && text.startsWith(hint) && json !== text && !text.slice(hint.length).includes('JSON'))
    t.match(json.slice(hint.length), /JSON/)
    t.match(undeletable('aa', '3 posts', 3), /aa.*3 posts|3 posts.*aa/)
    t.match(undeletable('aa', undefined, 3), /aa/)
    t.notMatch(undeletable('aa', undefined, 3), /undefined|3/)
  }
  const cases: Array<[lang: string, one: string, two: string, least: string]> = [
    ['de', 'verweist', 'verweisen', 'eine Angabe'], ['es', 'hace', 'hacen', 'un dato'],
    ['fr', 'fait', 'font', '1 information'], ['pt', 'faz', 'fazem', 'um dado']
  ]
  for (const [lang, one, two, least] of cases) {
    const { deleteReferred, undeletable, mustHaveAtLeastAttributes } = wordsIn(lang).messages
    for (const [rows, verb] of [[1, one], [2, two]] as const) {
      t.match(deleteReferred('posts', rows), new RegExp(`^posts ${verb} `))
      t.match(undeletable('a', 'posts', rows), new RegExp(`posts (y )?${verb} `))
    }
    t.match(mustHaveAtLeastAttributes({ least: 1 }), new RegExp(`${least}\\b`))
  }
  t.end()
})

t.test('Arabic keeps what runs from left to right together', (t) => {
  const { messages } = wordsIn('ar')
  const translate = compileTranslation({ words: wordsIn('ar') },
    makeMessages({ plural: 'posts', singular: 'post' }, { words: wordsIn('ar'), messages: {} }))
  const cases: Array<[english: Message, arabic: string]> = [
    [say('mustBeAtLeast', { least: -1 }), 'يجب ألا تقل القيمة عن \u2068-1\u2069'],
    [say('mustEqual', { value: '"b"' }), 'يجب أن تكون القيمة \u2068"b"\u2069'],
    [say('parameterRepeated', { name: '_version' }), 'يجب أن يرد المعامل «\u2068_version\u2069» مرة واحدة فقط.'],
    [say('mustBeDecimal'), 'يجب أن تكون القيمة عددًا عشريًا مثل \u2068-12.50\u2069'],
    [say('isTakenTogether', { others: 'a' }), 'القيمة مع «\u2068A\u2069» مستخدمة بالفعل'],
    [sayAbout('q', say('mustBeJson')), '\u2068q\u2069: يجب أن تكون القيمة بصيغة \u2068JSON\u2069']
  ]
  for (const [english, arabic] of cases) t.equal(translate(english), arabic)
  t.equal(messages.condition('Score', 'gte', '-1', false), '\u2068Score\u2069: لا يقل عن \u2068-1\u2069')
  t.end()
})

t.test('Arabic shows the sign of an offset before it', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } },
    html: { lang: ['ar', 'de'] }
  })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { at: '2026-01-31T12:00:00+02:00' } } })
  for (const [language, shown] of [['ar', ' \u200e+02:00</time>'], ['de', ', 12:00 +02:00</time>']] as const) {
    t.match((await app.inject({ url: '/posts/1', headers: { accept: 'text/html', 'accept-language': language } })).body,
      shown)
  }
})

t.test('each language has its own punctuation', (t) => {
  const wrong: Readonly<Record<string, RegExp>> = {
    de: /“[^„]*“|”|«/,
    fr: /[^\u00A0\u202F][:;!?]|«(?!\u00A0)|(?<!\u00A0)»|[“”]/,
    es: /[“”„]|^[^¿]*\?/,
    pt: /[«»„]/,
    ja: /[\p{L}」）][,.:;!?]|[“”]/u,
    zh: /[\p{Script=Han}”）][,.:;!?]|[「」]/u,
    ar: /\p{Script=Arabic}[,;?]|[“”„]/u
  }
  for (const [lang, pattern] of Object.entries(wrong)) {
    const { messages, texts } = wordsIn(lang)
    const named = {
      ...messages,
      examples: [messages.labelled('a', 'b'), messages.removeCondition('a'), messages.edit('a'),
        messages.deleteWarning('a')].join('\n')
    }
    t.strictSame(allTexts(named, texts).filter((text) => pattern.test(text.replaceAll(/:\d\d|Content-Type:/g, ''))), [],
      lang)
  }
  t.end()
})

t.test('values of a line, and texts after their labels, are joined as the language does', async (t) => {
  const cases: Array<[lang: string, values: string, offset: string, trail: string]> = [
    ['en', 'a, b', 'UTC offset: Z', 'Place: City must not be blank'],
    ['fr', 'a, b', 'Décalage UTC&#160;: Z', 'Place&#160;: City&#160;: ce champ est obligatoire'],
    ['ja', 'a、b', 'UTC との時差：Z', 'Place：City：入力してください'], ['zh', 'a、b', '与 UTC 的时差：Z', 'Place：City：不能为空'],
    ['ar', 'a، b', '\u2068الفرق عن التوقيت العالمي (UTC)\u2069: \u2068Z\u2069',
      '\u2068\u2068Place\u2069: \u2068City\u2069\u2069: يجب ألا تكون القيمة فارغة']
  ]
  const text = { type: 'string', minLength: 1, maxLength: 9 } as const
  const attributes = {
    type: 'object',
    required: ['place'],
    properties: {
      kind: text,
      tags: { type: 'array', items: text },
      at: { type: 'string', format: 'date-time' },
      place: { type: 'object', required: ['city'], properties: { city: text } }
    }
  } as const
  for (const [lang, values, offset, trail] of cases) {
    const app = await build(t, { name: 'posts', attributes, html: { lang } })
    await app.inject({
      method: 'POST', url: '/posts', payload: { post: { kind: 'a', tags: ['a', 'b'], place: { city: 'c' } } }
    })
    const { body } = await app.inject({ url: '/posts?kind[in]=a,b', headers: { accept: 'text/html' } })
    t.match(decode(body), `>${values}</td>`, lang)
    t.match(decode(body), new RegExp(`class="chip"[^>]*>[^<]*${values}`), lang)
    t.match(decode(body), `<summary>${decode(offset)}</summary>`, lang)
    const refused = await app.inject({
      method: 'POST',
      url: '/posts',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'post[place][city]='
    })
    t.match(decode(refused.body), `>${decode(trail)}</a>`, lang)
  }
})

/** Replaces references to characters by the characters. */
function decode (markup: string): string {
  return markup.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
}

t.test('a tag without words, or that is not valid, finds none among the loaded languages', async (t) => {
  t.equal(findWords('de-AT', languages), wordsIn('de'))
  for (const tag of ['en', 'nl', 'zh-TW', 'de-Cyrl', 'de_AT', '']) t.equal(findWords(tag, languages), undefined, tag)
  t.equal(findWords('de', new Map()), undefined)
  t.same(await loadLanguages(['de_AT', 'nl']), new Map())
})

t.test('words of the app replace those of the language', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: post,
    html: {
      lang: 'de',
      messages: {
        save: 'Sichern',
        mustHaveAtMostCharacters: ({ most }) => `hat mehr als ${most} Zeichen`,
        noRecord: (singular) => `Weg: ${singular}`,
        phrases: { 'must not be blank': 'fehlt' }
      }
    }
  })
  const send = async (title: string): Promise<string> => (await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: `post[title]=${title}&post[rating]=9`
  })).body
  t.match(await send(''), '>„Title“ fehlt</a>')
  t.match(await send('x'.repeat(121)), '>„Title“ hat mehr als 120 Zeichen</a>')
  t.match(await send(''), '>„Rating“ darf höchstens 5 sein</a>')
  const { body } = await app.inject({ url: '/posts/9', headers: { accept: 'text/html' } })
  t.match(body, '<h1>Weg: post</h1>')
  const page = (await app.inject({ url: '/posts?limit=x', headers: { accept: 'text/html' } })).body
  t.match(page, '„limit“ muss eine Zahl von 1 bis 1000 sein.')
  t.match((await app.inject({ url: '/posts?rating=x', headers: { accept: 'text/html' } })).body,
    'Muss eine ganze Zahl oder leer sein')
})

t.test('an error of the app may give codes of messages, which only pages translate', async (t) => {
  const title = { title: [{ code: 'mustHaveAtMostCharacters', params: { most: 3 } }, 'is rude'] } as const
  const actions = {
    create () { throw new InvalidError(title) },
    list () { throw new InvalidError({}, { detail: say('referenceBroken') }) }
  }
  const app = await build(t, {
    name: 'posts',
    attributes: post,
    actions,
    html: { lang: 'de', messages: { phrases: { 'is rude': 'ist unhöflich' } } }
  })
  const send = (accept: string): Promise<LightMyRequestResponse> => app.inject({
    method: 'POST',
    url: '/posts',
    headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'post[title]=a'
  })
  t.match((await send('text/html')).body,
    />„Title“ darf höchstens 3 Zeichen haben<\/a><\/li>\s*<li><a [^>]*>„Title“ ist unhöflich</)
  t.strictSame((await send('application/json')).json(), {
    type: 'about:blank',
    title: 'Unprocessable Entity',
    status: 422,
    detail: 'title must have at most 3 characters; title is rude',
    errors: { title: ['must have at most 3 characters', 'is rude'] }
  })
  t.match((await app.inject({ url: '/posts', headers: { accept: 'text/html' } })).body,
    'Der Eintrag verweist auf etwas, das es nicht gibt.')
  t.strictSame(new InvalidError(title).errors, { title: ['must have at most 3 characters', 'is rude'] })
  t.throws(
    // @ts-expect-error TypeScript refuses an unknown code, too.
    () => new InvalidError({ title: [{ code: 'mustNotBeBlanc' }] }),
    { name: 'TypeError', message: 'there is no message with the code "mustNotBeBlanc"; did you mean "mustNotBeBlank"?' }
  )
})

async function read (
  app: FastifyInstance, url: string, language: string | undefined, headers: Record<string, string> = {}
): Promise<{ lang: string | undefined, vary: unknown, etag: unknown, status: number }> {
  const res = await app.inject({
    url, headers: { accept: 'text/html', ...(language !== undefined && { 'accept-language': language }), ...headers }
  })
  return {
    lang: / lang="([^"]*)"/.exec(res.body)?.[1], vary: res.headers.vary, etag: res.headers.etag, status: res.statusCode
  }
}

t.test('each request gets the language that it prefers', async (t) => {
  const cases: Array<[offered: 'auto' | string[], header: string | undefined, lang: string]> = [
    ['auto', undefined, 'en'], ['auto', '', 'en'], ['auto', 'de', 'de'], ['auto', 'de-AT', 'de'],
    ['auto', 'DE-at', 'de'], ['auto', 'nl', 'en'], ['auto', 'nl, fr', 'fr'], ['auto', 'fr;q=0.5, de;q=0.7', 'de'],
    ['auto', 'fr; q=0.5,de ; q = 0.4', 'fr'],
    ['auto', '*', 'en'], ['auto', 'nl, *', 'en'], ['auto', 'en;q=0, *', 'ar'], ['auto', 'de;q=0, de-AT', 'en'],
    ['auto', 'zh-TW', 'en'], ['auto', 'zh-Hans-CN', 'zh'], ['auto', 'zh-TW, ja;q=0.1', 'ja'],
    ['auto', 'de;q=x, fr', 'fr'], ['auto', 'de;q=1.2.3, fr', 'fr'], ['auto', ';;, , fr', 'fr'],
    ['auto', 'a'.repeat(600), 'en'], ['auto', 'a-, x-y, fr', 'fr'],
    [['de', 'en'], undefined, 'de'], [['de', 'en'], 'fr', 'de'], [['de', 'en'], 'en-GB', 'en'],
    [['en', 'pt-BR'], 'pt', 'pt-BR'], [['en', 'pt-BR'], 'pt-PT', 'en'], [['en', 'de-CH', 'de'], 'de', 'de'],
    [['en', 'de-CH', 'de'], 'de-CH', 'de-CH'], [['en', 'de-CH', 'de'], 'de-CH-1996', 'de-CH']
  ]
  for (const [offered, header, lang] of cases) {
    const app = await build(t, { name: 'posts', attributes: post, html: { lang: offered } })
    for (const url of ['/posts', '/posts/9']) {
      t.match(await read(app, url, header), { lang, vary: 'Accept, Accept-Language' }, `${offered}: ${header} ${url}`)
    }
  }
  const app = await build(t, { name: 'posts', attributes: post, html: { lang: 'auto' } })
  for (let index = 0; index < 120; index++) {
    t.equal((await read(app, '/posts', `de-${index + 100}, fr`)).lang, 'de', 'only some headers are kept')
  }
})

t.test('a cache tells the languages apart, and a write does not', async (t) => {
  const app = await build(t, { name: 'posts', attributes: post, html: { lang: ['en', 'de'] }, writes: 'both' })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'x' } } })
  const de = await read(app, '/posts/1', 'de')
  t.match(de, { lang: 'de', vary: 'Accept, Accept-Language', etag: /^"1\.html-[\da-f]{8}"$/ })
  t.match(await read(app, '/posts/1', 'de', { 'if-none-match': String(de.etag) }), {
    status: 304, vary: 'Accept, Accept-Language'
  })
  t.match(await read(app, '/posts/1', 'en', { 'if-none-match': String(de.etag) }), {
    status: 200, lang: 'en', etag: /^"1\.html-[\da-f]{8}"$/
  })
  t.match(await read(app, '/posts/1.html', 'de'), { lang: 'de', vary: 'Accept-Language' })
  t.match(await read(app, '/posts/1', 'de', { accept: 'application/json' }), {
    vary: 'Accept', etag: /^"1\.json-[\da-f]{8}"$/
  })
  const { statusCode } = await app.inject({
    method: 'PUT', url: '/posts/1', headers: { 'if-match': String(de.etag) }, payload: { post: { title: 'y' } }
  })
  t.equal(statusCode, 200)
  const set = await build(
    t,
    { name: 'posts', attributes: post, html: { lang: 'auto' } },
    {
      before: (app) => {
        app.addHook('onRequest', async (_request, reply) => { reply.header('vary', 'accept-language, Origin') })
      }
    }
  )
  t.equal((await read(set, '/posts', 'de')).vary, 'accept-language, Origin, Accept')
  const one = await build(t, { name: 'posts', attributes: post, html: { lang: 'de' } })
  t.match(await read(one, '/posts', 'en'), { lang: 'de', vary: 'Accept' })
})

t.test('the words of an app may depend on the language, also in the bar and on the home page', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const messages = (lang: string): { plural?: string } => lang === 'de' ? { plural: 'Beiträge' } : {}
  app.register(home, {
    title: 'Blog', lang: ['en', 'de', 'ar'], messages: (lang) => lang === 'de' ? { resourceName: 'Rubrik' } : {}
  })
  app.register((await import('../../../../lib/index.js')).default, {
    name: 'posts', attributes: post, html: { lang: ['en', 'de'], messages }
  })
  const visit = async (url: string, language: string): Promise<string> => (await app.inject({
    url, headers: { accept: 'text/html', 'accept-language': language }
  })).body
  t.match(await visit('/posts', 'de'), '<a href="/posts" aria-current="page">Beiträge</a>')
  t.match(await visit('/posts', 'en'), '<a href="/posts" aria-current="page">Posts</a>')
  const german = await visit('/', 'de')
  t.match(german,
    /lang="de" dir="ltr"[^]*<th scope="col">Rubrik<\/th>[^]*>Einträge<\/th>[^]*<a href="\/posts">Beiträge<\/a>/)
  t.match(await visit('/', 'ar'), /lang="ar" dir="rtl"[^]*<th scope="col">القسم<\/th>[^]*<a href="\/posts">Posts<\/a>/,
    'a resource without the language has its first one')
  const res = await app.inject({ url: '/', headers: { accept: 'text/html' } })
  t.match(res.headers, { vary: 'Accept, Accept-Language' })
  t.equal(
    (await app.inject({ url: '/', headers: { accept: 'application/json', 'accept-language': 'de' } })).headers.vary,
    'Accept, Accept-Language'
  )
})

const article = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 99, title: 'Headline', description: 'Plain <b>text</b>.' },
    status: { oneOf: [{ const: 'draft', title: 'Draft & more' }, { const: 'live', title: 'Published' }] },
    place: { $ref: '#/definitions/place' },
    lines: {
      type: 'array',
      items: { type: 'object', title: 'Line', properties: { amount: { type: 'integer', title: 'Amount' } } }
    },
    authorId: { type: 'integer' }
  },
  definitions: { place: { type: 'object', properties: { city: { type: 'string', minLength: 1, title: 'Town' } } } }
} as const

/** The texts of the app in German. */
const GERMAN: Readonly<Record<string, string>> = {
  Library: 'Bücherei',
  Articles: 'Beiträge',
  article: 'Beitrag',
  Authors: 'Autoren',
  Author: 'Verfasser',
  Headline: 'Schlagzeile',
  'Plain <b>text</b>.': 'Nur <i>Text</i>.',
  Status: 'Stand',
  'Draft & more': 'Entwurf & mehr',
  Place: 'Ort',
  Town: 'Stadt',
  Lines: 'Posten',
  Line: 'Zeile',
  Amount: 'Menge'
}

async function open (t: Test, messages: NonNullable<HtmlOptions['messages']>): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  const html = { lang: ['en', 'de'], messages } as const
  app.register(swagger, { openapi: { openapi: '3.1.0' } })
  app.register(home, { title: 'Library', ...html })
  app.register(draw((map) => {
    map.resources('authors', { attributes: { type: 'object', properties: { name: { type: 'string' } } }, html })
    map.resources('articles', { attributes: article, references: { authorId: 'authors' }, html })
  }))
  const row = { title: 'Tea', status: 'draft', place: { city: 'Rome' }, lines: [{ amount: 2 }], authorId: 1 }
  for (const [url, payload] of [['/authors', { author: { name: 'Ada' } }], ['/articles', { article: row }]] as const) {
    t.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 201)
  }
  return app
}

const phrases = (lang: string): { phrases: Readonly<Record<string, string>> } => ({
  phrases: lang === 'de' ? GERMAN : {}
})

t.test('phrases translate the texts of the app on each page, and the English pages keep them', async (t) => {
  const app = await open(t, phrases)
  const visit = async (url: string, language = 'de'): Promise<string> => decode((await app.inject({
    url, headers: { accept: 'text/html', 'accept-language': language }
  })).body)
  t.match(await visit('/'), /<h1>Bücherei<\/h1>[^]*>Autoren<\/a>[^]*>Beiträge<\/a>/)
  const list = await visit('/articles?status=draft&authorId=1')
  t.match(list, /class="chip"[^>]*>Stand: Entwurf &amp; mehr .*class="chip"[^>]*>Verfasser: Ada /s)
  t.match(list, /<h1>Beiträge<\/h1>.*>Schlagzeile<.*<span class="badge">Entwurf &amp; mehr<\/span>/s)
  const record = await visit('/articles/1')
  const labels = [...record.matchAll(/<dt>([^<]*)<\/dt>/g)].map(([, label]) => label)
  t.strictSame(labels, ['Schlagzeile', 'Stand', 'Ort', 'Stadt', 'Posten', 'Verfasser', 'ID'])
  t.match(record, '<p class="explanation" id="article:title!description">Nur &lt;i&gt;Text&lt;/i&gt;.</p>')
  t.match(record, '>Zeile hinzufügen</button>')
  const refused = await app.inject({
    method: 'POST',
    url: '/articles',
    headers: { accept: 'text/html', 'accept-language': 'de', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'article[title]=&article[place][city]=&article[lines][0][amount]=x'
  })
  t.strictSame([...decode(refused.body).matchAll(/<li><a href="#[^"]*">([^<]*)<\/a><\/li>/g)].map(([, text]) => text),
    ['„Schlagzeile“ darf nicht leer sein', '„Ort: Stadt“ darf nicht leer sein',
      '„Zeile 1: Menge“ muss eine ganze Zahl sein'])
  t.match(await visit('/articles', 'en'), /<h1>Articles<\/h1>.*Headline.*Draft &amp; more.*Plain &lt;b&gt;text/s)
})

t.test('the words of the language never translate a label', async (t) => {
  const attributes = {
    type: 'object', properties: { conflict: { type: 'string', maxLength: 9, description: 'is not valid' } }
  } as const
  const app = await build(t, { name: 'posts', html: { lang: 'de' }, attributes })
  t.match((await app.inject({ url: '/posts', headers: { accept: 'text/html' } })).body,
    /<label for="post:conflict">Conflict .*is not valid/s)
})

t.test('phrases change neither JSON, XML nor the OpenAPI description', async (t) => {
  const [app, plain] = [await open(t, phrases), await open(t, {})]
  t.match(JSON.stringify(app.swagger()), '"title":"Headline"')
  t.same(app.swagger(), plain.swagger())
  for (const url of ['/articles.json', '/articles/1.xml', '/articles.json?rating=x']) {
    const [one, other] = await Promise.all([app, plain].map((app) => app.inject({
      url, headers: { 'accept-language': 'de' }
    })))
    t.equal(one?.body, other?.body, url)
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
  t.match((await app.inject({ url: '/posts', headers: { accept: 'text/html', 'accept-language': 'de' } })).body, /<h1>Beiträge im Netz<\/h1>.*Netzbeitrag anlegen/s)
  t.match((await app.inject({ url: '/posts', headers: { accept: 'text/html', 'accept-language': 'en' } })).body, /<h1>Web posts<\/h1>/)
})
