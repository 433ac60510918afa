import { downgrade } from './downgrade.js'
import { membersOf, type Part } from './part.js'

type DocumentParts = Record<string, unknown>

type ComponentKind = 'schemas' | 'responses' | 'headers'

const WRITER: unique symbol = Symbol('fastify-resources.writer')

/** The OpenAPI document that @fastify/swagger is making. */
export interface Document {
  /** The version of the specification: `3.0.3`, `3.1.0`. */
  readonly openapi: string
  /** The operations by their paths and methods. */
  paths: Record<string, DocumentParts>
  readonly servers?: ReadonlyArray<{
    readonly url: string
    readonly variables?: Readonly<Record<string, { readonly default: string }>>
  }>
  components: { [kind in ComponentKind]?: DocumentParts }
  tags?: readonly Tag[]
  readonly [WRITER]?: DocumentWriter
}

interface Tag {
  readonly name: string
  readonly description?: string
}

/** The ending for the name of a component that the document has already. */
const OTHER = 'Resource'

/** Returns the writer of a document, which all resources in it share. */
export function writerOf (document: Document): DocumentWriter {
  return document[WRITER] ?? new DocumentWriter(document)
}

/** Adds our parts to a document, and changes none of the app's. */
export class DocumentWriter {
  readonly #document: Document
  readonly #components: Record<ComponentKind, DocumentParts>
  /** The references to shared components, by their kind, name and content. */
  readonly #shared = new Map<string, Part>()
  /** The descriptions of our tags by their names. */
  readonly #tags = new Map<string, Set<string>>()
  readonly #ids: Set<unknown>

  constructor (document: Document) {
    const { components, paths } = document
    this.#document = document
    Object.defineProperty(document, WRITER, { value: this })
    this.#components = {
      schemas: { ...components.schemas },
      responses: { ...components.responses },
      headers: { ...components.headers }
    }
    document.components = { ...components, ...this.#components }
    document.paths = { ...paths }
    this.#ids = new Set(
      Object.values(paths).flatMap((operations) =>
        Object.values(operations).map((operation) => membersOf(operation).operationId)
      )
    )
  }

  /** Returns a schema in the dialect of the document's version: OpenAPI 3.0 has one of its own. */
  schema (schema: Part): Part {
    return this.hasConditions ? schema : downgrade(schema)
  }

  /** Whether schemas can have conditions such as `if`, as in OpenAPI 3.1 and later. */
  get hasConditions (): boolean {
    return !this.#document.openapi.startsWith('3.0')
  }

  /** Adds a schema, which may refer to itself, and returns the reference to it. */
  define (name: string, make: (reference: Part) => Part): Part {
    const free = this.#findFree('schemas', name)
    const reference = { $ref: `#/components/schemas/${free}` }
    // Reserves the name, because `make` may define other schemas.
    this.#components.schemas[free] = {}
    this.#components.schemas[free] = copy(this.schema(make(reference)))
    return reference
  }

  /** Adds a component, unless the document has the same one, and returns a reference to it. */
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

  /**
   * Adds a tag with a description. If several resources have the tag, their descriptions are joined. The app's own tag
   * stays as it is.
   */
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

  /** Adds an operation. If two routes with different constraints have the same path, only the first is described. */
  operation (path: string, method: string, describe: () => Part): void {
    const url = this.#withoutBase(path)
    const others = this.#document.paths[url]
    const key = method.toLowerCase()
    if (others?.[key] !== undefined) return
    const { operationId, ...more } = describe()
    this.#document.paths[url] = {
      ...others,
      [key]: copy({ operationId: this.#identify(String(operationId)), ...more })
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

  /** Removes the path of a server's URL from the beginning of a path of the app. */
  #withoutBase (path: string): string {
    for (const { url, variables } of this.#document.servers ?? []) {
      const filled = url.replace(/\{([^{}]+)\}/g, (_, name: string) => String(variables?.[name]?.default))
      const base = new URL(filled, 'http://localhost').pathname.replace(/\/$/, '')
      if (base !== '' && path.startsWith(`${base}/`)) return path.slice(base.length)
    }
    return path
  }
}

/** Copies a part, because YAML would write an alias for an object that is in two places. */
function copy (part: Part): Part {
  return JSON.parse(JSON.stringify(part))
}
