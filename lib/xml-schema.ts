import { writeXmlSchema } from './formats/xml/schema.js'
import { nameOwner, ownerOf } from './errors.js'
import { resolveOptions, type ResourceOptions } from './options.js'
import { makeResource } from './resource.js'
import { noStore } from './stores/none.js'
import { compileValidation } from './validation.js'

/** Of the options of a resource, those that its XML depends on. */
export interface XmlSchemaOptions extends Pick<ResourceOptions, 'name' | 'singular' | 'attributes' | 'store' | 'id'> {
  /** Whether there is but one, as of `map.resource`. @default false */
  readonly singleton?: boolean
}

/**
 * The XML Schema (XSD 1.0) of a resource's documents, as the option `xsd` serves it.
 *
 * @example
 * writeFileSync('posts.xsd', xmlSchema({ name: 'posts', attributes }))
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function xmlSchema ({ singleton = false, ...options }: XmlSchemaOptions): string {
  const { store = noStore } = options
  const { plural, singular, idType, schema, routing: { segment, actions } } = nameOwner(ownerOf(options.name), () => resolveOptions({ ...options, store }, singleton))
  const resource = makeResource({ plural, singular, path: `/${segment}`, memberWrites: false, singleton, actions, foreignKey: undefined }, idType, schema)
  compileValidation(resource)
  return writeXmlSchema(resource)
}
