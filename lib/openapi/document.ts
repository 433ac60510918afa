import { downgrade } from './downgrade.js'
import type { Part } from './media.js'

type Parts = Record<string, unknown>

/** What there is of components that are referred to. */
type ComponentKind = 'schemas' | 'responses' | 'headers'

/** An OpenAPI document in the making, as @fastify/swagger hands it to whoever describes a route. */
export interface Document {
  /** The version of the specification: `3.0.3`, `3.1.0`. */
  readonly openapi: string
  /** By path the operations, by their methods. */
  paths: Record<string, Parts>
  readonly servers?: ReadonlyArray<{
    readonly url: string
    readonly variables?: Readonly<Record<string, { readonly default: string }>>
  }>
  components: { [kind in ComponentKind]?: Parts }
  tags?: readonly Tag[]
}

interface Tag {
  readonly name: string
  readonly description?: string
}

/** What a component is called where the app, or another resource, has another one of that name. */
const OTHER = 'Resource'

const WRITER: unique symbol = Symbol('fastify-resources.writer')

/** All resources of an app write into one document, by one writer, which knows what is there already. */
export function writerOf (document: Document): DocumentWriter {
  const written = document as Document & { [WRITER]?: DocumentWriter }
  if (written[WRITER] === undefined) Object.defineProperty(written, WRITER, { value: new DocumentWriter(document) })
  return written[WRITER] as DocumentWriter
}

/** Adds to a document, and leaves alone what the app has put into it. */
export class DocumentWriter {
  readonly #document: Document
  readonly #components: Record<ComponentKind, Parts>
  /** References to components that several may have, by all that these say. */
  readonly #shared = new Map<string, Part>()
  /** What each of our tags is about, by its name. */
  readonly #tags = new Map<string, Set<string>>()
  readonly #ids: Set<unknown>

  constructor (document: Document) {
    const { components, paths } = document
    this.#document = document
    // What the app has given is not written to.
    this.#components = {
      schemas: { ...components.schemas },
      responses: { ...components.responses },
      headers: { ...components.headers }
    }
    document.components = { ...components, ...this.#components }
    document.paths = { ...paths }
    this.#ids = new Set(
      Object.values(paths).flatMap((operations) =>
        Object.values(operations).map((operation) => (operation as Part).operationId)
      )
    )
  }

  /** A schema as this version of OpenAPI can say it: 3.0 has a dialect of its own. */
  schema (schema: Part): Part {
    return this.#document.openapi.startsWith('3.0') ? downgrade(schema) : schema
  }

  /** Adds a schema, which may refer to itself, and gives the reference to it. */
  define (name: string, make: (reference: Part) => Part): Part {
    const free = this.#findFree('schemas', name)
    const reference = { $ref: `#/components/schemas/${free}` }
    // It keeps its place, and its name, while others are made that it refers to.
    this.#components.schemas[free] = {}
    this.#components.schemas[free] = copy(this.schema(make(reference)))
    return reference
  }

  /** Adds a component, where there is not the same one already, and gives the reference to it. */
  share (kind: ComponentKind, name: string, part: Part): Part {
    const key = `${kind} ${name} ${JSON.stringify(part)}`
    let reference = this.#shared.get(key)
    if (reference === undefined) {
      const free = this.#findFree(kind, name)
      this.#components[kind][free] = copy(part)
      this.#shared.set(key, reference = { $ref: `#/components/${kind}/${free}` })
    }
    return reference
  }

  /** Where several resources have one tag, it tells of each; one that the app has described stays as it is. */
  tag (name: string, about: string): void {
    const { tags = [] } = this.#document
    const all = this.#tags.get(name)
    if (all === undefined && tags.some((tag) => tag.name === name)) return
    const known = new Set(all).add(about)
    this.#tags.set(name, known)
    const described = { name, description: [...known].join('; ') }
    this.#document.tags =
      all === undefined ? [...tags, described] : tags.map((tag) => (tag.name === name ? described : tag))
  }

  /**
   * An operation that is there already stays: where conditions tell two routes of one path apart, the first is
   * described.
   */
  operation (path: string, method: string, describe: () => Part): void {
    const url = this.#withoutBase(path)
    const others = this.#document.paths[url]
    const key = method.toLowerCase()
    if (others?.[key] !== undefined) return
    const { operationId, ...more } = describe()
    this.#document.paths[url] = {
      ...others,
      [key]: copy({ operationId: this.#identify(operationId as string), ...more })
    }
  }

  #identify (name: string): string {
    let id = name
    for (let number = 2; this.#ids.has(id); number++) id = `${name}${number}`
    this.#ids.add(id)
    return id
  }

  #findFree (kind: ComponentKind, name: string): string {
    let free = name
    while (this.#components[kind][free] !== undefined) free += OTHER
    return free
  }

  /** A path of the app begins with what its servers' URLs end with. */
  #withoutBase (path: string): string {
    for (const { url, variables } of this.#document.servers ?? []) {
      const filled = url.replace(
        /\{([^{}]+)\}/g,
        (_, name: string) => (variables as NonNullable<typeof variables>)[name]?.default as string
      )
      const base = new URL(filled, 'http://localhost').pathname.replace(/\/$/, '')
      if (base !== '' && path.startsWith(`${base}/`)) return path.slice(base.length)
    }
    return path
  }
}

/** Nothing in it is the app's own, nor stands in two places, for which YAML has aliases. */
function copy (part: Part): Part {
  return JSON.parse(JSON.stringify(part)) as Part
}
