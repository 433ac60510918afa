import type { RouteOptions } from 'fastify'
import { InvalidOptionError, UnknownOptionError } from '../errors.js'
import type { Schema } from '../schema/types.js'
import { show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'
import { isObject } from '../util/own-property.js'
import type { Handler } from './handler.js'
import { checkHooks, type HookLists, OF_ACTIONS } from './hooks.js'
import type { ActionOptions } from './mapper.js'
import { checkRouteConstraints, checkSegment, type OptionTable, orName, readOptions } from './resolve-routing.js'

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
