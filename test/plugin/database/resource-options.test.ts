import t from 'tap'
import { addTitles, findActions, findReferences, findTitle } from '../../../lib/database/resource-options.js'
import type { AttributesSchema } from '../../../lib/index.js'
import { describeTable } from '../../support/stores/databases/table-description.js'

t.test('a table has the actions that it allows, if the app allows writes', async (t) => {
  const all = describeTable()
  const limited = describeTable({ canUpdate: false, canDelete: false })
  const cases: ReadonlyArray<readonly [...Parameters<typeof findActions>, expected: string]> = [
    [all, false, {}, 'list show'],
    [all, true, {}, 'list show create update delete'],
    [all, true, { formPages: true }, 'list show create new update edit delete'],
    [limited, true, { formPages: true }, 'list show create new'],
    [all, true, { except: 'delete' }, 'list show create update'],
    [all, false, { except: ['show', 'delete'] }, 'list'],
    [all, true, { only: ['list', 'create'] }, 'list create'],
    [all, false, { only: 'list' }, 'list']
  ]
  for (const [table, write, options, expected] of cases) {
    t.equal(findActions(table, write, options).join(' '), expected, JSON.stringify({ write, options }))
  }
  t.throws(
    () => findActions(all, false, { only: ['list', 'create'] }),
    { message: 'Option "tables" has "posts", whose "only" names \'create\', which needs the option "write: true".' }
  )
  t.throws(
    () => findActions(limited, true, { only: 'update' }),
    { message: 'Option "tables" has "posts", whose "only" names \'update\', which its database does not allow.' }
  )
})

const attributesOf = (...names: readonly string[]): AttributesSchema =>
  ({
    type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
  }) as AttributesSchema

t.test('attributes get titles if their names would look bad', async (t) => {
  const titlesOf = (names: readonly string[], columns = {}): unknown[] =>
    Object.values(
      addTitles(describeTable({ attributes: attributesOf(...names), columns })).properties as Record<string, {
        title?: string
      }>
    ).map(({ title }) => title)
  t.strictSame(titlesOf(['UnitPrice', 'first_name', 'SKU', 'homeURL']), [undefined, undefined, undefined, undefined])
  t.strictSame(titlesOf(['FIRST_NAME', 'VAT']), ['First name', 'Vat'])
  t.strictSame(titlesOf(['first_name', 'id_', '🦄'], { id: 'key', first_name: 'first name?', id_: 'id' }),
    [undefined, 'Id', undefined])
  t.strictSame(titlesOf(['constructor', 'toString']), [undefined, undefined], 'names that every object inherits')
  const own = describeTable({
    attributes: { type: 'object', properties: { NAME: { type: 'string', title: 'Full name' } } }
  })
  t.same(addTitles(own), own.attributes)
})

t.test('a row is named by a text that other rows need not share', async (t) => {
  const text = { type: 'string' }
  const cases: ReadonlyArray<readonly [attributes: Record<string, object>, table: object, expected: object]> = [
    [{ code: text, Name: { type: ['string', 'null'] } }, {}, { title: 'Name' }],
    [{ code: text, note: text }, { key: ['code'] }, {}],
    [{ customer: text, note: text }, { references: { customer: 'customers' } }, { title: 'note' }],
    [{ base: text, quote: text, day: { type: 'string', format: 'date' } }, { key: ['base', 'quote', 'day'] },
      { title: 'id' }],
    [
      {
        kind: { type: 'string', enum: ['a'] },
        long: { type: 'string', maxLength: 201 },
        code: text,
        note: { type: 'string', maxLength: 200 }
      },
      { key: ['code', 'kind'] },
      { title: 'note' }
    ],
    [{ customer: { type: 'integer' } }, { references: { customer: 'customers' } }, {}]
  ]
  for (const [properties, table, expected] of cases) {
    const attributes = { type: 'object', required: Object.keys(properties), properties } as unknown as AttributesSchema
    t.strictSame(findTitle(describeTable({ attributes, ...table })), expected, JSON.stringify(properties))
  }
  t.strictSame(findTitle(describeTable({ attributes: attributesOf('count') })), {}, 'nothing is required')
})

