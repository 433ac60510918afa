import type { HTTPMethods, preValidationHookHandler, RouteHandlerMethod, RouteOptions } from 'fastify'
import type { NamedPath } from '../resource/path-helpers.js'
import type { PathPattern } from '../resource/path-pattern.js'
import type { HookLists } from '../routing/hooks.js'
import type { CompiledCustomAction } from './compiled-resource.js'

/** A path of a resource, without a suffix. */
export interface RoutePath extends NamedPath {
  /** What its resource is called. */
  readonly resource: string
  /** As the router takes it, without the prefix of the instance. */
  readonly url: string
  /** Whether it is about rows, and not about the collection: of a shallow resource others may do that. */
  readonly isMember: boolean
  /** The parameter that has the id of the row that the path is about; undefined: it has none. */
  readonly param: string | undefined
  readonly routeConstraints: NonNullable<RouteOptions['constraints']>
  readonly routes: readonly [Route, ...Route[]]
}

/** Some methods of a path, and what they do there. */
export interface Route {
  readonly methods: readonly HTTPMethods[]
  /** What these ask for; a form may ask for each of them by a POST. The methods themselves ask for the first. */
  readonly actions: readonly [RouteAction, ...RouteAction[]]
  /** The parameters that the query may have: where a form may ask for one of several actions, those of each. */
  readonly parameters: readonly string[]
  /** Reads the payload and then checks it; undefined: requests have none. */
  readonly payload?: PayloadHooks
  readonly handler: RouteHandlerMethod
  readonly customAction?: CompiledCustomAction
  /** What `app.paths` calls the path after it. @default as the path */
  readonly name?: string
  /** Whether it answers with a record, also with a blank one. */
  readonly document?: 'record' | 'blank'
  /** Left out of `Allow`, and of what is printed: it is there only because a form can do nothing else. */
  readonly formOnly?: boolean
}

/** An action that a request may ask for. */
export interface RouteAction {
  readonly name: string
  readonly hooks: HookLists
  /** Returns whether it is the one that the request has asked for, as far as that is known. */
  isFor(asked: {
    readonly action: string | undefined
    readonly customAction: CompiledCustomAction | undefined
  }): boolean
}

/** What finds out which action a payload asks for, and what then checks the attributes. */
export interface PayloadHooks {
  readonly read: preValidationHookHandler
  readonly check: preValidationHookHandler
}

/** What a request knows of its route. */
export interface RouteInfo extends Pick<RoutePath, 'isMember' | 'param' | 'endsWithId'>, Pick<Route, 'parameters'> {
  /** The path without a suffix. */
  readonly path: PathPattern
  /** The suffix of a URL that has this one alone. */
  readonly suffix: string | undefined
  /** The methods that are served, as `Allow` names them. */
  readonly allow: string
  /** Whether the request's method is one of them. */
  readonly allowed: boolean
  /** Whether it only reads, and requests have no body: then there is less to look at. */
  readonly safe: boolean
  /** What the method asks for. */
  readonly action: string
  /** Whether the body of a form may ask for something else. */
  readonly formDecides: boolean
}

/** Where a resource stands, as the router takes it. */
export interface Urls {
  readonly prefix: string
  readonly collection: string
  readonly members: string
}
