import type { CamelCase, Singularize } from '../resource/inflection-types.js'
import { HELPERS, type NamedHelpers, type PathOptions, type PathParameter } from '../resource/path-helpers.js'
import type { ActionName } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import type { CreateOf } from '../schema/infer.js'
import type { Attributes, AttributesSchema } from '../schema/types.js'
import type { ResourceAttributes } from '../stores/infer.js'
import type { Store } from '../stores/store.js'
import type { ActionOptions } from './custom-action.js'
import type { Handler } from './handler.js'
import type { DeclaredOptions, ResourceOptions } from './options.js'

/** What a resource may have besides where it is nested in another one. */
export interface NestedOptions<Shallow extends boolean = boolean> {
  /**
   * Whether its rows stand at `/comments/1`, without their parents; also those of all that is nested in it.
   * @default that of the resource around it, else false
   */
  readonly shallow?: Shallow
}

/** What `scope` gives to all that is declared in it: any option that a resource may share with another, and */
export interface ScopeOptions<As extends string = string, Path extends string = string>
  extends
  Omit<ResourceOptions, 'name' | 'singular' | 'path' | 'as' | 'actions' | 'actionHooks' | 'prefix' | 'foreignKey'>,
  NestedOptions {
  /** Segments that the paths begin with; they may have parameters: `':tenant'`. @default none */
  readonly path?: Path
  /** What the names in `app.paths` begin with: `'admin'` for `adminPosts`. @default none */
  readonly as?: As
  /** What the paths of shallow rows begin with. @default `path` */
  readonly shallowPath?: string
  /** What the names of shallow rows begin with. @default `as` */
  readonly shallowAs?: string
}

/**
 * Declares resources; each method gives the map again, so that what is drawn in one chain tells the compiler its names.
 */
export interface Mapper<Prefix extends string = '', P extends readonly unknown[] = [], N = {}> extends MapMethods<
  InMap<Prefix, P>,
  Prefix,
  P,
  N
> {}

/** Declares what belongs to a resource: others that are nested in its rows, and actions of the app's own. */
export interface ResourceMapper<
  A = Attributes,
  Before extends string = '',
  P extends readonly unknown[] = [],
  Many extends string = string,
  One extends string = string,
  IsOne extends boolean = boolean,
  N = {}
> extends MapMethods<InResource<A, Before, P, Many, One, IsOne>, Chain<Before, One>, OfRow<P, IsOne>, N> {
  /** `/posts/recent` */
  readonly collection: ActionMapper<
    InResource<A, Before, P, Many, One, IsOne>,
    A,
    Chain<Before, CollectionName<Many, One>>,
    P,
    N,
    Id | undefined
  >
  /** `/posts/1/publish` */
  readonly member: ActionMapper<
    InResource<A, Before, P, Many, One, IsOne>,
    A,
    Chain<Before, One>,
    OfRow<P, IsOne>,
    N,
    IsOne extends true ? Id | undefined : Id
  >
  /** `/posts/new/preview` */
  readonly new: ActionMapper<
    InResource<A, Before, P, Many, One, IsOne>,
    A,
    Chain<'new', Chain<Before, One>>,
    P,
    N,
    Id | undefined
  >
}

/** Where something is declared: in a map, or in a resource. */
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

/** The same place with these names. */
type Again<Location, N> =
  Location extends InResource<infer A, infer Before, infer P, infer Many, infer One, infer IsOne>
    ? ResourceMapper<A, Before, P, Many, One, IsOne, N>
    : Location extends InMap<infer Prefix, infer P>
      ? Mapper<Prefix, P, N>
      : never

interface MapMethods<Location, Prefix extends string, P extends readonly unknown[], N> {
  readonly [HELPERS]?: N
  /**
   * One resource, or several that have the same options.
   * @throws InvalidOptionError, UnknownOptionError
   */
  resources<
    const Name extends string,
    const S extends AttributesSchema | undefined = undefined,
    T extends Store<any> = Store,
    const As extends string = Name,
    const Single extends string = Singularize<Name>,
    const Shallow extends boolean = false,
    R = {},
    const Only extends Actions = undefined,
    const Except extends Actions = undefined
  >(
    names: Name | readonly Name[],
    options?: DeclaredOptions<S, T> & NestedOptions<Shallow> & Naming<As, Single> & Choosing<Only, Except>,
    draw?: (resource: ResourceMapper<ResourceAttributes<S, T>, Prefix, P, As, OneOf<Name, As, Single>, false>) => R
  ): Again<Location, N & Names<Prefix, P, As, OneOf<Name, As, Single>, Shallow, Chosen<Only, Except>> & NamesIn<R>>
  /**
   * A resource of which there is but one (in the scope of its parent, or of the option `scope`): it has no list and no
   * id.
   */
  resource<
    const Name extends string,
    const S extends AttributesSchema | undefined = undefined,
    T extends Store<any> = Store,
    const As extends string = Name,
    R = {},
    const Only extends Actions = undefined,
    const Except extends Actions = undefined
  >(
    name: Name,
    options?: DeclaredOptions<S, T, Id | undefined> & NestedOptions & Naming<As, string> & Choosing<Only, Except>,
    draw?: (resource: ResourceMapper<ResourceAttributes<S, T>, Prefix, P, As, As, true>) => R
  ): Again<Location, N & NamesOfOne<Prefix, P, As, Chosen<Only, Except>> & NamesIn<R>>
  /** A scope whose path and names begin with the name. */
  namespace<const Name extends string, R>(
    name: Name,
    draw: (map: Mapper<Chain<Prefix, Name>, P>) => R
  ): Again<Location, N & NamesIn<R>>
  namespace<const Name extends string, R, const As extends string = Name, const Path extends string = Name>(
    name: Name,
    options: ScopeOptions<As, Path>,
    draw: (map: Mapper<Chain<Prefix, As>, [...P, ...ParametersIn<Path>]>) => R
  ): Again<Location, N & NamesIn<R>>
  /** Options that all that is declared in it has; hooks and guards of both the scope and the resource are asked. */
  scope<R, const As extends string = '', const Path extends string = ''>(
    options: ScopeOptions<As, Path>,
    draw: (map: Mapper<Chain<Prefix, As>, [...P, ...ParametersIn<Path>]>) => R
  ): Again<Location, N & NamesIn<R>>
  /** Remembers a part of the map by a name. */
  concern(name: string, draw: Concern): Again<Location, N>
  /** Draws parts that have been remembered; the compiler does not know what names they declare. */
  concerns(...names: readonly string[]): Again<Location, N & NamedHelpers>
}

