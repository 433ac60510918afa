import type { Attributes } from './types.js'

/**
 * The attributes of a row, inferred from their schema: a TypeBox object, or a JSON Schema as a literal. The result is
 * `Attributes` if the compiler knows no properties. A value that the compiler cannot infer is `unknown`.
 *
 * @example
 * const post = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } as const
 * type Post = AttributesOf<typeof post> // { readonly title: string }
 */
export type AttributesOf<S> = Whole<S, 'kept'>

/**
 * The attributes of a row, without those that are `writeOnly`. TypeBox hides `writeOnly` and `readOnly` from the
 * compiler. Add them to the type: `Type.String({ writeOnly: true }) as TString & { writeOnly: true }`.
 */
export type VisibleOf<S> = Whole<S, 'visible'>

/**
 * The validated attributes of a create, including defaults. A `readOnly` attribute is there only if it has a default.
 */
export type CreateOf<S> = Whole<S, 'created'>

/**
 * The validated attributes of an update. All are optional, and those that are `readOnly` are missing. An attribute that
 * the update removes is `undefined`.
 */
export type ChangesOf<S> = Whole<S, 'changed'>

type RowUse = 'kept' | 'visible' | 'created' | 'changed' | 'perhaps'

/** The members of TypeBox's types that are used here. */
interface TypeBox {
  readonly params: unknown[]
  readonly static: unknown
}

type Whole<S, M extends RowUse> =
  S extends { readonly properties: infer P }
    ? string extends keyof P ? Attributes
      : [keyof P] extends [never] ? Attributes
          : S extends TypeBox ? WholeTypeBox<Readonly<Static<S>>, P, M>
            : Properties<P, RequiredOf<S>, M, 8>
    : Attributes

/** The type of the values of a TypeBox schema. TypeBox resolves a schema's references to itself by `params`. */
type Static<S extends TypeBox> = (S & { params: [] })['static']

type WholeTypeBox<A, P, M extends RowUse> = M extends 'changed'
  ? Removable<OmitNames<A, Hidden<P, M>>>
  : OmitNames<A, Hidden<P, M>>

type Removable<A> = { [K in keyof A]?: Pick<A, K> extends Required<Pick<A, K>> ? A[K] : A[K] | undefined }

type OmitNames<A, Names> = [Names] extends [never] ? A : { [K in keyof A as K extends Names ? never : K]: A[K] }

/**
 * The type of the values of a schema, inferred at most `D` schemas deep. `T` is the `type` of the surrounding schema,
 * as in `{ type: 'object', oneOf: [{ properties: { … } }] }`.
 */
type ValueOf<S, M extends RowUse, D extends number, T = unknown> =
  D extends 0 ? unknown
    : unknown extends S ? unknown
      : S extends TypeBox ? Static<S>
        : S extends object ? Own<S, M, D, TypesOf<S, T>> & Parts<S, M, D, TypesOf<S, T>>
          : unknown

type Less = [never, 0, 1, 2, 3, 4, 5, 6, 7]

type Deeper<D extends number> = Less[D] extends infer N extends number ? N : 0

type TypesOf<S, T> =
  | (S extends { readonly type: infer U } ? U extends readonly unknown[] ? U[number] : U : T)
  | (S extends { readonly nullable: true } ? 'null' : never)