t.test('a person is named by two columns, and never by the title of a job', async (t) => {
  const text = { type: 'string' }
  const cases: ReadonlyArray<readonly [columns: readonly string[], row: Readonly<Record<string, unknown>>, name: string
    | undefined]> = [
      [['LastName', 'FirstName', 'Title'], { LastName: 'Davolio', FirstName: 'Nancy', Title: 'Clerk' },
        'Nancy Davolio'],
      [['name', 'first_name', 'last_name'], { name: 'nd', first_name: 'Nancy', last_name: 'Davolio' }, 'Nancy Davolio'],
      [['FIRST_NAME', 'LAST_NAME'], { FIRST_NAME: null, LAST_NAME: 'Davolio' }, 'Davolio'],
      [['given', 'family'], { given: 'Nancy', family: 'Davolio' }, 'Nancy Davolio'],
      [['givenName', 'familyName'], { givenName: 'Nancy' }, 'Nancy'],
      [['forename', 'surname'], { forename: 'Nancy', surname: 'Davolio' }, 'Nancy Davolio'],
      [['fname', 'lname'], {}, ''],
      [['FirstName', 'Title'], {}, undefined],
      [['first', 'last', 'title'], {}, undefined]
    ]
  for (const [columns, attributes, name] of cases) {
    const properties = Object.fromEntries(columns.map((column) => [column, text]))
    const { title } = findTitle(describeTable({
      attributes: { type: 'object', properties } as unknown as AttributesSchema
    }))
    t.equal(typeof title === 'function' ? title({ id: 1, version: '1', attributes }) : undefined, name, columns.join())
  }
})

t.test('references lead to served tables whose ids have the type of the attribute', async (t) => {
  const find = (attributes: AttributesSchema, references: Record<string, string>): unknown =>
    findReferences(describeTable({ attributes, references }), (table) => ({
      Artist: { name: 'artists', table: describeTable() },
      users: { name: 'users', table: describeTable({ id: 'uuid' }) }
    })[table])
  t.strictSame(find(attributesOf('ArtistId'), { ArtistId: 'Artist' }), { ArtistId: 'artists' })
  t.strictSame(find(attributesOf('ArtistId'), { ArtistId: 'Missing' }), {}, 'the table is not served')
  t.strictSame(find(attributesOf('user_id'), { user_id: 'users' }), {}, 'the ids have another type')
  t.strictSame(find(attributesOf('artist'), { artist: 'Artist' }), { artist: 'artists' },
    'the relation is not called like the attribute')
  t.strictSame(find(attributesOf('first', 'second'), { first: 'Artist', second: 'Artist' }),
    { first: 'artists', second: 'artists' }, 'two relations have different names')
  t.strictSame(find(attributesOf('artist', 'artistRow'), { artist: 'Artist' }), {},
    'both names of the relation are those of attributes')
  t.strictSame(find(attributesOf('ArtistId'), { AlbumId: 'Artist' }), {}, 'the attribute is not served')
  const hidden = { type: 'object', properties: { ArtistId: { type: 'integer', writeOnly: true } } } as const
  t.strictSame(find(hidden, { ArtistId: 'Artist' }), {}, 'the attribute is never shown')
  const nullable = { type: 'object', properties: { user_id: { type: ['string', 'null'], format: 'uuid' } } } as const
  t.strictSame(find(nullable, { user_id: 'users' }), { user_id: 'users' })
  const mixed = { type: 'object', properties: { ArtistId: { type: ['integer', 'string'] } } } as const
  t.strictSame(find(mixed, { ArtistId: 'Artist' }), {}, 'the attribute may have another type')
})
