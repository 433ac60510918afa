import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import plugin, {
  defineResource,
  type Attributes, type AttributesOf, type AttributesSchema, type ChangesOf, type CreateOf, memoryStore, type
  MemoryStore, type ResourceAttributes, type RowsOf, type Store, type Row, type StoreFor, type VisibleOf
} from '../../lib/index.js'
import { type PostgresPool, postgresStore, type PostgresStore } from '../../lib/sql/postgres/index.js'
import {
  type SqliteDatabase, sqliteStore, type SqliteStore
} from '../../lib/sql/sqlite/index.js'

/** Tells whether the compiler takes two types for the same, including `readonly` and `?`. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

declare function check<Holds extends true> (holds?: Holds): void

declare const database: SqliteDatabase
declare const pool: PostgresPool

const literal = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 80 },
    rating: { type: 'integer', default: 0 },
    price: { type: ['number', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    secret: { type: 'string', writeOnly: true },
    createdAt: { type: 'string', format: 'date-time', readOnly: true }
  },
  required: ['title', 'tags', 'createdAt']
} as const

interface Post {
  readonly title: string
  readonly tags: readonly string[]
  readonly createdAt: string
  readonly rating?: number
  readonly price?: number | null
  readonly secret?: string
}

interface Texts {
  readonly type: 'object'
  readonly required: readonly ['price']
  readonly properties: {
    readonly price: { readonly type: 'string', readonly format: 'decimal', readonly precision: 10, readonly scale: 2 }
    readonly discount: { readonly type: readonly ['string', 'null'], readonly format: 'decimal' }
    readonly at: { readonly type: 'string', readonly format: 'date-time-local' }
    readonly data: { readonly type: 'string', readonly contentEncoding: 'base64' }
  }
}
check<Equal<AttributesOf<Texts>, {
  readonly price: string, readonly discount?: string | null, readonly at?: string, readonly data?: string
}>>()

const typeBox = Type.Object({
  title: Type.String({ maxLength: 80 }),
  rating: Type.Optional(Type.Integer({ default: 0 })),
  price: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  tags: Type.Array(Type.String())
})

// A literal schema types its rows, and the input and output of each.
check<Equal<AttributesOf<typeof literal>, { [K in keyof Post]: Post[K] }>>()
check<Equal<VisibleOf<typeof literal>, {
  readonly title: string,
  readonly tags: readonly string[],
  readonly createdAt: string,
  readonly rating?: number,
  readonly price?: number | null
}>>()
check<Equal<CreateOf<typeof literal>, {
  readonly title: string,
  readonly tags: readonly string[],
  readonly rating: number,
  readonly price?: number | null,
  readonly secret?: string
}>>()
check<Equal<ChangesOf<typeof literal>, {
  readonly title?: string,
  readonly tags?: readonly string[],
  readonly rating?: number | undefined,
  readonly price?: number | null | undefined,
  readonly secret?: string | undefined
}>>()

// A TypeBox object does the same.
check<Equal<AttributesOf<typeof typeBox>, Readonly<Static<typeof typeBox>>>>()
check<Equal<CreateOf<typeof typeBox>, Readonly<Static<typeof typeBox>>>>()
check<Equal<ChangesOf<typeof typeBox>, {
  readonly title?: string,
  readonly tags?: string[],
  readonly rating?: number | undefined,
  readonly price?: number | null | undefined
}>>()
export const marked = Type.Object({
  title: Type.String(),
  secret: Type.String({ writeOnly: true }) as ReturnType<typeof Type.String> & { writeOnly: true },
  createdAt: Type.String({ readOnly: true }) as ReturnType<typeof Type.String> & { readOnly: true }
})
check<Equal<keyof AttributesOf<typeof marked>, 'title' | 'secret' | 'createdAt'>>()
check<Equal<VisibleOf<typeof marked>, { readonly title: string, readonly createdAt: string }>>()
check<Equal<CreateOf<typeof marked>, { readonly title: string, readonly secret: string }>>()
check<Equal<ChangesOf<typeof marked>, { readonly title?: string, readonly secret?: string }>>()
export const tree = Type.Object({
  root: Type.Recursive((Self) =>
    Type.Object({ name: Type.String(), children: Type.Array(Self) }))
})
check<Equal<AttributesOf<typeof tree>['root']['children'][number]['children'][number]['name'], string>>()

// A schema that is not known allows any attributes.
check<Equal<AttributesOf<AttributesSchema>, Attributes>>()
check<Equal<AttributesOf<AttributesSchema | undefined>, Attributes>>()
check<Equal<AttributesOf<{ type: 'object', properties: Record<string, { type: 'string' }> }>, Attributes>>()
check<Equal<ChangesOf<undefined>, Attributes>>()

/** The type of a value of this schema. */
type ValueOf<S> = Required<AttributesOf<{ readonly type: 'object', readonly properties: { readonly it: S } }>>['it']

