import type { Singularize } from '../core/resource/inflection.js'
import type { HELPERS, ListParameters, Named, NamedHelpers, PathParameter } from '../core/routes/path-helpers.js'
import type { ActionName } from '../core/resource/resource.js'
import type { Id } from '../core/resource/row.js'
import type { CreateOf } from '../core/schema/infer.js'
import type { Attributes, AttributesSchema } from '../core/schema/types.js'
import type { ListedAttributes, ResourceAttributes } from '../core/stores/infer.js'
import type { Store } from '../core/stores/store.js'
import type { ActionOptions } from '../core/actions/custom/custom-action.js'
import type { Handler } from '../core/options/handler.js'
import type { DeclaredOptions, NestedOptions, ScopeOptions } from '../core/options/options.js'

/** Declares resources. Each method returns the map, so that the type of a chain has the declared names. */
export interface Mapper<Prefix extends string = '', P extends readonly unknown[] = [], N = {}> extends MapMethods<
  InMap<Prefix, P>,
  Prefix,
  P,
  N
> {}

/** Declares the nested resources and the custom actions of a resource. */
export interface ResourceMapper<
  A = Attributes,
  Before extends string = '',
  P extends readonly unknown[] = [],
  Many extends string = string,
  One extends string = string,
  IsOne extends boolean = boolean,
  N = {}
> extends MapMethods<InResource<A, Before, P, Many, One, IsOne>, Chain<Before, One>, OfRow<P, IsOne>, N> {
  /** Declares actions of the collection: `/posts/recent`. */
  readonly collection: ActionMapper<
    InResource<A, Before, P, Many, One, IsOne>,
    A,
    Chain<Before, CollectionName<Many, One>>,
    P,
    N,
    Id | undefined
  >
  /** Declares actions of a row: `/posts/1/publish`. */
  readonly member: ActionMapper<
    InResource<A, Before, P, Many, One, IsOne>,
    A,
    Chain<Before, One>,
    OfRow<P, IsOne>,
    N,
    IsOne extends true ? Id | undefined : Id
  >
  /** Declares actions of a new row: `/posts/new/preview`. */
  readonly new: ActionMapper<
    InResource<A, Before, P, Many, One, IsOne>,
    A,
    Chain<'new', Chain<Before, One>>,
    P,
    N,
    Id | undefined
  >
}

interface InMap<Prefix extends string, P extends readonly unknown[]> { readonly prefix: Prefix, readonly parameters: P }
interface InResource<
  A,
  Before extends string,
  P extends readonly unknown[],
  Many extends string,
  One extends string,
  IsOne extends boolean
> {
  readonly row: A
  readonly before: Before
  readonly parameters: P
  readonly many: Many
  readonly one: One
  readonly isOne: IsOne
}

type Again<Location, N> =
  Location extends InResource<infer A, infer Before, infer P, infer Many, infer One, infer IsOne>
    ? ResourceMapper<A, Before, P, Many, One, IsOne, N>
    : Location extends InMap<infer Prefix, infer P>
      ? Mapper<Prefix, P, N>
      : never

interface MapMethods<Location, Prefix extends string, P extends readonly unknown[], N> {
  readonly [HELPERS]?: N
  /**
   * Declares one resource, or several with the same options.
   * @throws InvalidOptionError, UnknownOptionError
   */
  resources<
    const Name extends string,
    const S extends AttributesSchema | undefined = undefined,
    T extends Store<unknown> = Store,
    const As extends string = Name,
    const Single extends string = Singularize<Name>,
    const Shallow extends boolean = false,
    R = {},
    const Only extends Actions = undefined,
    const Except extends Actions = undefined
  >(
    names: Name | readonly Name[],
    options?: DeclaredOptions<S, T> & NestedOptions<Shallow> & NameOptions<As, Single> & ActionChoice<Only, Except>,
    draw?: (resource: ResourceMapper<ResourceAttributes<S, T>, Prefix, P, As, OneOf<Name, As, Single>, false>) => R
  ): Again<Location, N & NamesIn<R> & Names<
    Prefix, P, As, OneOf<Name, As, Single>, Shallow, ChosenActions<Only, Except>, ListParameters<ListedAttributes<S, T>>
  >>
  /** Declares a singleton: one record for each parent, or for each `scope`, without an id and without a list. */
  resource<
    const Name extends string,
    const S extends AttributesSchema | undefined = undefined,
    T extends Store<unknown> = Store,
    const As extends string = Name,
    R = {},
    const Only extends Actions = undefined,
    const Except extends Actions = undefined
  >(
    name: Name,
    options?:
      & DeclaredOptions<S, T, Id | undefined>
      & NestedOptions
      & NameOptions<As, string>
      & ActionChoice<Only, Except>,
    draw?: (resource: ResourceMapper<ResourceAttributes<S, T>, Prefix, P, As, As, true>) => R
  ): Again<Location, N & NamesOfOne<Prefix, P, As, ChosenActions<Only, Except>> & NamesIn<R>>
  /** Declares a scope whose paths and names begin with the given name. */
  namespace<const Name extends string, R>(
    name: Name,
    draw: (map: Mapper<Chain<Prefix, Name>, P>) => R
  ): Again<Location, N & NamesIn<R>>
  namespace<const Name extends string, R, const As extends string = Name, const Path extends string = Name>(
    name: Name,
    options: ScopeOptions<As, Path>,
    draw: (map: Mapper<Chain<Prefix, As>, [...P, ...ParametersIn<Path>]>) => R
  ): Again<Location, N & NamesIn<R>>
  /**
   * Declares options of all resources in a scope. Its hooks, `authorize` and `scope` apply in addition to those of a
   * resource.
   */
  scope<R, const As extends string = '', const Path extends string = ''>(
    options: ScopeOptions<As, Path>,
    draw: (map: Mapper<Chain<Prefix, As>, [...P, ...ParametersIn<Path>]>) => R
  ): Again<Location, N & NamesIn<R>>
  /** Defines a part of the map by a name, for `concerns`. */
  concern(name: string, draw: Concern): Again<Location, N>
  /** Draws parts that `concern` has defined. The compiler does not know the names in them. */
  concerns(...names: readonly string[]): Again<Location, N & NamedHelpers>
}

