import t from 'tap'
import type { AttributesSchema } from '../../lib/index.js'
import { build, draft } from '../support/helper.js'

/** Attributes that differ only in the length of their texts. */
function makeAttributes (count: number): AttributesSchema {
  const names = Array.from({ length: count }, (_, index) => [`text${index + 1}`,
    { type: 'string', maxLength: index + 1 }])
  return { type: 'object', properties: Object.fromEntries(names) } as AttributesSchema
}

t.test('attributes with different schemas are checked by their own ones, however many there are', async (t) => {
  const attributes = makeAttributes(1100)
  const app = await build(t, { name: 'posts', attributes })
  const create = async (post: object): Promise<object> => (await app.inject({
    method: 'POST', url: '/posts', headers: { accept: 'application/json' }, payload: { post }
  })).json()
  // The first write with an attribute compiles its validator. This one compiles them all.
  t.match(
    await create(Object.fromEntries(Object.keys(attributes.properties).map((name) => [name, 'x']))),
    { post: { text1100: 'x' } }
  )
  for (const length of [1, 2, 500, 999, 1000, 1001, 1100]) {
    const name = `text${length}`
    t.match(await create({ [name]: 'x'.repeat(length) }), { post: { [name]: 'x'.repeat(length) } })
    t.match(await create({ [name]: 'x'.repeat(length + 1) }), {
      errors: { [name]: [`must have at most ${length} character${length === 1 ? '' : 's'}`] }
    })
  }
})

t.test('an attribute with a schema of its own stands beside shared ones', async (t) => {
  const code = { type: 'object', properties: { part: { type: 'string', maxLength: 2 } } } as const
  const app = await draft(t, (map) => {
    map.resources('posts', {
      attributes: { type: 'object', properties: { title: { type: 'string', maxLength: 3, title: 'Heading' }, code } }
    })
    map.resources('notes', {
      attributes: {
        type: 'object', properties: { text: { type: 'string', maxLength: 3, description: 'What it says' } }
      }
    })
  })
  const create = async (name: string, attributes: object): Promise<unknown> => (await app.inject({
    method: 'POST', url: `/${name}s`, headers: { accept: 'application/json' }, payload: { [name]: attributes }
  })).json().errors
  t.strictSame(await create('post', { title: 'long', code: { part: 'long' } }), {
    title: ['must have at most 3 characters'], 'code.part': ['must have at most 2 characters']
  })
  t.strictSame(await create('note', { text: 'long' }), { text: ['must have at most 3 characters'] })
  t.strictSame(await create('note', { text: 'new' }), undefined)
})
