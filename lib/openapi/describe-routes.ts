import type { CompiledResource } from '../http/compiled-resource.js'
import type { Route, RoutePath } from '../http/route.js'
import { nameOf } from '../resource/resource.js'
import type { Schema } from '../schema/types.js'
import { withType } from '../schema/validation/parameter.js'
import { SchemaAdapter } from './adapt-schema.js'
import { type Document, writerOf } from './document.js'
import { readsForms } from './describe-writes.js'
import { describeOperation } from './operations.js'
import type { Part } from './media.js'
import { ResourceSchemas } from './resource-schemas.js'
import type { DescribedResource, OperationNames } from './described.js'

/** What @fastify/swagger asks of a route that it is to describe. */
export interface DescribedRoute {
  /** Undefined where it makes a Swagger 2.0 document. */
  readonly openapiObject?: Document
}

/** What it then takes for the route's schema: hidden is what needs none, or has been described already. */
export type Transform = (asked: DescribedRoute) => { readonly schema: Part }

/** What a resource has beside its hall to be described by. */
export interface Described {
  readonly names: OperationNames
  readonly parameters: ReadonlyMap<string, Schema>
}

/** How the routes of a resource are described; `isSuffixed`: at the path that has a suffix. */
export interface Description {
  readonly route: (path: RoutePath, route: Route, isSuffixed: boolean) => Transform
  readonly hidden: Transform
}

const HIDDEN = { schema: { hide: true } }
const hide: Transform = () => HIDDEN

/**
 * Describes the routes of a resource when @fastify/swagger asks for them. They are written into its document as
 * OpenAPI, since a body of its own for each media type, one that may be left out, and two methods of one route are
 * nothing that a schema of Fastify could say.
 */
export function describeRoutes (compiled: CompiledResource, described: Described): Description {
  const { resource, representations, options: { openapi } } = compiled
  if (openapi === false) return { route: () => hide, hidden: hide }
  const { suffixes, ...more } = openapi
  // A document is made once, or a few times: with each plugin that makes one.
  const known = new WeakMap<Document, DescribedResource>()
  const subjectIn = (document: Document): DescribedResource => {
    const subject = known.get(document) ?? makeSubject(compiled, described, document)
    known.set(document, subject)
    return subject
  }

  return {
    hidden: hide,
    route: (path, route, isSuffixed) => ({ openapiObject }) => {
      // Nothing but a form can ask for it.
      if ((isSuffixed && !suffixes) || (route.formOnly === true && !readsForms(compiled))) return HIDDEN
      if (openapiObject === undefined) {
        return { schema: { tags: more.tags ?? [nameOf(resource)], summary: route.actions[0].name } }
      }
      const subject = subjectIn(openapiObject)
      const url = writePath(path.pattern.text)
      // One route is both where the suffix stands behind an id.
      const forms = path.endsWithId ? [false, ...(suffixes ? [true] : [])] : [isSuffixed]
      for (const isSuffixed of forms) {
        for (const method of route.methods) {
          if (method !== 'HEAD') {
            subject.writer.operation(isSuffixed ? `${url}.{format}` : url, method, () =>
              merge(describeOperation(subject, { path, route, method, isSuffixed }), more)
            )
          }
        }
      }
      if (more.tags === undefined) {
        subject.writer.tag(
          nameOf(resource),
          `${nameOf(resource)} at ${writePath(resource.path)}, as ${representations.map(({ name }) => name).join(', ')}`
        )
      }
      return HIDDEN
    }
  }
}

/** `/posts/:id` → `/posts/{id}` */
function writePath (path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

function makeSubject (
  compiled: CompiledResource,
  { names, parameters }: Described,
  document: Document
): DescribedResource {
  const writer = writerOf(document)
  const { itemName } = compiled.resource
  const adapt = (name: string, schema: Schema): Part => {
    const adapter = new SchemaAdapter(schema, { name: names.one, writer, direction: 'in', itemName })
    return writer.schema(adapter.adapt(schema.type === undefined ? withType(schema) : schema, name))
  }
  return {
    compiled,
    names,
    writer,
    parameters: new Map([...parameters].map(([name, schema]) => [name, adapt(name, schema)])),
    schemas: new ResourceSchemas(compiled.resource, names.one, writer)
  }
}

/**
 * What the app says of all operations: parameters and responses beside ours, or in the place of one of that name; all
 * else in the place of ours.
 */
function merge (
  operation: Part,
  {
    parameters = [],
    responses = {},
    ...more
  }: { readonly parameters?: readonly Part[]; readonly responses?: Part } & Part
): Part {
  const ours = (operation.parameters as readonly Part[]).filter(
    ({ in: location, name }) =>
      !parameters.some(
        (other) => other.in === location && String(other.name).toLowerCase() === String(name).toLowerCase()
      )
  )
  return {
    ...operation,
    ...more,
    parameters: [...ours, ...parameters],
    responses: { ...(operation.responses as Part), ...responses }
  }
}