interface Simple {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

type Own<S, M extends RowUse, D extends number, T> =
  S extends { readonly const: infer C } ? C
    : S extends { readonly enum: ReadonlyArray<infer E> } ? EnumValues<E, T>
      : OfType<T, S, M, D>

type EnumValues<E, T> = unknown extends T ? E : Extract<E, T extends keyof Simple ? Simple[T] : object>

type OfType<T, S, M extends RowUse, D extends number> =
  T extends keyof Simple ? T extends 'integer' ? Integer<S> : Simple[T]
    : T extends 'array' ? Items<S, M, D>
      : T extends 'object' ? Members<S, M, D>
        : unknown

/** An integer of eight bytes is a text beyond 2^53 − 1. */
type Integer<S> = S extends { readonly format: 'int64' } ? number | string : number

type Items<S, M extends RowUse, D extends number> =
  S extends { readonly items: infer I }
    ? I extends readonly unknown[] ? readonly unknown[] : ReadonlyArray<ValueOf<I, M, Deeper<D>>>
    : readonly unknown[]

type Members<S, M extends RowUse, D extends number> =
  S extends { readonly properties: infer P } ? Rest<S, Properties<P, RequiredOf<S>, Inner<M>, D>, M, D>
    : S extends { readonly additionalProperties: infer E } ? Readonly<Record<string, ValueOf<E, M, Deeper<D>>>>
      : [keyof S & ('allOf' | 'anyOf' | 'oneOf')] extends [never] ? Attributes : unknown

type Rest<S, O, M extends RowUse, D extends number> =
  S extends { readonly patternProperties: unknown } ? O & Attributes
    : S extends { readonly additionalProperties: infer E }
      ? [E] extends [false] ? O : O & Readonly<Record<string, ValueOf<E, M, Deeper<D>> | O[keyof O]>>
      : O

type Properties<P, R, M extends RowUse, D extends number> = Flat<
  { readonly [K in keyof P as K extends Present<P, R, M> ? K : never]: ValueOf<P[K], Inner<M>, Deeper<D>> } & {
    readonly [K in keyof P as K extends Present<P, R, M> | Hidden<P, M> ? never : K]?:
      ValueOf<P[K], Inner<M>, Deeper<D>> | Removed<K, R, M>
  }
>

/** The type of an attribute that an update removes, which is never a required one. */
type Removed<K, R, M extends RowUse> = M extends 'changed' ? K extends R ? never : undefined : never

/** Joins the parts of an intersection, so that editors show one object. */
type Flat<T> = T extends infer O ? { [K in keyof O]: O[K] } : never

type RequiredOf<S> = S extends { readonly required: ReadonlyArray<infer R> } ? string extends R ? never : R : never

/** The mode for the values inside a value. An update validates them as a create does. */
type Inner<M extends RowUse> = M extends 'changed' ? 'created' : M

type Present<P, R, M extends RowUse> =
  M extends 'kept' | 'visible' ? R
    : M extends 'created' ? Exclude<R, Marked<P, ReadOnly>> | Marked<P, Default>
      : M extends 'perhaps' ? Exclude<R, Marked<P, ReadOnly>>
        : never

type Hidden<P, M extends RowUse> =
  M extends 'visible' ? Marked<P, WriteOnly>
    : M extends 'created' ? Exclude<Marked<P, ReadOnly>, Marked<P, Default>>
      : M extends 'changed' ? Marked<P, ReadOnly>
        : never

type Marked<P, Keyword> = { [K in keyof P]: P[K] extends Keyword ? K : never }[keyof P]

interface ReadOnly { readonly readOnly: true }
interface WriteOnly { readonly writeOnly: true }
interface Default { readonly default: unknown }

type Parts<S, M extends RowUse, D extends number, T> =
  & (S extends { readonly allOf: infer L extends readonly unknown[] } ? Every<L, M, D, T> : unknown)
  & (S extends { readonly anyOf: infer L extends readonly unknown[] } ? Some<L, M, D, T> : unknown)
  & (S extends { readonly oneOf: infer L extends readonly unknown[] } ? Some<L, M, D, T> : unknown)

type Every<L extends readonly unknown[], M extends RowUse, D extends number, T> =
  L extends readonly [infer First, ...infer Others] ? ValueOf<First, M, Deeper<D>, T> & Every<Others, M, D, T> : unknown

/**
 * The union of alternatives. Ajv fills in no defaults there, and one alternative may allow a property that is
 * `readOnly` in another.
 */
type Some<L extends readonly unknown[], M extends RowUse, D extends number, T> =
  { [I in keyof L]: ValueOf<L[I], M extends 'created' | 'changed' ? 'perhaps' : M, Deeper<D>, T> }[number]

/**
 * The names of the attributes of `A` that rows `B` lack or have with another type. `unknown` in `B` fits every type.
 */
export type MismatchedNames<A, B> = {
  [K in keyof A]-?: string extends K ? never : number extends K ? never : MisfitOf<A, B, K>
}[keyof A]

type MisfitOf<A, B, K extends keyof A> =
  K extends keyof B
    ? unknown extends B[K] ? never : [B[K]] extends [Frozen<A[K]>] ? never : K
    : K

/** Makes all members of a type readonly, so that mutable and readonly arrays count as the same. */
type Frozen<T> = unknown extends T ? T : { readonly [K in keyof T]: Frozen<T[K]> }