/** A part of the map that may be drawn in many places, most of them in resources. */
// What it is drawn in differs from place to place.
export type Concern = (map: ResourceMapper<any, any, any, any, any, any, any>) => unknown
// What it is drawn in differs from place to place.

export interface Naming<As extends string, Single extends string> {
  /** The plural by which `app.paths` calls it; of a singleton, the name. @default its name */
  readonly as?: As
  /** The name of one, under which its attributes travel. @default the singular of its name by the rules of English */
  readonly singular?: Single
}

/** What `only` and `except` may be given as. */
export type Actions = ActionName | readonly ActionName[] | undefined

/** Lets the compiler see which actions a resource has. */
export interface Choosing<Only extends Actions, Except extends Actions> {
  /** Actions that there are, no others. @default all */
  readonly only?: Only
  /** Actions that there are not. @default none */
  readonly except?: Except
}

/** Declares actions of the app's own that stand in one place. */
export interface ActionMapper<
  Location,
  A,
  Name extends string,
  P extends readonly unknown[],
  N,
  I extends Id | undefined
> {
  /** An action that only reads. A HEAD is answered as well. */
  get: MapAction<Location, A, Name, P, N, I>
  /** An action by POST. */
  post: MapAction<Location, A, Name, P, N, I>
  /** An action by PUT, or by a form with `_method=PUT`. */
  put: MapAction<Location, A, Name, P, N, I>
  /** An action by PATCH. */
  patch: MapAction<Location, A, Name, P, N, I>
  /** An action by DELETE, or by a form with `_method=DELETE`. */
  delete: MapAction<Location, A, Name, P, N, I>
}

interface MapAction<Location, A, Name extends string, P extends readonly unknown[], N, I extends Id | undefined> {
  /** An action that may be supplied with attributes of the resource, none of them required. */
  <const Action extends string> (name: Action, handler: Handler<A, Partial<A>, I>): Again<
    Location,
    N & Named<Chain<Action, Name>, P>
  >
  /** An action with options: a schema of what it is supplied with, or of its query, hooks, words. */
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

/** `as` has a singular of its own. */
type OneOf<Name extends string, As extends string, Single extends string> = [As] extends [Name]
  ? Single
  : Singularize<As>

type OfRow<P extends readonly unknown[], IsOne extends boolean> = IsOne extends true
  ? P
  : [...P, parameter: PathParameter]

/** A helper of that name; of a name that the compiler cannot tell, any. */
type Named<Name extends string, P extends readonly unknown[]> = {
  readonly [K in CamelCase<Name>]: (...parameters: [...P, options?: PathOptions]) => string
}

/** Names of a row that is shallow depend on what is around the resource. */
type Names<
  Prefix extends string,
  P extends readonly unknown[],
  Many extends string,
  One extends string,
  Shallow extends boolean,
  A
> = Shallow extends true
  ? NamedHelpers
  : If<A, 'list' | 'create' | 'update' | 'delete', Named<Chain<Prefix, CollectionName<Many, One>>, P>> &
      If<A, 'show' | 'update' | 'delete', Named<Chain<Prefix, One>, [...P, parameter: PathParameter]>> &
      If<A, 'new', Named<Chain<'new', Chain<Prefix, One>>, P>> &
      If<A, 'edit', Named<Chain<'edit', Chain<Prefix, One>>, [...P, parameter: PathParameter]>>

type NamesOfOne<Prefix extends string, P extends readonly unknown[], One extends string, A> =
  & If<A, 'show' | 'create' | 'update' | 'delete', Named<Chain<Prefix, One>, P>>
  & If<A, 'new', Named<Chain<'new', Chain<Prefix, One>>, P>>
  & If<A, 'edit', Named<Chain<'edit', Chain<Prefix, One>>, P>>

/**
 * The names, where the resource may have one of the actions that make the path. (`writes` may be a scope's: it is not
 * asked.)
 */
type If<A, Needed, Then> = [Extract<A, Needed>] extends [never] ? {} : Then

/** The actions that there may be: of a list whose members the compiler does not know, any of them. */
type Chosen<Only extends Actions, Except extends Actions> = Only extends undefined
  ? Exclude<ActionName, Literally<Except>>
  : Only extends readonly unknown[]
    ? Only[number]
    : Only

/** What is surely left out. */
type Literally<Except> = Except extends readonly unknown[]
  ? number extends Except['length']
    ? never
    : Except[number]
  : Except

/** The compiler knows the names of a returned chain only, not of statements. */
export type NamesIn<R> = {} extends R ? {} : R extends { readonly [HELPERS]?: infer N } ? NonNullable<N> : NamedHelpers

type ParametersIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? [parameter: PathParameter, ...ParametersIn<Rest>]
  : []
