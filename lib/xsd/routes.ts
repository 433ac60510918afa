import { createHash } from 'node:crypto'
import { nameOwner, ownerOf, PreconditionFailedError } from '../core/errors.js'
import { writeXmlSchema } from './xsd.js'
import { findReadConditions, isMatched, isNamed } from '../core/request/preconditions.js'
import { xml } from '../core/formats/xml/xml.js'
import { makeResource } from '../core/resource/resource.js'
import type { ResourceOptions } from '../core/options/options.js'
import { checkAllNames, nameResource, resolveOptions } from '../core/options/resolve/options.js'
import { bundleSchema } from '../core/schema/subschemas.js'
import { compileValidation } from '../core/schema/validation/validation.js'
import { noStore } from '../core/stores/store.js'
import { lazy } from '../core/util/functions.js'
import type { ServeXmlSchema } from '../core/wings.js'

/** Returns the handler that serves the XML Schema, which is made at the first request. */
export const serveXmlSchema: ServeXmlSchema = ({ resource, relations }) => {
  const schema = lazy(() => {
    const text = writeXmlSchema(resource, relations.names)
    return { text, hash: createHash('sha256').update(text).digest('hex').slice(0, 16) }
  })
  return ({ headers }, reply) => {
    const { text, hash } = schema()
    const tag = { weak: false, opaque: hash }
    const conditions = findReadConditions(headers)
    if (!isMatched(conditions?.match, tag)) {
      throw new PreconditionFailedError('the schema has another ETag than If-Match names; read it again')
    }
    reply.header('etag', `"${hash}"`)
    if (isNamed(conditions?.noneMatch, tag)) return reply.code(304).send()
    return reply.type('application/xml; charset=utf-8').send(text)
  }
}

/** The options of a resource that determine its XML. */
export interface XmlSchemaOptions extends Pick<ResourceOptions, 'name' | 'singular' | 'attributes' | 'store' | 'id'> {
  /** Whether the resource is a singleton, as declared by `map.resource`. @default false */
  readonly singleton?: boolean
}

/**
 * Returns the XML Schema (XSD 1.0) of a resource's documents, as the option `xsd` serves it.
 *
 * @example
 * writeFileSync('posts.xsd', xmlSchema({ name: 'posts', attributes }))
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function xmlSchema ({ singleton = false, ...options }: XmlSchemaOptions): string {
  const { store = noStore } = options
  const { plural, singular, idType, schema, routing: { segment, actions } } = nameOwner(ownerOf(options.name), () => {
    checkAllNames(options, ['html', 'csv'])
    return resolveOptions({ ...options, store }, nameResource(options, singleton), [xml()])
  })
  const place = { plural, singular, path: `/${segment}`, memberWrites: false, singleton, actions }
  const resource = makeResource(
    { ...place, foreignKey: undefined, longestId: 0, key: [] },
    idType,
    bundleSchema(schema, {})
  )
  compileValidation(resource)
  return writeXmlSchema(resource)
}