/** A part of the map that may be drawn in many places. It accepts any map, because their types differ. */
// `any`, because a function that takes a certain map does not take a map of unknown type.
export type Concern = (map: ResourceMapper<any, any, any, any, any, any, any>) => unknown

export interface NameOptions<As extends string, Single extends string> {
  /** The plural name in `app.paths`; for a singleton, the singular one. @default its name */
  readonly as?: As
  /**
   * The singular name, which contains the attributes in payloads.
   * @default the singular of its name by the rules of English
   */
  readonly singular?: Single
}

export type Actions = ActionName | readonly ActionName[] | undefined

export interface ActionChoice<Only extends Actions, Except extends Actions> {
  /** The only actions that it has. @default all, but `new` and `edit` only by `formPages` */
  readonly only?: Only
  /** The actions to leave out. @default none */
  readonly except?: Except
}

/** Declares custom actions below one path: that of the collection, of a row, or of a new row. */
export interface ActionMapper<
  Location,
  A,
  Name extends string,
  P extends readonly unknown[],
  N,
  I extends Id | undefined
> {
  /** Declares an action that only reads. HEAD is answered as well. */
  get: MapAction<Location, A, Name, P, N, I>
  /** Declares an action by POST. */
  post: MapAction<Location, A, Name, P, N, I>
  /** Declares an action by PUT, or by a form's POST with `_method=PUT`. */
  put: MapAction<Location, A, Name, P, N, I>
  /** Declares an action by PATCH. */
  patch: MapAction<Location, A, Name, P, N, I>
  /** Declares an action by DELETE, or by a form's POST with `_method=DELETE`. */
  delete: MapAction<Location, A, Name, P, N, I>
}

interface MapAction<Location, A, Name extends string, P extends readonly unknown[], N, I extends Id | undefined> {
  /** Declares an action that takes attributes of the resource, none of them required. */
  <const Action extends string> (name: Action, handler: Handler<A, Partial<A>, I>): Again<
    Location,
    N & Named<Chain<Action, Name>, P>
  >
  /** Declares an action with options, such as schemas of its payload and of its query. */
  <
    const Action extends string,
    const B extends AttributesSchema | undefined = undefined,
    const Q extends AttributesSchema | undefined = undefined
  > (
    name: Action,
    options: ActionOptions<B, Q>,
    handler: Handler<A, B extends undefined ? Partial<A> : CreateOf<B>, I, CreateOf<Q>>
  ): Again<Location, N & Named<Chain<Action, Name>, P>>
}

type Chain<Before extends string, Name extends string> = Before extends ''
  ? Name
  : Name extends ''
    ? Before
    : `${Before}_${Name}`

type CollectionName<Many extends string, One extends string> = Many extends One ? `${Many}_index` : Many

type OneOf<Name extends string, As extends string, Single extends string> = [As] extends [Name]
  ? Single
  : Singularize<As>

type OfRow<P extends readonly unknown[], IsOne extends boolean> = IsOne extends true
  ? P
  : [...P, parameter: PathParameter]

/**
 * The names of the paths of a resource. Those of a shallow one depend on the resources around it, so any are allowed.
 */
type Names<
  Prefix extends string,
  P extends readonly unknown[],
  Many extends string,
  One extends string,
  Shallow extends boolean,
  A,
  Q
> = Shallow extends true
  ? NamedHelpers
  : If<A, 'list' | 'create' | 'update' | 'delete', Named<Chain<Prefix, CollectionName<Many, One>>, P, Q>> &
      If<A, 'show' | 'update' | 'delete', Named<Chain<Prefix, One>, [...P, parameter: PathParameter]>> &
      If<A, 'new', Named<Chain<'new', Chain<Prefix, One>>, P>> &
      If<A, 'edit', Named<Chain<'edit', Chain<Prefix, One>>, [...P, parameter: PathParameter]>>

type NamesOfOne<Prefix extends string, P extends readonly unknown[], One extends string, A> =
  & If<A, 'show' | 'create' | 'update' | 'delete', Named<Chain<Prefix, One>, P>>
  & If<A, 'new', Named<Chain<'new', Chain<Prefix, One>>, P>>
  & If<A, 'edit', Named<Chain<'edit', Chain<Prefix, One>>, P>>

/**
 * The names of a path, or none if the resource has none of its actions. `writes` is ignored, because a scope may set
 * it.
 */
type If<A, Needed, Then> = [Extract<A, Needed>] extends [never] ? {} : Then

/** The actions that a resource may have. If the compiler does not know the members of a list, all remain possible. */
type ChosenActions<Only extends Actions, Except extends Actions> = Only extends undefined
  ? Exclude<ActionName, Literally<Except>>
  : Only extends readonly unknown[]
    ? Only[number]
    : Only

type Literally<Except> = Except extends readonly unknown[]
  ? number extends Except['length']
    ? never
    : Except[number]
  : Except

/** The names of a returned map. The compiler knows those of a chain, but not those of statements. */
export type NamesIn<R> = {} extends R ? {} : R extends { readonly [HELPERS]?: infer N } ? NonNullable<N> : NamedHelpers

type ParametersIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? [parameter: PathParameter, ...ParametersIn<Rest>]
  : []
