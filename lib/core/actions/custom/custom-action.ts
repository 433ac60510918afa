import type { RouteOptions } from 'fastify'
import { InvalidOptionError } from '../../errors.js'
import type { AttributesSchema, Schema } from '../../schema/types.js'
import { checkBoolean, checkOptionNames, checkText, checkThat, isFunction, show } from '../../util/check-option.js'
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
  /** Whether a request may name several rows. */
  readonly many: boolean
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
  /**
   * Whether `POST /posts/publish` performs the action of a row on several rows, `{"id":[1,2]}`, in one transaction. The
   * handler runs once for each row. @default false
   */
  readonly many?: boolean
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
  ['attributes', 'query', 'path', 'label', 'many', 'hooks', 'routeConstraints']

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
  const { path = name, many = false, hooks = {}, routeConstraints = {} } = options
  if (checkBoolean('many', many) && (on !== 'member' || verb === 'GET')) {
    throw new InvalidOptionError('many', 'belongs to an action of a row that is not a GET; leave it out')
  }
  return {
    name,
    verb,
    on,
    many,
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