check<Equal<ValueOf<{ readonly type: 'string' }>, string>>()
check<Equal<ValueOf<{ readonly type: 'number' }>, number>>()
check<Equal<ValueOf<{ readonly type: readonly ['integer', 'boolean', 'null'] }>, number | boolean | null>>()
check<Equal<ValueOf<{ readonly type: 'string', readonly nullable: true }>, string | null>>()
check<Equal<ValueOf<{ readonly enum: readonly ['a', 1, null] }>, 'a' | 1 | null>>()
check<Equal<ValueOf<{ readonly type: readonly ['string', 'null'], readonly enum: readonly ['a', 'b', null] }>, 'a'
  | 'b' | null>>()
check<Equal<ValueOf<{
  readonly oneOf: readonly [{ readonly const: 'a', readonly title: 'A' }, { readonly const: 'b' }]
}>, 'a'
  | 'b'>>()
check<Equal<ValueOf<{ readonly anyOf: readonly [{ readonly type: 'string' }, { readonly type: 'null' }] }>, string
  | null>>()
check<Equal<ValueOf<{ readonly allOf: readonly [{ readonly type: 'string' }, { readonly minLength: 1 }] }>, string>>()
check<Equal<ValueOf<{
  readonly type: 'array', readonly items: { readonly type: 'array', readonly items: { readonly type: 'integer' } }
}>, ReadonlyArray<readonly number[]>>>()
check<Equal<ValueOf<{
  readonly type: 'object', readonly additionalProperties: { readonly type: 'integer' }
}>, Readonly<Record<string, number>>>>()
check<Equal<ValueOf<{
  readonly type: 'object',
  readonly properties: { readonly a: { readonly type: 'string' } },
  readonly additionalProperties: false
}>, {
  readonly a?: string
}>>()
check<Equal<ValueOf<{
  readonly type: 'object',
  readonly properties: { readonly a: { readonly type: 'string' } },
  readonly additionalProperties: { readonly type: 'integer' }
}>['a'], string
  | undefined>>()
check<Equal<ValueOf<{
  readonly type: readonly ['object', 'null'],
  readonly properties: { readonly a: { readonly const: 1 } },
  readonly required: readonly ['a']
}>, { readonly a: 1 }
  | null>>()
check<Equal<ValueOf<{ readonly $ref: '#/definitions/it' }>, unknown>>()
check<Equal<ValueOf<any>, unknown>>()
check<Equal<ValueOf<Readonly<Record<string, unknown>>>, unknown>>()
// A widened literal gives only what is still known.
check<Equal<AttributesOf<{ type: 'object', properties: { title: { type: 'string' } }, required: string[] }>, {
  readonly title?: string
}>>()
// A literal may contain TypeBox schemas.
export const mixed = {
  type: 'object', properties: { title: Type.String(), sizes: Type.Array(Type.Integer()) }, required: ['title']
} as const
check<Equal<AttributesOf<typeof mixed>, { readonly title: string, readonly sizes?: number[] }>>()

/** Alternative objects that a constant distinguishes. */
type Shape = ValueOf<{
  readonly type: 'object'
  readonly oneOf: readonly [
    {
      readonly properties: {
        readonly kind: { readonly const: 'circle' }, readonly radius: { readonly type: 'number' }
      },
      readonly required: readonly ['kind', 'radius']
    },
    {
      readonly properties: { readonly kind: { readonly const: 'square' }, readonly side: { readonly type: 'number' } },
      readonly required: readonly ['kind', 'side']
    }
  ]
}>
check<Equal<Shape, { readonly kind: 'circle', readonly radius: number }
  | { readonly kind: 'square', readonly side: number }>>()
