import type { RouteOptions } from 'fastify'
import { InvalidOptionError, UnknownOptionError } from '../errors.js'
import type { AttributesSchema, Schema } from '../schema/types.js'
import { show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'
import { isObject } from '../util/own-property.js'
import type { Handler } from './handler.js'
import { checkHooks, type HookLists, type Hooks, OF_ACTIONS } from './hooks.js'
import { checkRouteConstraints, checkSegment, type OptionTable, orName, readOptions } from './resolve-routing.js'
import type { RoutingOptions } from './routing-options.js'

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Where an action of the app's own stands: `/posts/recent`, `/posts/1/publish`, `/posts/new/preview`. */
export type ActionScope = 'collection' | 'member' | 'new'

/** An action of the app's own: checked, complete. */
export interface CustomAction {
  readonly name: string
  readonly verb: Verb
  readonly on: ActionScope
  readonly segment: string
  readonly handler: Handler
  /** The schema of what may be supplied; undefined: attributes of the resource. */
  readonly attributes: Schema | undefined
  /** The schema of the parameters of the query. */
  readonly query: Schema | undefined
  readonly hooks: HookLists
  readonly routeConstraints: NonNullable<RouteOptions['constraints']>
  /** What the button or the link says; undefined: made of the name. False: pages have none. */
  readonly label: string | false | undefined
}

/** What an app may say of an action of its own. */
export interface ActionOptions<
  B extends AttributesSchema | undefined = AttributesSchema | undefined,
  Q extends AttributesSchema | undefined = AttributesSchema | undefined
> {
  /**
   * The schema of what may be supplied in the group, all of it checked as for a create.
   * @default attributes of the resource, none of them required
   */
  readonly attributes?: B
  /** The schema of the parameters that the query may have. @default none */
  readonly query?: Q
  /** The segment of the path. @default its name */
  readonly path?: string
  /** What pages call it; false: they have no button or link for it. @default made of its name */
  readonly label?: string | false
  /** Hooks of Fastify, for this action alone. @default {} */
  readonly hooks?: Hooks
  /**
   * Fastify's route constraints; where they are not met, the path is what it would be without the action: perhaps a
   * row's.
   * @default {}
   */
  readonly routeConstraints?: RoutingOptions['routeConstraints']
}

const OPTIONS = {
  attributes: [checkSchema],
  query: [checkSchema],
  path: [orName(checkSegment)],
  label: [checkLabel],
  hooks: [(option: string, hooks: unknown) => checkHooks(option, hooks, OF_ACTIONS), {}],
  routeConstraints: [checkRouteConstraints, {}]
} as const satisfies OptionTable<keyof ActionOptions>

/** @throws InvalidOptionError, UnknownOptionError */
export function makeAction (
  { name, verb, on }: Pick<CustomAction, 'name' | 'verb' | 'on'>,
  options: ActionOptions,
  handler: Handler | undefined
): CustomAction {
  if (typeof name !== 'string' || !/^[A-Za-z_][\w-]*$/.test(name)) {
    throw new InvalidOptionError('name', `must be a name such as 'publish', not ${show(name)}`)
  }
  if (!isObject(options)) {
    throw new InvalidOptionError('handler', `must be a function, perhaps after options, not ${show(options)}`)
  }
  const known = Object.keys(OPTIONS)
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw new UnknownOptionError(key, didYouMean(key, known))
  }
  if (typeof handler !== 'function') throw new InvalidOptionError('handler', `must be a function, not ${show(handler)}`)
  if (verb === 'GET' && options.attributes !== undefined) {
    throw new InvalidOptionError(
      'attributes',
      'cannot be given: a GET has no body. Its parameters are declared by "query"'
    )
  }
  const read = readOptions(OPTIONS, options)
  return {
    name,
    verb,
    on,
    label: read('label'),
    segment: read('path', name),
    handler,
    attributes: read('attributes'),
    query: read('query'),
    hooks: read('hooks'),
    routeConstraints: read('routeConstraints')
  }
}

function checkLabel (option: string, label: unknown): CustomAction['label'] {
  if (label === undefined || label === false || typeof label === 'string') return label
  throw new InvalidOptionError(option, `must be a text or false, not ${show(label)}`)
}

function checkSchema (option: string, schema: unknown): Schema | undefined {
  if (schema !== undefined && !isObject(schema)) {
    throw new InvalidOptionError(option, "must be a JSON Schema { type: 'object', properties: { … } }")
  }
  return schema
}
