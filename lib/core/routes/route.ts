import type { HTTPMethods, preValidationHookHandler, RouteHandlerMethod, RouteOptions } from 'fastify'
import type { NamedPath } from './path-helpers.js'
import type { PathPattern } from '../resource/path-pattern.js'
import type { Property } from '../schema/shape.js'
import type { HookLists } from '../options/hooks.js'
import type { BodyFormat, CompiledCustomAction } from '../compiled-resource.js'

/** A path of a resource, without a suffix. */
export interface RoutePath extends NamedPath {
  /** The name of its resource. */
  readonly resource: string
  /** The path for the router, without the prefix of the instance. */
  readonly url: string
  /** Whether it is about rows, not about the collection. A shallow resource has different access checks for them. */
  readonly isMember: boolean
  /** The path parameter that has the id of the row, or `undefined` if there is none. */
  readonly param: string | undefined
  /** Whether it exists only for pages, so that no suffix names another format. @default false */
  readonly isPage?: boolean
  readonly routeConstraints: NonNullable<RouteOptions['constraints']>
  readonly routes: readonly [Route, ...Route[]]
}

/** Methods of a path that share a handler. */
export interface Route {
  readonly methods: readonly HTTPMethods[]
  /** The actions of the route. The methods ask for the first one; a form may ask for each of them by a POST. */
  readonly actions: readonly [RouteAction, ...RouteAction[]]
  /** The query parameters that the route accepts. If a form may ask for several actions, those of each action. */
  readonly parameters: readonly string[]
  /** Finds the action that a payload asks for, and reads the payload; `undefined` if requests have none. */
  readonly readPayload?: preValidationHookHandler
  readonly handler: RouteHandlerMethod
  readonly customAction?: CompiledCustomAction
  /** The name of the path in `app.paths`. @default the name of the path itself */
  readonly name?: string
  /** Whether it exists only because a form can only POST. `Allow` and the printed routes leave it out. */
  readonly formOnly?: boolean
  /** Whether it serves the method QUERY, whose requests have their query in the body (RFC 10008). @default false */
  readonly hasQueryBody?: boolean
  /** Whether its PATCH may have a merge patch. @default false */
  readonly mergesPatches?: boolean
  /** Whether it sends bytes of a type of their own, whatever `Accept` names. @default false */
  readonly sendsBytes?: boolean
  /** The form that its requests have instead of the bodies of the resource. */
  readonly form?: { readonly body: BodyFormat }
  /** The size of its largest body, in bytes. @default the limit of the app */
  readonly bodyLimit?: number | undefined
}

/** An action that a request may ask for. */
export interface RouteAction {
  readonly name: string
  readonly hooks: HookLists
  /** Returns whether a request asks for this action, as far as that is known. */
  isFor(asked: {
    readonly action: string | undefined
    readonly customAction: CompiledCustomAction | undefined
  }): boolean
}

/** The facts about a route that its requests need. */
export interface RouteInfo extends Pick<RoutePath, 'isMember' | 'param' | 'endsWithId'>, Pick<Route, 'parameters'> {
  /** The route itself. */
  readonly declared: Route
  /** The path without a suffix. */
  readonly path: PathPattern
  /** The only suffix of the URL; `undefined` if the URL has none, or has a parameter for several. */
  readonly suffix: string | undefined
  /** The methods that are served, as `Allow` names them. */
  readonly allow: string
  /** Whether the request's method is one of them. */
  readonly allowed: boolean
  /** Whether the route only reads. Its requests have no payload, so they need fewer checks. */
  readonly safe: boolean
  /** Whether requests have their query in the body. */
  readonly hasQueryBody: boolean
  /** Whether a PATCH may have a merge patch. */
  readonly mergesPatches: boolean
  /** Whether it sends bytes of a type of their own, whatever `Accept` names. */
  readonly sendsBytes: boolean
  /** The only format that bodies may have; `undefined` for those of the resource. */
  readonly form: BodyFormat | undefined
  /** Whether requests may have many rows. A singleton has none. */
  readonly takesLists: boolean
  /** The action that the method asks for. */
  readonly action: string
  /** Whether the body of a form may ask for another action. */
  readonly formDecides: boolean
}

/** The paths of a resource in the router's syntax. All but the first are without the prefix of the instance. */
export interface Urls {
  readonly prefix: string
  readonly collection: string
  /** The path before the ids of rows. It differs from `collection` only for shallow rows. */
  readonly members: string
  /** The path of a row, or of the singleton. */
  readonly row: string
  readonly isShallow: boolean
  /** The attributes whose bytes have paths of their own. */
  readonly files: readonly Property[]
  /** The size of the largest body of a write, in bytes. @default the limit of the app */
  readonly bodyLimit: number | undefined
}