export const measure = (shape: Shape): number => shape.kind === 'circle' ? shape.radius : shape.side

// In nested objects, readOnly properties are not part of the input, and defaults apply to updates too.
export const nested = {
  type: 'object',
  properties: {
    address: {
      type: 'object',
      properties: {
        street: { type: 'string' }, country: { type: 'string', default: 'NL' }, key: { type: 'integer', readOnly: true }
      },
      required: ['street', 'key']
    }
  },
  required: ['address']
} as const
check<Equal<AttributesOf<typeof nested>, {
  readonly address: { readonly street: string, readonly key: number, readonly country?: string }
}>>()
check<Equal<CreateOf<typeof nested>, { readonly address: { readonly street: string, readonly country: string } }>>()
check<Equal<ChangesOf<typeof nested>, { readonly address?: { readonly street: string, readonly country: string } }>>()
// Defaults also apply to readOnly attributes.
check<Equal<CreateOf<{ type: 'object', properties: { state: { type: 'string', readOnly: true, default: 'new' } } }>, {
  readonly state: string
}>>()

/** A schema nested once for each letter. */
type Deep<T extends string> = T extends `${string}${infer Rest}` ? {
  readonly type: 'array', readonly items: Deep<Rest>
} : { readonly type: 'string' }
check<Equal<ValueOf<Deep<'123456'>>[0][0][0][0][0][0], string>>()
check<Equal<ValueOf<Deep<'12345678901234567890'>>[0][0][0][0][0][0][0], unknown>>()
interface Loop { readonly type: 'array', readonly items: Loop }
check<Equal<ValueOf<Loop>[0][0][0][0][0][0][0], unknown>>()
interface Ring {
  readonly type: 'object',
  readonly properties: {
    readonly next: Ring, readonly name: { readonly type: 'string' }
  },
  readonly required: readonly ['next', 'name']
}
check<Equal<AttributesOf<Ring>['next']['next']['next']['name'], string>>()
interface Knot { readonly anyOf: readonly [Knot, { readonly type: 'string' }] }
check<Equal<ValueOf<Knot>, unknown>>()

// Rows are readonly.
declare const post: AttributesOf<typeof literal>
declare const boxed: AttributesOf<typeof typeBox>
// @ts-expect-error an attribute cannot be set
post.title = 'b'
// @ts-expect-error an item cannot be set
post.tags[0] = 'b'
// @ts-expect-error an attribute cannot be set
boxed.title = 'b'
// @ts-expect-error this attribute does not exist
export const author = post.author
// @ts-expect-error the rating may be absent
export const rating: number = post.rating
// A function written for TypeBox's own type takes a row.
export const titleOf = ({ title }: Static<typeof typeBox>): string => title
export const title = titleOf(boxed)

// The schema types the rows of a database store.
const sqlite = sqliteStore({ database, table: 'posts', attributes: literal })
const postgres = postgresStore({ pool, table: 'posts', attributes: typeBox })
export const inline = sqliteStore({
  database,
  table: 'posts',
  attributes: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
})
check<Equal<typeof sqlite, SqliteStore<AttributesOf<typeof literal>>>>()
check<Equal<typeof postgres, PostgresStore<AttributesOf<typeof typeBox>>>>()
check<Equal<typeof inline, SqliteStore<{ readonly title: string }>>>()
check<Equal<RowsOf<typeof sqlite>, AttributesOf<typeof literal>>>()
check<Equal<RowsOf<typeof postgres>, AttributesOf<typeof typeBox>>>()
check<Equal<ReturnType<typeof sqlite.get>, Promise<Row<AttributesOf<typeof literal>> | undefined>>>()
sqlite.create({ title: 'a', tags: [], createdAt: 'now' }, {})
// @ts-expect-error the title is missing
sqlite.create({ tags: [], createdAt: 'now' }, {})
// @ts-expect-error a title must be a string
sqlite.update(1, { title: 1 }, { version: undefined, scope: {} })
// @ts-expect-error the attributes must be an object schema
sqliteStore({ database, table: 'posts', attributes: { type: 'string' } })

