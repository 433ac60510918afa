import { isDeepStrictEqual } from 'node:util'
import type { Authorize } from '../actions/authorize/level.js'
import { makeAction } from '../actions/custom/custom-action.js'
import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import type { Declaration } from '../options/declaration.js'
import type { ActionContext } from '../options/handler.js'
import type { ResourceOptions } from '../options/options.js'
import { singularize } from '../resource/inflection.js'
import { isXmlName } from '../schema/legal-text.js'
import { memoryStore } from '../stores/memory.js'
import type { WriteOutcome } from '../stores/store.js'
import { checkThat, isFunction } from '../util/check-option.js'
import { asObject, ownMember } from '../util/own-property.js'

/** The schema of the time of a deletion. */
const DELETED_AT = { type: ['string', 'null'], format: 'date-time', readOnly: true } as const

/** The actions on deleted rows, as `authorize` knows them. */
const NAMES: ReadonlyMap<string, string> = new Map([['list', 'deleted'], ['delete', 'purge']])

/**
 * Adds a resource with the deleted rows beside each resource with the option `softDelete` that has an `authorize`. Both
 * have the same store.
 * @throws InvalidOptionError
 */
export function addDeleted (declarations: readonly Declaration[]): readonly Declaration[] {
  return declarations.flatMap((declaration) => {
    const children = addDeleted(declaration.children)
    const { options, options: { softDelete, authorize, name }, inherited: { guards } } = declaration
    if (softDelete === undefined) return [{ ...declaration, children }]
    return nameOwner(ownerOf(name), () => {
      checkDeclaration(declaration)
      if (authorize === undefined && guards.authorize.length === 0) return [declareLive({ ...declaration, children })]
      const shared = { ...declaration, children, options: shareStore(options) }
      return [declareLive(shared), declareDeleted(shared)]
    })
  })
}

/** @throws InvalidOptionError */
function checkDeclaration ({ options: { softDelete, attributes }, singleton }: Declaration): void {
  const refuse = (reason: string): never => { throw new InvalidOptionError('softDelete', reason) }
  const wanted = "the name of an attribute such as 'deletedAt'"
  const isName = (value: unknown): value is string => typeof value === 'string' && isXmlName(value) && value !== 'id'
  const attribute = checkThat('softDelete', softDelete, isName, wanted)
  if (singleton) refuse('cannot be given to a single record')
  const property = asObject(findDeclared(attributes, attribute))
  if (property === undefined) return
  const cure = `declare it as ${JSON.stringify(DELETED_AT)}, or leave it out of the attributes`
  if (property.readOnly !== true) refuse(`names "${attribute}", which clients can write; ${cure}`)
  const { title, description, ...schema } = property
  if (!isDeepStrictEqual(schema, DELETED_AT)) refuse(`names "${attribute}", which has another type; ${cure}`)
}

function findDeclared (attributes: unknown, name: string): unknown {
  return ownMember(asObject(asObject(attributes)?.properties) ?? {}, name)
}

/** Adds the scope of the rows that are not deleted, and declares the time of the deletion for tables. */
function declareLive (declaration: Declaration): Declaration {
  const { options, options: { attributes, scopeAttributes }, inherited, inherited: { guards } } = declaration
  const attribute = String(options.softDelete)
  const isDeclared = findDeclared(attributes, attribute) !== undefined
  return {
    ...declaration,
    options: isDeclared ? options : { ...options, scopeAttributes: { ...scopeAttributes, [attribute]: DELETED_AT } },
    inherited: { ...inherited, guards: { ...guards, scope: [...guards.scope, () => ({ [attribute]: null })] } }
  }
}

/** Gives a resource the store that it would get by default, so that another one can share it. */
function shareStore (options: ResourceOptions): ResourceOptions {
  const { unique = [], ...others } = options
  const { store, stores, id, softDelete } = others
  if (store !== undefined || stores !== undefined || id === 'string') return options
  return { ...others, store: memoryStore({ ...(id !== undefined && { id }), unique, softDelete }) }
}

/** Declares the resource with the deleted rows. */
function declareDeleted (declaration: Declaration): Declaration {
  const { options, inherited, inherited: { guards } } = declaration
  const { name, singular = singularize(name), path = name, table = name, authorize, as, stores, store } = options
  const attribute = String(options.softDelete)
  const { actions: _, actionHooks: __, except: ___, cacheControl, attributes, ...others } = options
  const restore = makeAction({ name: 'restore', verb: 'POST', on: 'member' }, { many: true }, restoreRow(attribute))
  return {
    ...declaration,
    options: {
      ...others,
      name: `deleted_${name}`,
      singular: `deleted_${singular}`,
      ...(as !== undefined && { as: `deleted_${as}` }),
      path: `${path}/deleted`,
      ...(store === undefined && stores !== undefined && { table }),
      ...(attributes !== undefined && { attributes: withTime(attributes, attribute) }),
      ...(authorize !== undefined && { authorize: askForDeleted(authorize, name) }),
      ...(typeof cacheControl === 'string' && { cacheControl }),
      // A row that is restored has no page here any more.
      only: ['list', 'delete'],
      // The buttons of its list need the path of many rows.
      writes: 'collection',
      // No GET has the version of a deleted row.
      requireMatch: false,
      formPages: false
    },
    inherited: {
      ...inherited,
      shallow: false,
      guards: { ...guards, authorize: guards.authorize.map((authorize) => askForDeleted(authorize, name)) }
    },
    customActions: [restore],
    children: [],
    live: { plural: name, singular, attribute }
  }
}

/** Adds the time of the deletion to a schema, unless it is declared. A schema that is none is refused later. */
function withTime (schema: NonNullable<ResourceOptions['attributes']>, attribute: string): typeof schema {
  const properties = asObject(schema.properties)
  return properties === undefined || Object.hasOwn(properties, attribute)
    ? schema
    : { ...schema, properties: { [attribute]: DELETED_AT, ...properties } }
}

/** Asks for the rights on deleted rows under their own names, so that no right on other rows includes them. */
function askForDeleted (given: unknown, resource: string): Authorize {
  const authorize = checkThat('authorize', given, isFunction<Authorize>, 'a function')
  return (request, context) =>
    authorize(request, { ...context, resource, action: NAMES.get(context.action) ?? context.action })
}

function restoreRow (attribute: string): (context: ActionContext) => Promise<WriteOutcome | { readonly kind: 'done' }> {
  return async (context) => {
    const { store, id, guard } = context
    const outcome = await store.update(id, { [attribute]: null }, guard, context)
    return outcome.ok ? { kind: 'done' } : outcome
  }
}
