import fastify, { type InjectOptions } from 'fastify'
import t from 'tap'
import { draw, ReferencedError } from '../../../../lib/index.js'
import { elementsOf } from '../../../support/html/elements.js'
import { html, isSound, schemaOf } from '../../../support/html/page-tests.js'

const attributes = schemaOf({ title: { type: 'string', minLength: 1 }, rating: { type: 'integer', maximum: 5 } })
const long = 'x'.repeat(81)
const put = { method: 'PUT', url: '/posts', headers: { ...html, 'content-type': 'application/json' } } as const

function thrown (message: string, statusCode: number): Error {
  return Object.assign(new Error(message), { statusCode })
}

const cases: ReadonlyArray<[
  what: string, request: InjectOptions | string, status: number, says: readonly string[], german: readonly string[]
]> = [
  ['a record', '/posts/9', 404, ['This post does not exist', 'there is no post with the id 9'],
    ['Beitrag existiert nicht', 'Es gibt keinen Eintrag mit der ID 9.']],
  ['a record of several words', '/side-notes/9', 404,
    ['This side note does not exist', 'there is no side_note with the id 9'],
    ['Side note existiert nicht', 'Es gibt keinen Eintrag mit der ID 9.']],
  ['a parent of the path', '/posts/9/comments', 404, ['This post does not exist', 'there is no post with the id 9'],
    ['Beitrag existiert nicht', 'Es gibt keinen Eintrag mit der ID 9.']],
  ['a single record', '/posts/1/cover', 404, ['This cover does not exist', 'there is no cover here'],
    ['Cover existiert nicht', 'Hier gibt es nichts. Vielleicht wurde der Eintrag gelöscht.']],
  ['a single record above another one', '/profile/links', 404,
    ['This profile does not exist', 'there is no profile here'],
    ['Profile existiert nicht', 'Hier gibt es nichts. Vielleicht wurde der Eintrag gelöscht.']],
  ['a list that is hidden', '/drafts', 404, ['This page does not exist', 'there is no draft here'],
    ['Diese Seite existiert nicht', 'Hier gibt es nichts. Vielleicht wurde der Eintrag gelöscht.']],
  ['a slash at the end', '/posts/', 404,
    ['This page does not exist', 'there is nothing here: leave out the slash at the end of the path'],
    ['Diese Seite existiert nicht', 'Hier gibt es nichts. Lassen Sie den Schrägstrich am Ende der Adresse weg.']],
  ['a 404 of the app without a message', '/posts?bare', 404, ['This page does not exist'],
    ['Diese Seite existiert nicht']],
  ['a 404 of the app', '/posts?gone', 404, ['Gone fishing'], ['Gone fishing']],
  ['an error of the app without a message', '/posts?stop', 403, ['Forbidden'], ['Keine Berechtigung']],
  ['a refused deletion, before the row is known', { method: 'DELETE', url: '/posts?tied', headers: html }, 409,
    ['Other rows still refer to it; delete or change them first'],
    ['Es gibt ein Problem',
      'Andere Einträge verweisen noch darauf (other rows). Löschen oder ändern Sie diese zuerst.']],
  ['a refusal', '/rules', 403, ['You are not allowed to list rules'],
    ['Für diese Aktion fehlt Ihnen die Berechtigung.']],
  ['a message that is too long', '/posts?long', 400, ['There is a problem', long], ['Es gibt ein Problem', long]],
  ['one message about an attribute', { ...put, payload: { id: 1, post: { rating: 9 } } }, 422,
    ['Rating must be at most 5'], ['„rating“ darf höchstens 5 sein']],
  ['several messages', { ...put, payload: { id: 1, post: { title: '', rating: 9 } } }, 422,
    ['There is a problem', 'title must not be blank', 'rating must be at most 5'],
    ['Es gibt ein Problem', '„title“ darf nicht leer sein', '„rating“ darf höchstens 5 sein']]
]

t.test('the page of an error says in a sentence what is wrong', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', async ({ url }) => {
    if (url.endsWith('?bare')) throw thrown('Not Found', 404)
    if (url.endsWith('?gone')) throw thrown('gone fishing', 404)
    if (url.endsWith('?stop')) throw thrown('', 403)
    if (url.endsWith('?tied')) throw new ReferencedError()
    if (url.endsWith('?long')) throw thrown(long, 400)
  })
  const phrases = { post: 'Beitrag' }
  const shared = {
    attributes, html: { lang: ['en', 'de'], messages: (lang: string) => lang === 'de' ? { phrases } : {} }
  }
  app.register(draw((map) => {
    map.resources('posts', shared, (posts) => {
      posts.resources('comments', shared)
      posts.resource('cover', shared)
    })
    map.resource('profile', shared, (profile) => profile.resources('links', shared))
    map.resources('side_notes', { ...shared, path: 'side-notes' })
    map.resources('drafts', { ...shared, authorize: () => 'hide' })
    map.resources('rules', { ...shared, authorize: () => false })
  }))
  await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T', rating: 1 } } })
  for (const [what, request, status, ...languages] of cases) {
    for (const [index, [title = '', ...texts]] of languages.entries()) {
      const asked = typeof request === 'string' ? { url: request, headers: html } : request
      const page = await app.inject({
        ...asked, headers: { ...asked.headers, 'accept-language': ['en', 'de'][index] }
      })
      const elements = isSound(t, page, status)
      const textsOf = (name: string): string[] =>
        elements.filter((element) => element.name === name).map(({ text }) => text)
      t.strictSame(textsOf('h1'), [title], what)
      t.match(textsOf('title')[0]?.split('…')[0], title.slice(0, 50), what)
      const alert = /<div class="(?:empty|problem)" role="alert">[^]*?<\/div>/.exec(page.body)?.[0] ?? ''
      const said = elementsOf(alert).filter(({ name }) => name === 'p' || name === 'li').map(({ text }) => text)
      t.strictSame(said.slice(0, texts.length), texts, what)
      t.equal(said.length - texts.length, status === 404 && elementsOf(alert).some(({ name }) => name === 'a') ? 1 : 0)
    }
  }
})