// A memory store takes the type that it is given, or any attributes without one.
const loose = memoryStore()
check<Equal<typeof loose, MemoryStore>>()
const asked: MemoryStore<Post> = memoryStore()
export const wanted: Store<Post> = memoryStore({ id: 'uuid' })
export const returned = (): Store<Post> => memoryStore()
export const narrowed: Store = sqlite
asked.create({ title: 'a', tags: [], createdAt: 'now' }, {})
// @ts-expect-error the title is missing
asked.create({ tags: [], createdAt: 'now' }, {})
// @ts-expect-error the rows have no such attribute
export const other: Store<{ readonly name: string }> = asked

// The attributes type a resource, or else its store does.
declare function resources<const S extends AttributesSchema, T extends Store<unknown> = Store> (
  name: string,
  options: {
    readonly attributes: S
    readonly store?: StoreFor<AttributesOf<S>, T>
    readonly use?: (row: Row<AttributesOf<S>>) => void
    readonly create?: (attributes: CreateOf<S>) => void
  }
): void

resources('posts', {
  attributes: literal,
  use: ({ attributes }) => { check<Equal<typeof attributes, AttributesOf<typeof literal>>>() },
  create: ({ rating }) => { check<Equal<typeof rating, number>>() }
})
resources('posts', {
  attributes: typeBox,
  store: memoryStore(),
  use: ({ attributes }) => { check<Equal<typeof attributes.tags, string[]>>() }
})
// The same holds for an inline schema that follows its store.
resources('posts', {
  store: memoryStore(),
  attributes: {
    type: 'object', properties: { title: { type: 'string' }, state: { enum: ['draft', 'public'] } }, required: ['title']
  },
  use: ({ attributes }) => {
    check<Equal<typeof attributes, { readonly title: string, readonly state?: 'draft' | 'public' }>>()
  }
})
resources('posts', {
  attributes: { type: 'object', properties: { title: { type: 'string' } } },
  // @ts-expect-error this attribute does not exist
  use: ({ attributes }) => attributes.name
})
resources('posts', {
  attributes: typeBox,
  // @ts-expect-error this attribute does not exist
  use: ({ attributes }) => attributes.name
})

// A resource takes an untyped store, and a store that keeps these attributes and others.
declare const anythingStore: Store<any>
resources('posts', { attributes: literal, store: memoryStore({ id: 'uuid', unique: ['title'] }) })
resources('posts', { attributes: literal, store: anythingStore })
resources('posts', { attributes: literal, store: sqlite })
resources('posts', { attributes: typeBox, store: postgres })
resources('posts', { attributes: literal, store: asked })
resources('posts', {
  attributes: literal,
  store: sqliteStore({
    database,
    table: 'posts',
    attributes: {
      ...literal,
      properties: { ...literal.properties, blogId: { type: 'integer' } },
      required: [...literal.required, 'blogId']
    }
  }),
  use: ({ attributes }) => { check<Equal<typeof attributes, AttributesOf<typeof literal>>>() }
})
// A TypeBox schema and a literal that mean the same.
resources('posts', { attributes: typeBox, store: sqlite })
// The attributes are not known.
declare const someSchema: AttributesSchema
resources('posts', {
  attributes: someSchema,
  store: loose,
  use: ({ attributes }) => {
    check<Equal<typeof attributes, Attributes>>()
  }
})
// An inline store has the types of the contract.
resources('posts', {
  attributes: literal,
  store: { ...loose, get: (id, scope) => loose.get(id, scope) },
  use: ({ attributes }) => { check<Equal<typeof attributes.title, string>>() }
})

