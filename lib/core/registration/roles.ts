import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CompiledResource } from '../compiled-resource.js'
import { InvalidAnswerError, InvalidOptionError, ownerOf } from '../errors.js'
import { say } from '../messages.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import type { RoleOptions, Roles } from '../options/roles.js'
import type { Resource } from '../resource/resource.js'
import { compilePublicVersion } from '../resource/visible.js'
import { compileRowKeywords } from '../rules/keywords.js'
import { ROW_KEYWORDS, withoutRowKeywords } from '../schema/row-keywords.js'
import type { Property } from '../schema/shape.js'
import type { Validation } from '../schema/validation/validation.js'
import type { Validators } from '../schema/validation/validators.js'
import { show } from '../util/check-option.js'
import { isPromise } from '../util/maybe-promise.js'
import { didYouMean } from '../util/words.js'

/** What some roles together lack. */
export interface Lack {
  readonly hidden: ReadonlySet<string>
  readonly readOnly: ReadonlySet<string>
}

/** What each role of a resource lacks. */
export class RoleLacks {
  readonly #roles: Roles
  readonly byRole: ReadonlyMap<string, Lack>
  readonly #attributes: readonly string[]

  /** @throws InvalidOptionError if a role names an unknown attribute, or cannot have what it lacks */
  constructor (roles: Roles, resource: Resource, options: ResolvedOptions, isShallow: boolean) {
    if (resource.open) throw new InvalidOptionError('roles', 'needs "attributes", whose names it can tell apart')
    this.#roles = roles
    this.#attributes = [...resource.attributes.keys()]
    this.byRole = new Map([...roles.declared].map(([role, declared]) =>
      [role, checkLack(role, findLack(role, declared, this.#attributes), { resource, options, isShallow })]))
  }

  /** The lack of a request whose role is not known. */
  get ofNobody (): Lack {
    return { hidden: new Set(this.#attributes), readOnly: new Set() }
  }

  /** The attributes that at least one role does not see. */
  get hidden (): ReadonlySet<string> {
    return new Set([...this.byRole.values()].flatMap(({ hidden }) => [...hidden]))
  }

  /**
   * Returns what the roles of a request lack, which is what each of them lacks.
   * @throws InvalidAnswerError if a role is unknown
   */
  find (request: FastifyRequest): Lack {
    const given: unknown = this.#roles.find(request)
    if (isPromise(given)) given.then(undefined, () => {})
    const lacks = [given].flat().map((role) => typeof role === 'string' ? this.byRole.get(role) : undefined)
    const [first, ...others] = lacks.filter((lack) => lack !== undefined)
    if (first === undefined || lacks.includes(undefined)) {
      const known = [...this.byRole.keys()].map((role) => `'${role}'`).join(', ')
      throw new InvalidAnswerError('role', `has returned ${describe(given)}; return one or several of ${known}`)
    }
    return others.length === 0 ? first : this.#join([first, ...others])
  }

  #join (lacks: readonly Lack[]): Lack {
    const hidden = this.#attributes.filter((name) => lacks.every((lack) => lack.hidden.has(name)))
    const readOnly = this.#attributes.filter((name) => !hidden.includes(name) &&
      lacks.every((lack) => lack.hidden.has(name) || lack.readOnly.has(name)))
    return { hidden: new Set(hidden), readOnly: new Set(readOnly) }
  }
}

function describe (given: unknown): string {
  if (Array.isArray(given)) return `[${given.map(show).join(', ')}]`
  return isPromise(given) ? 'a promise, which is not awaited' : show(given)
}

/** @throws InvalidOptionError if a name is unknown, or stands in two lists that exclude each other */
function findLack (
  role: string,
  { hidden, visible, readOnly = [] }: RoleOptions,
  known: readonly string[]
): Lack {
  const refuse = (reason: string): never => { throw new InvalidOptionError('roles', `has "${role}", ${reason}`) }
  if (hidden !== undefined && visible !== undefined) {
    refuse('which has "hidden" and "visible"; "visible" names all that it sees, so give one of them')
  }
  for (const name of [...hidden ?? [], ...visible ?? [], ...readOnly]) {
    if (!known.includes(name)) {
      refuse(`which names "${name}", which is not among the attributes declared${didYouMean(name, known)}`)
    }
  }
  const lacked = visible === undefined ? hidden ?? [] : known.filter((name) => !visible.includes(name))
  const twice = readOnly.find((name) => lacked.includes(name))
  if (twice !== undefined) refuse(`which has "${twice}" in "readOnly", but does not see it`)
  return { hidden: new Set(lacked), readOnly: new Set(readOnly) }
}

interface LackingResource {
  readonly resource: Resource
  readonly options: ResolvedOptions
  readonly isShallow: boolean
}

/** @throws InvalidOptionError if paths show what is hidden, or creates lack what they need */
function checkLack (role: string, lack: Lack, { resource, options, isShallow }: LackingResource): Lack {
  const { key, foreignKey, actions } = resource
  const refuse = (reason: string): never => { throw new InvalidOptionError('roles', `has "${role}", ${reason}`) }
  const inPath = [...key, ...(isShallow && foreignKey !== undefined ? [foreignKey] : [])]
    .find((name) => lack.hidden.has(name))
  if (inPath !== undefined) {
    refuse(`which does not see "${inPath}", but the paths of rows tell its value; let it see that`)
  }
  const { authorize, scope, handlers } = options.routing
  // `authorize` may refuse the create, and `scope` may give what is missing. Then the create decides.
  if (!actions.has('create') || authorize.length > 0 || scope.length > 0 || handlers.has('create')) return lack
  const [needed] = findUngiven(resource, lack)
  if (needed !== undefined) {
    refuse(`which may create, but cannot give "${needed.name}", which is required; give it a default, let the role ` +
      'write it, or refuse its creates by "authorize"')
  }
  return lack
}

/** Returns the attributes that a create must have, and these roles cannot give. */
function findUngiven ({ attributes }: Resource, { hidden, readOnly }: Lack): readonly Property[] {
  return [...attributes.values()].filter(({ name, required, schema, readOnly: isFixed }) =>
    required && !isFixed && schema.default === undefined && (hidden.has(name) || readOnly.has(name)))
}

/** Returns a resource without the attributes that some roles do not see. They ignore those that they cannot write. */
export function narrowResource (
  resource: Resource,
  { hidden, readOnly }: Lack,
  { versions, attributes: stored }: ResolvedOptions['store']
): Resource {
  const fix = (property: Property): Property =>
    ({ ...property, readOnly: true, schema: { ...property.schema, readOnly: true } })
  const attributes = new Map([...resource.attributes].flatMap(([name, property]): Array<[string, Property]> =>
    hidden.has(name) ? [] : [[name, readOnly.has(name) ? fix(property) : property]]))
  const { schema } = resource
  const narrowed: Resource = {
    ...resource,
    attributes,
    hidden: new Set([...resource.hidden, ...hidden]),
    schema: {
      ...schema,
      properties: Object.fromEntries([...attributes].map(([name, { schema }]) => [name, schema])),
      required: [...attributes.values()].filter(({ required }) => required).map(({ name }) => name)
    }
  }
  const publicVersion = versions === 'values' ? compilePublicVersion(narrowed, stored) : undefined
  return Object.freeze({ ...narrowed, publicVersion })
}

/** Returns the options of a resource without the names of hidden attributes. Its rules are those of all attributes. */
export function narrowOptions (options: ResolvedOptions, { hidden }: Lack): ResolvedOptions {
  const narrow = (names: readonly string[] | undefined): readonly string[] | undefined =>
    names?.filter((name) => !hidden.has(name))
  const { sort, filter, search } = options
  return Object.freeze({
    ...options,
    sort: narrow(sort),
    filter: narrow(filter),
    search: narrow(search)
  })
}

/** The keywords that work together. */
const CONDITION = ['if', 'then', 'else'] as const

/**
 * Warns of keywords and unique groups that join what a role sees with what it does not: their refusals tell one bit
 * about that.
 */
export function warnOfJoins (
  { log }: FastifyInstance,
  { byRole }: RoleLacks,
  { resource, options, validators }: Pick<LackingResource, 'resource' | 'options'> & { readonly validators: Validators }
): void {
  const { rowSchema = {}, store, unique } = options
  const others = ROW_KEYWORDS.filter((name) => !CONDITION.some((one) => one === name))
  const own = withoutRowKeywords(rowSchema)
  const all = [CONDITION, ...others.map((name) => [name] as const)]
  const rules = all.flatMap((names): Array<[string, Iterable<string>]> => {
    const [first] = names
    if (rowSchema[first] === undefined) return []
    const rule = { ...own, ...Object.fromEntries(names.map((name) => [name, rowSchema[name]])) }
    const { reads = resource.attributes.keys() } = compileRowKeywords(resource, rule, validators)
    return [[`the keyword "${first}"`, reads]]
  })
  const groups = (store.unique ?? unique).map((group): [string, Iterable<string>] => ['"unique"', [group].flat()])
  for (const [what, read] of [...rules, ...groups]) {
    const names = [...read]
    for (const [role, { hidden }] of byRole) {
      const unseen = names.filter((name) => hidden.has(name))
      if (unseen.length === 0 || unseen.length === names.length) continue
      log.warn(`${ownerOf(resource.plural)}: ${what} joins attributes that the role "${role}" sees with ` +
        `${unseen.map((name) => `"${name}"`).join(', ')}, so its refusals tell something about these`)
    }
  }
}

/** The resource of which another one is a variant, and what that lacks. */
export interface VariantOf {
  readonly whole: CompiledResource
  readonly lack: Lack
}

/**
 * Lets creates give what their roles cannot: the defaults of hidden attributes. A required attribute that neither they
 * nor `scope` give is a fault.
 */
export function completeCreates (
  validation: Validation,
  variantOf: VariantOf | undefined,
  { routing: { handlers } }: Pick<ResolvedOptions, 'routing'>
): Validation {
  if (variantOf === undefined) return validation
  const { whole: { resource }, lack } = variantOf
  // A handler of the app may give them.
  const needed = handlers.has('create') ? [] : findUngiven(resource, lack).map(({ name }) => name)
  const defaults = [...resource.attributes.values()].filter(({ name, schema }) =>
    lack.hidden.has(name) && schema.default !== undefined)
  return {
    ...validation,
    lacks: (supplied) => needed.length > 0 || validation.lacks(supplied),
    create (supplied, issues, given = {}) {
      for (const name of needed) if (!Object.hasOwn(given, name)) issues.add(name, say('mustBeGiven'))
      validation.create(supplied, issues, given)
      for (const { name, schema } of defaults) supplied[name] = structuredClone(schema.default)
    }
  }
}
