import type { RouteOptions } from 'fastify'
import { InvalidOptionError } from '../../errors.js'
import type { AttributesSchema, Schema } from '../../schema/types.js'
import { checkOptionNames, checkText, checkThat, isFunction, show } from '../../util/check-option.js'
import { isObject } from '../../util/own-property.js'
import type { Handler } from '../../options/handler.js'
import { checkHooks, type HookLists, type Hooks, ACTION_HOOKS } from '../../options/hooks.js'
import { checkRouteConstraints, checkSegment, NAME } from '../../options/resolve/routing.js'
import type { RoutingOptions } from '../../options/options.js'

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The path that a custom action belongs to: `/posts/recent`, `/posts/1/publish`, `/posts/new/preview`. */
export type ActionScope = 'collection' | 'member' | 'new'

/** A custom action with its checked options. */
export interface CustomAction {
  readonly name: string
  readonly verb: Verb
  readonly on: ActionScope
  readonly segment: string
  readonly handler: Handler
  /** The schema of the payload, or `undefined` if the action takes the attributes of the resource. */
  readonly attributes: Schema | undefined
  readonly query: Schema | undefined
  readonly hooks: HookLists
  readonly routeConstraints: NonNullable<RouteOptions['constraints']>
  /** The text of the button or link: false for none, or `undefined` if it is made from the name. */
  readonly label: string | false | undefined
}

/** The options of a custom action. */
export interface ActionOptions<
  B extends AttributesSchema | undefined = AttributesSchema | undefined,
  Q extends AttributesSchema | undefined = AttributesSchema | undefined
> {
  /**
   * The schema of the attributes in the payload, which are validated like those of a create.
   * @default attributes of the resource, none of them required
   */
  readonly attributes?: B
  /** The schema of the query parameters. @default none */
  readonly query?: Q
  /** The segment of the path. @default its name */
  readonly path?: string
  /** The text of its button or link on pages; false for none. @default made from its name */
  readonly label?: string | false
  /** Hooks of Fastify, for this action alone. @default {} */
  readonly hooks?: Hooks
  /**
   * Fastify's route constraints. A request that does not meet them is routed as if the action did not exist, perhaps to
   * a row.
   * @default {}
   */
  readonly routeConstraints?: RoutingOptions['routeConstraints']
}

const OPTIONS: ReadonlyArray<keyof ActionOptions> =
  ['attributes', 'query', 'path', 'label', 'hooks', 'routeConstraints']

/**
 * Makes a custom action. Checks its options and fills in the defaults.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function makeAction (
  { name, verb, on }: Pick<CustomAction, 'name' | 'verb' | 'on'>,
  options: ActionOptions,
  handler: Handler | undefined
): CustomAction {
  checkText('name', name, NAME, "a name such as 'publish'")
  checkThat('handler', options, isObject, 'a function, or options and a function')
  checkOptionNames(options, OPTIONS)
  if (verb === 'GET' && options.attributes !== undefined) {
    throw new InvalidOptionError(
      'attributes',
      'cannot be given, because a GET has no body; declare its parameters by "query"'
    )
  }
  const { path = name, hooks = {}, routeConstraints = {} } = options
  return {
    name,
    verb,
    on,
    label: checkLabel('label', options.label),
    segment: checkSegment('path', path),
    handler: checkThat('handler', handler, isFunction<Handler>, 'a function'),
    attributes: checkSchema('attributes', options.attributes),
    query: checkSchema('query', options.query),
    hooks: checkHooks('hooks', hooks, ACTION_HOOKS),
    routeConstraints: checkRouteConstraints(routeConstraints)
  }
}

function checkLabel (option: string, label: unknown): CustomAction['label'] {
  if (label === undefined || label === false || typeof label === 'string') return label
  throw new InvalidOptionError(option, `must be a text or false, not ${show(label)}`)
}

function checkSchema (option: string, schema: unknown): Schema | undefined {
  if (schema === undefined || isObject(schema)) return schema
  throw new InvalidOptionError(option, "must be a JSON Schema { type: 'object', properties: { … } }")
}