/** A custom store. */
declare class Archive implements Store<{ readonly title: string }> {
  list (): Array<ReadonlyArray<Row<{ readonly title: string }>>>
  get (): Promise<Row<{ readonly title: string }> | undefined>
  create (attributes: { readonly title: string }): Promise<Row<{ readonly title: string }>>
  update (): { ok: false, why: 'missing' }
  delete (): { ok: false, why: 'missing' }
}
resources('titles', { attributes: { type: 'object', properties: { title: { type: 'string' } } }, store: new Archive() })
resources('titles', {
  attributes: { type: 'object', properties: { name: { type: 'string' } } },
  // @ts-expect-error the rows have no "name"
  store: new Archive()
})
resources('posts', {
  attributes: { type: 'object', properties: { title: { type: 'string' }, likes: { type: 'integer' } } },
  // @ts-expect-error the rows have no "likes", although it is optional
  store: sqlite
})
resources('posts', {
  attributes: { type: 'object', properties: { title: { type: 'integer' } } },
  // @ts-expect-error the titles are not numbers
  store: sqlite
})
resources('posts', {
  attributes: { type: 'object', properties: { rating: { type: 'integer' } }, required: ['rating'] },
  // @ts-expect-error the rows may lack a rating
  store: sqlite
})
resources('posts', {
  attributes: { type: 'object', properties: { state: { enum: ['draft', 'public'] } } },
  // @ts-expect-error the states are any strings
  store: sqliteStore({
    database, table: 'posts', attributes: { type: 'object', properties: { state: { type: 'string' } } }
  })
})
resources('posts', {
  attributes: literal,
  // @ts-expect-error an empty object is not a store
  store: {}
})

// A resource without attributes takes those of its store.
declare function either<
  const S extends AttributesSchema | undefined = undefined,
  T extends Store<unknown> = Store
> (options: {
  readonly attributes?: S
  readonly store?: StoreFor<AttributesOf<S>, T>
  readonly use?: (row: Row<ResourceAttributes<S, T>>) => void
}): void
either({ store: loose, use: ({ attributes }) => { check<Equal<typeof attributes, Attributes>>() } })
either({ store: sqlite, use: ({ attributes }) => { check<Equal<typeof attributes, AttributesOf<typeof literal>>>() } })
either({
  store: new Archive(),
  use: ({ attributes }) => {
    check<Equal<typeof attributes, { readonly title: string }>>()
  }
})
either({
  store: sqliteStore({
    database, table: 'posts', attributes: { type: 'object', properties: { title: { type: 'string' } } }
  }),
  use: ({ attributes }) => { check<Equal<typeof attributes, { readonly title?: string }>>() }
})
either({
  attributes: someSchema,
  store: sqlite,
  use: ({ attributes }) => {
    check<Equal<typeof attributes, AttributesOf<typeof literal>>>()
  }
})
either({
  attributes: { type: 'object', properties: { name: { type: 'string' } } },
  // @ts-expect-error the rows have no "name"
  store: sqlite
})

declare const app: FastifyInstance
// A literal may have other keywords of JSON Schema, but an unknown keyword is an error.
app.register(plugin, {
  name: 'posts',
  attributes: {
    $id: 'post',
    title: 'Post',
    type: 'object',
    properties: { kind: { $ref: '#/definitions/kind' } },
    definitions: { kind: { type: 'string' } }
  }
})
// @ts-expect-error "propertys" is not a keyword
app.register(plugin, { name: 'posts', attributes: { type: 'object', propertys: {}, properties: {} } })

interface Reply {
  readonly type: 'object'
  readonly properties: { readonly tweet: { readonly type: ['integer', 'null'], readonly format: 'int64' } }
}
check<Equal<AttributesOf<Reply>, { readonly tweet?: number | string | null }>>()

const booking = {
  type: 'object',
  required: ['from'],
  properties: { from: { type: 'integer' }, to: { type: ['integer', 'null'] }, note: { type: 'string' } },
  dependentRequired: { to: ['note'] }
} as const

defineResource({
  name: 'bookings',
  attributes: booking,
  check: ({ from, to, note }, { previous, issues }) => {
    const values: [number | null, number | null, string | null] = [from, to, note]
    const before: number | null | undefined = previous?.from
    if (to !== null && from !== null && to < from) issues.add('to', String([values, before]))
    // @ts-expect-error -- it is no attribute
    issues.add('until', 'x')
    issues.add(undefined, 'x')
  }
})
