import { InvalidOptionError, nameOwner, ownerOf } from '../core/errors.js'
import { checkBoolean, show } from '../core/util/check-option.js'
import { didYouMean } from '../core/util/words.js'
import { isPromise } from '../core/util/maybe-promise.js'
import { isObject } from '../core/util/own-property.js'
import {
  type ActionOptions, type ActionScope, type CustomAction, makeAction, type Verb
} from '../core/actions/custom/custom-action.js'
import {
  type Declaration,
  extendInherited,
  type InheritedOptions,
  mergeOptions,
  NO_INHERITED_OPTIONS
} from '../core/options/declaration.js'
import type { Handler } from '../core/options/handler.js'
import type { NestedOptions, ResourceOptions, ScopeOptions } from '../core/options/options.js'
import { checkAs, REGISTER_OPTIONS } from '../core/options/resolve/routing.js'

type MapVerb<M> = (name: string, options: ActionOptions | Handler, handler?: Handler) => M

/** Implements `ActionMapper`. */
type ActionBuilder<M> = Readonly<Record<'get' | 'post' | 'put' | 'patch' | 'delete', MapVerb<M>>>

/** Makes the methods that declare the custom actions below one path. Each adds an action, and returns the map. */
function buildActions<M> (
  map: M,
  on: ActionScope,
  owner: () => string,
  add: (action: CustomAction) => void
): ActionBuilder<M> {
  const declare = (verb: Verb): MapVerb<M> => (name, options, handler) => {
    add(nameOwner(`action "${String(name)}" of ${owner()}`, () => {
      // Options after the handler would be ignored silently, together with a hook that guards the action.
      if (typeof options === 'function' && handler !== undefined) {
        throw new InvalidOptionError('handler', 'must be the last argument, after the options')
      }
      const given = typeof options === 'function' ? [{}, options] as const : [options, handler] as const
      return makeAction({ verb, on, name }, ...given)
    }))
    return map
  }
  return {
    get: declare('GET'),
    post: declare('POST'),
    put: declare('PUT'),
    patch: declare('PATCH'),
    delete: declare('DELETE')
  }
}

/** The state that all builders of one map share. */
interface Drawing {
  isOver: boolean
  /** The concerns that are being drawn, the outermost first. */
  readonly concerns: string[]
}

/** The limit of how often a concern may draw itself within itself. */
const DEEPEST = 100

type GivenOptions = Omit<ResourceOptions, 'name'> & NestedOptions
type DrawFunction<M> = (map: M) => unknown

/** Implements `Mapper`. */
export class MapBuilder {
  readonly #inherited: InheritedOptions
  readonly #declarations: Declaration[]
  readonly #concerns: Map<string, DrawFunction<MapBuilder>>
  readonly #drawing: Drawing

  constructor (
    inherited: InheritedOptions = NO_INHERITED_OPTIONS,
    declarations: Declaration[] = [],
    concerns: Map<string, DrawFunction<MapBuilder>> = new Map(),
    drawing: Drawing = { isOver: false, concerns: [] }
  ) {
    this.#inherited = inherited
    this.#declarations = declarations
    this.#concerns = concerns
    this.#drawing = drawing
  }

  get declarations (): readonly Declaration[] {
    return this.#declarations
  }

  end (): void {
    this.#drawing.isOver = true
  }

  /**
   * Checks that registration has not read the map yet.
   * @throws InvalidOptionError
   */
  protected checkOpen (name: unknown): void {
    if (this.#drawing.isOver) {
      throw new InvalidOptionError(
        'draw',
        `has ended already, so "${String(name)}" cannot be declared; declare it before the function returns`
      )
    }
  }

  resources (
    names: string | readonly string[],
    options: GivenOptions = {},
    draw?: DrawFunction<ResourceBuilder>
  ): this {
    if (Array.isArray(names) && names.length === 0) {
      throw new InvalidOptionError('name', 'must be a name, or a list with at least one name')
    }
    for (const name of Array.isArray(names) ? names : [names]) this.#declare(name, options, draw, false)
    return this
  }

  resource (
    name: string,
    options: GivenOptions = {},
    draw?: DrawFunction<ResourceBuilder>
  ): this {
    this.#declare(name, options, draw, true)
    return this
  }

