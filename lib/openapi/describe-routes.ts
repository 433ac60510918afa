import type { CompiledResource } from '../core/compiled-resource.js'
import type { Route, RoutePath } from '../core/routes/route.js'
import { camelize } from '../core/resource/inflection.js'
import { ID_SCHEMAS } from '../core/resource/resource.js'
import { nameOf } from '../core/modes.js'
import type { Schema } from '../core/schema/types.js'
import { withType } from '../core/schema/validation/parameter.js'
import { capitalize } from '../core/util/words.js'
import type { DescribedPaths, DescribeRoutes } from '../core/wings.js'
import { SchemaAdapter } from './adapt-schema.js'
import { type Document, writerOf } from './document.js'
import { describeOperation, readsForms } from './operations.js'
import { membersOf, type Part } from './part.js'
import { type DescribedResource, ResourceSchemas } from './resource-schemas.js'

/** Returns the schema of a route for @fastify/swagger. `openapiObject` is undefined if the document is Swagger 2.0. */
export type Transform = (asked: { readonly openapiObject?: Document }) => { readonly schema: Part }

const HIDDEN = { schema: { hide: true } }
const hide: Transform = () => HIDDEN

/**
 * Describes the routes of a resource when @fastify/swagger asks for them. The descriptions are written into its
 * document. A schema of Fastify could not describe a body for each media type, an optional body, or two methods of one
 * route.
 */
export const describeRoutes: DescribeRoutes = (compiled, described) => {
  const { resource, representations, options: { openapi } } = compiled
  if (openapi === false) return { route: () => hide, hidden: hide }
  const { suffixes, ...more } = openapi
  // Several instances of @fastify/swagger may each make a document.
  const known = new WeakMap<Document, DescribedResource>()
  const subjectIn = (document: Document): DescribedResource => {
    const subject = known.get(document) ?? makeSubject(compiled, described, document)
    known.set(document, subject)
    return subject
  }

  const describe = (path: RoutePath, route: Route, isSuffixed: boolean): Transform => ({ openapiObject }) => {
    // OpenAPI has no QUERY before version 3.2.
    if (route.hasQueryBody === true || (isSuffixed && !suffixes)) return HIDDEN
    if (route.formOnly === true && !readsForms(compiled)) return HIDDEN
    if (openapiObject === undefined) {
      return { schema: { tags: more.tags ?? [nameOf(resource)], summary: route.actions[0].name } }
    }
    const subject = subjectIn(openapiObject)
    const url = writePath(path.pattern.text)
    // After an id, one route serves paths with and without a suffix.
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

  return { hidden: hide, route: describe }
}

/** Writes the parameters of a path in braces: `/posts/:id` → `/posts/{id}`. */
function writePath (path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

function makeSubject (
  compiled: CompiledResource,
  { prefix, names: paths }: DescribedPaths,
  document: Document
): DescribedResource {
  const names = nameDescribed(prefix, paths)
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
    parameters: new Map([...describeParameters(compiled)].map(([name, schema]) => [name, adapt(name, schema)])),
    schemas: new ResourceSchemas(compiled.resource, names.one, writer, compiled)
  }
}

/** Returns the schemas of the path parameters: the ids, and others that `constraints` restricts. */
function describeParameters ({ resource, resourcePaths, parent, options }: CompiledResource): Map<string, Schema> {
  const { routing: { param, constraints } } = options
  const known = parent === undefined ? new Map<string, Schema>() : describeParameters(parent)
  const above = resourcePaths.parent?.param
  if (above !== undefined) known.set(above, known.get(parent?.options.routing.param as string) as Schema)
  for (const [name, schema] of Object.entries(constraints)) known.set(name, { ...known.get(name), ...schema })
  if (!resource.singleton) known.set(param, { ...ID_SCHEMAS[resource.idType], ...constraints[param] })
  return known
}

/** Makes the names from those of the paths and from the prefix, because another prefix may have the same path names. */
function nameDescribed (prefix: string, { collection, member }: DescribedPaths['names']): DescribedResource['names'] {
  // Leaves out the expression of a parameter: `/:year(^\\d{4}$)`.
  const before = prefix
    .replaceAll(/\([^()]*\)/g, '')
    .split('/')
    .map((segment) => segment.replaceAll(/[^\w-]+/g, ''))
    .filter((segment) => segment !== '')
  const name = (path: string): string => capitalize(camelize([...before, path].join('_')))
  return { many: name(collection), one: name(member) }
}

/**
 * Adds the app's option `openapi` to an operation. It replaces parameters and responses of the same name, and all other
 * members.
 */
function merge (
  operation: Part,
  {
    parameters = [],
    responses = {},
    ...more
  }: { readonly parameters?: readonly Part[]; readonly responses?: Part } & Part
): Part {
  const keyOf = ({ in: location, name }: Part): string => `${location} ${name}`.toLowerCase()
  const given = new Set(parameters.map(keyOf))
  const ours = [operation.parameters].flat().map(membersOf).filter((parameter) => !given.has(keyOf(parameter)))
  return {
    ...operation,
    ...more,
    parameters: [...ours, ...parameters],
    responses: { ...membersOf(operation.responses), ...responses }
  }
}
