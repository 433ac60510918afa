import type { HTTPMethods, preValidationHookHandler, RouteHandlerMethod, RouteOptions } from 'fastify'
import type { PathPattern } from '../resource/path-pattern.js'
import type { HookLists } from '../routing/hooks.js'
import type { CompiledCustomAction } from './compiled-resource.js'

/** A path, some methods of it, and what they lead to. */
export interface RouteInfo {
  /** The path without a suffix. */
  readonly path: PathPattern
  /** The suffix of a path that has the one alone. */
  readonly suffix: string | undefined
  /** Whether it is about rows, and not about the collection: of a shallow resource others may do that. */
  readonly isMember: boolean
  /** The parameter that has the id of the row that the path is about; undefined: it has none. */
  readonly param: string | undefined
  /** Whether that stands at the end of the path, where it may have a suffix. */
  readonly endsWithId: boolean
  /** The methods that are served, as `Allow` names them. */
  readonly allow: string
  /** Whether the request's method is one of them. */
  readonly allowed: boolean
  /** Whether what it does is only read, and has no body: then there is less to look at. */
  readonly safe: boolean
  /** The parameters that the query may have. */
  readonly parameters: readonly string[]
  /** What the method asks for. */
  readonly action: string
  /** Whether the body of a form may ask for something else. */
  readonly formDecides: boolean
}

/** What finds out which action a payload asks for, and what then checks what it supplies. */
export interface PayloadHooks {
  readonly read: preValidationHookHandler
  readonly check: preValidationHookHandler
}

/** An action that a request may ask for. */
export interface RouteAction {
  readonly name: string
  readonly hooks: HookLists
  /** Whether it is the one that the request has asked for, as far as that is known. */
  isFor(asked: {
    readonly action: string | undefined
    readonly customAction: CompiledCustomAction | undefined
  }): boolean
}

/** Some methods of a path, and what they do there. */
export interface Service {
  readonly methods: readonly HTTPMethods[]
  /** What these ask for; a form may ask for each of them by a POST. The first is what the methods ask for themselves. */
  readonly actions: readonly [RouteAction, ...RouteAction[]]
  /** The parameters that the query may have: where a form may ask for one of several actions, those of each. */
  readonly parameters: readonly string[]
  /** How it is read and then checked; undefined: it has none. */
  readonly payload?: PayloadHooks
  readonly handler: RouteHandlerMethod
  /** The action of the app's own that it is for. */
  readonly customAction?: CompiledCustomAction
  /** What `app.paths` calls the path after it. @default as the path */
  readonly name?: string
  /** Whether it answers with a record, also with a blank one. */
  readonly document?: 'record' | 'blank'
  /** Left out of `Allow`, and of what is printed: there only because a form can do nothing else. */
  readonly formOnly?: boolean
}

/** A path without suffix. */
export interface Path {
  /** What `app.paths` calls it. */
  readonly name: string
  readonly pattern: PathPattern
  /** As the router takes it, without the prefix of the instance. */
  readonly url: string
  /** Whether it is about rows, and not about the collection. */
  readonly isMember: boolean
  /** The parameter that has the id of a row. */
  readonly param: string | undefined
  /** Whether that stands at its end. */
  readonly endsWithId: boolean
  readonly routeConstraints: NonNullable<RouteOptions['constraints']>
  readonly services: readonly Service[]
}

/** Where they stand, as the router takes it. */
export interface Urls {
  readonly prefix: string
  readonly collection: string
  readonly members: string
}