  namespace (
    name: string,
    ...given: [draw: DrawFunction<MapBuilder>] | [options: ScopeOptions, draw: DrawFunction<MapBuilder>]
  ): this {
    const [options, draw]: readonly [ScopeOptions, DrawFunction<MapBuilder>] =
      given.length === 1 ? [{}, given[0]] : given
    checkGiven(name, options)
    return this.scope({ path: name, as: checkAs('as', name), ...options }, draw)
  }

  scope (options: ScopeOptions, draw: DrawFunction<MapBuilder>): this {
    checkGiven('scope', options)
    const inherited = nameOwner('a scope', () => extendInherited(this.#inherited, options))
    drawOn('scope', draw, new MapBuilder(inherited, this.#declarations, this.#concerns, this.#drawing))
    return this
  }

  concern (name: string, draw: DrawFunction<MapBuilder>): this {
    if (typeof draw !== 'function') {
      throw new InvalidOptionError('concern', `"${name}" must be a function, not ${show(draw)}`)
    }
    this.#concerns.set(name, draw)
    return this
  }

  concerns (...names: readonly string[]): this {
    for (const name of names) {
      const draw = this.#concerns.get(name)
      if (draw === undefined) {
        const cure = didYouMean(name, [...this.#concerns.keys()])
        throw new InvalidOptionError('concerns', `names "${name}", which is not declared before this call${cure}`)
      }
      const { concerns } = this.#drawing
      if (concerns.filter((other) => other === name).length >= DEEPEST) {
        throw new InvalidOptionError('concerns', `names "${name}", which includes itself without end`)
      }
      concerns.push(name)
      drawOn(name, draw, this)
      concerns.pop()
    }
    return this
  }

  #declare (
    name: string,
    given: GivenOptions,
    draw: DrawFunction<ResourceBuilder> | undefined,
    singleton: boolean
  ): void {
    this.checkOpen(name)
    const owner = ownerOf(name)
    checkGiven(name, given)
    const { options, inherited } = nameOwner(owner, () => this.#resolve(given))
    // The resource's own path and names already begin with those of its scopes.
    const inner = new ResourceBuilder({ ...inherited, path: [], as: [] }, [], new Map(this.#concerns), this.#drawing)
    inner.owner = owner
    if (draw !== undefined) drawOn(name, draw, inner)
    this.#declarations.push({
      options: { ...options, name },
      singleton,
      inherited,
      customActions: inner.own,
      children: inner.declarations
    })
  }

  #resolve ({ shallow, ...options }: GivenOptions): {
    readonly options: Partial<ResourceOptions>
    readonly inherited: InheritedOptions
  } {
    const own = REGISTER_OPTIONS.find((option) => Object.hasOwn(options, option))
    if (own !== undefined) {
      const cure = "here, scope({ path: 'admin' }, …) puts a path before the paths of resources"
      throw new InvalidOptionError(own, `is an option of app.register; ${cure}`)
    }
    const inherited =
      shallow === undefined ? this.#inherited : { ...this.#inherited, shallow: checkBoolean('shallow', shallow) }
    return { options: mergeOptions(inherited.shared, options), inherited }
  }
}

/** Implements `ResourceMapper`. */
class ResourceBuilder extends MapBuilder {
  owner = ''
  readonly own: CustomAction[] = []
  readonly collection: ActionBuilder<this> = this.#actions('collection')
  readonly member: ActionBuilder<this> = this.#actions('member')
  readonly new: ActionBuilder<this> = this.#actions('new')

  #actions (on: ActionScope): ActionBuilder<this> {
    return buildActions(this, on, () => this.owner, (action) => {
      this.checkOpen(action.name)
      this.own.push(action)
    })
  }
}

/**
 * Checks that options are an object. A non-object would be ignored silently, together with the hooks or `authorize`
 * that it was meant to carry.
 * @throws InvalidOptionError
 */
function checkGiven (name: unknown, options: unknown): void {
  if (isObject(options)) return
  throw new InvalidOptionError(
    String(name),
    `must be followed by options such as { formats: ['json'] }, not ${show(options)}`
  )
}

/**
 * Calls a function that draws. It must not return a promise, because registration reads the map at once.
 * @throws InvalidOptionError
 */
export function drawOn<M> (name: unknown, draw: unknown, map: M): void {
  if (typeof draw !== 'function') {
    const wanted = 'a function that declares resources'
    throw new InvalidOptionError(String(name), `must be followed by ${wanted}, not ${show(draw)}`)
  }
  if (!isPromise(draw(map))) return
  throw new InvalidOptionError(
    String(name),
    'must be followed by a function that is not async: declare all resources before it returns'
  )
}
