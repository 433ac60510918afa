import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import { checkBoolean, show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'
import { isPromise } from '../util/maybe-promise.js'
import { isObject } from '../util/own-property.js'
import { type ActionOptions, type ActionScope, type CustomAction, makeAction, type Verb } from './custom-action.js'
import { type Declaration, type InheritedOptions, narrow, OUTERMOST, share } from './declaration.js'
import type { Handler } from './handler.js'
import type { NestedOptions, ScopeOptions } from './mapper.js'
import type { ResourceOptions } from './options.js'
import { checkAs, OF_REGISTER } from './resolve-routing.js'

/** What `ActionMapper` is for the compiler. */
export class ActionBuilder<M> {
  readonly #mapper: M
  readonly #on: ActionScope
  readonly #owner: () => string
  readonly #add: (action: CustomAction) => void

  /** @param owner the resource, as errors name it */
  constructor (mapper: M, on: ActionScope, owner: () => string, add: (action: CustomAction) => void) {
    this.#mapper = mapper
    this.#on = on
    this.#owner = owner
    this.#add = add
  }

  get (name: string, options: ActionOptions | Handler, handler?: Handler): M {
    return this.#map('GET', name, options, handler)
  }

  post (name: string, options: ActionOptions | Handler, handler?: Handler): M {
    return this.#map('POST', name, options, handler)
  }

  put (name: string, options: ActionOptions | Handler, handler?: Handler): M {
    return this.#map('PUT', name, options, handler)
  }

  patch (name: string, options: ActionOptions | Handler, handler?: Handler): M {
    return this.#map('PATCH', name, options, handler)
  }

  delete (name: string, options: ActionOptions | Handler, handler?: Handler): M {
    return this.#map('DELETE', name, options, handler)
  }

  #map (verb: Verb, name: string, options: ActionOptions | Handler, handler: Handler | undefined): M {
    this.#add(
      nameOwner(`action "${String(name)}" of ${this.#owner()}`, () => {
        // A hook that guards the action would be passed over.
        if (typeof options === 'function' && handler !== undefined) {
          throw new InvalidOptionError('handler', 'must be the last argument: options stand before it')
        }
        return typeof options === 'function'
          ? makeAction({ verb, on: this.#on, name }, {}, options)
          : makeAction({ verb, on: this.#on, name }, options, handler)
      })
    )
    return this.#mapper
  }
}

/** What all have in common that are drawn on in one map. */
interface Drawing {
  isOver: boolean
  /** The concerns that are being drawn, each in the one before it. */
  readonly concerns: string[]
}

/** So often may a concern be drawn within itself: no map is as deep that ends. */
const DEEPEST = 100

/** What `Mapper` is for the compiler. */
export class MapBuilder {
  readonly #inherited: InheritedOptions
  readonly #declarations: Declaration[]
  readonly #concerns: Map<string, (map: MapBuilder) => unknown>
  readonly #drawing: Drawing

  constructor (
    inherited: InheritedOptions = OUTERMOST,
    declarations: Declaration[] = [],
    concerns: Map<string, (map: MapBuilder) => unknown> = new Map(),
    drawing: Drawing = { isOver: false, concerns: [] }
  ) {
    this.#inherited = inherited
    this.#declarations = declarations
    this.#concerns = concerns
    this.#drawing = drawing
  }

  /** What has been declared. */
  get declarations (): readonly Declaration[] {
    return this.#declarations
  }

  /** Lets nothing be declared any more. */
  end (): void {
    this.#drawing.isOver = true
  }

  /** @throws InvalidOptionError where it would never be there */
  protected checkOpen (name: unknown): void {
    if (this.#drawing.isOver) {
      throw new InvalidOptionError(
        'draw',
        `has come to its end, and "${String(name)}" is declared after it: it must be drawn at once`
      )
    }
  }

  /**
   * One resource, or several that have the same options.
   * @throws InvalidOptionError, UnknownOptionError
   */
  resources (
    names: string | readonly string[],
    options: Omit<ResourceOptions, 'name'> & NestedOptions = {},
    draw?: (resource: ResourceBuilder) => unknown
  ): this {
    if (Array.isArray(names) && names.length === 0) {
      throw new InvalidOptionError('name', 'must be a name, or a list of them that is not empty')
    }
    for (const name of Array.isArray(names) ? names : [names]) this.#declare(name, options, draw, false)
    return this
  }

  /**
   * A resource of which there is but one (in the scope of its parent, or of the option `scope`): it has no list and no
   * id.
   */
  resource (
    name: string,
    options: Omit<ResourceOptions, 'name'> & NestedOptions = {},
    draw?: (resource: ResourceBuilder) => unknown
  ): this {
    this.#declare(name, options, draw, true)
    return this
  }

  /** A scope whose path and names begin with the name. */
  namespace (
    name: string,
    ...given: [draw: (map: MapBuilder) => unknown] | [options: ScopeOptions, draw: (map: MapBuilder) => unknown]
  ): this {
    const [options, draw]: readonly [ScopeOptions, (map: MapBuilder) => unknown] =
      given.length === 1 ? [{}, given[0]] : given
    checkObject(name, options)
    return this.scope({ path: name, as: checkAs('as', name), ...options }, draw)
  }

  /** Options that all that is declared in it has; hooks and guards of both the scope and the resource are asked. */
  scope (options: ScopeOptions, draw: (map: MapBuilder) => unknown): this {
    checkObject('scope', options)
    const inherited = nameOwner('a scope', () => narrow(this.#inherited, options))
    drawOn('scope', draw, new MapBuilder(inherited, this.#declarations, this.#concerns, this.#drawing))
    return this
  }

  /** Remembers a part of the map by a name. */
  concern (name: string, draw: (map: MapBuilder) => unknown): this {
    if (typeof draw !== 'function') {
      throw new InvalidOptionError('concern', `"${name}" must be a function, not ${show(draw)}`)
    }
    this.#concerns.set(name, draw)
    return this
  }

  /** Draws parts that have been remembered. */
  concerns (...names: readonly string[]): this {
    for (const name of names) {
      const draw = this.#concerns.get(name)
      if (draw === undefined) {
        const cure = didYouMean(name, [...this.#concerns.keys()])
        throw new InvalidOptionError('concerns', `names "${name}", which is none of those declared before${cure}`)
      }
      const { concerns } = this.#drawing
      if (concerns.filter((other) => other === name).length >= DEEPEST) {
        throw new InvalidOptionError('concerns', `names "${name}", which draws itself without an end`)
      }
      concerns.push(name)
      drawOn(name, draw, this)
      concerns.pop()
    }
    return this
  }

  #declare (
    name: string,
    given: Omit<ResourceOptions, 'name'> & NestedOptions,
    draw: ((resource: ResourceBuilder) => unknown) | undefined,
    singleton: boolean
  ): void {
    this.checkOpen(name)
    const owner = ownerOf(name)
    checkObject(name, given)
    const { options, inherited } = nameOwner(owner, () => this.#resolve(given))
    // What a scope gives to all in it reaches what is nested; its path and its name are in those of the resource
    // already.
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

  #resolve ({ shallow, ...options }: Omit<ResourceOptions, 'name'> & NestedOptions): {
    readonly options: Partial<ResourceOptions>
    readonly inherited: InheritedOptions
  } {
    const own = OF_REGISTER.find((option) => Object.hasOwn(options, option))
    if (own !== undefined) {
      throw new InvalidOptionError(own, "belongs to app.register; scope({ path: 'admin' }, …) gives paths a beginning")
    }
    const inherited =
      shallow === undefined ? this.#inherited : { ...this.#inherited, shallow: checkBoolean('shallow', shallow) }
    return { options: share(inherited.shared, options), inherited }
  }
}

/** What `ResourceMapper` is for the compiler. */
export class ResourceBuilder extends MapBuilder {
  /** The resource, as errors name it. */
  owner = ''
  readonly own: CustomAction[] = []
  /** `/posts/recent` */
  readonly collection: ActionBuilder<this> = this.#actions('collection')
  /** `/posts/1/publish` */
  readonly member: ActionBuilder<this> = this.#actions('member')
  /** `/posts/new/preview` */
  readonly new: ActionBuilder<this> = this.#actions('new')

  #actions (on: ActionScope): ActionBuilder<this> {
    return new ActionBuilder(this, on, () => this.owner, (action) => {
      this.checkOpen(action.name)
      this.own.push(action)
    })
  }
}

/** What is no object would be passed over, and with it whatever was to guard a resource. */
function checkObject<O extends object> (name: unknown, options: O): O {
  if (!isObject(options)) {
    throw new InvalidOptionError(
      String(name),
      `must be followed by options such as { formats: ['json'] }, not ${show(options)}`
    )
  }
  return options
}

/** What is declared later than at once would never be there. */
export function drawOn<M> (name: unknown, draw: unknown, map: M): void {
  if (typeof draw !== 'function') {
    throw new InvalidOptionError(String(name), `must be followed by a function that draws, not ${show(draw)}`)
  }
  if (isPromise(draw(map))) throw new InvalidOptionError(String(name), 'must be drawn at once, and not by a promise')
}
