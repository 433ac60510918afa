import { REFERENCE } from '../../core/resource/inflection.js'
import type { Resource } from '../../core/resource/resource.js'
import type { Property, Shape } from '../../core/schema/shape.js'
import type { Schema } from '../../core/schema/types.js'
import { identity } from '../../core/util/functions.js'
import { keywordsOf } from '../forms/constraints.js'
import type { PageMessages, TranslateText } from '../messages.js'
import { annotationOf, labelOf } from '../names.js'
import { compileOwn } from './make-messages.js'

/** Returns the resource with the labels and explanations of its attributes in the language of its pages. */
export function labelAttributes<R extends Pick<Resource, 'attributes'>> (
  resource: R,
  references: Pick<ReadonlySet<string>, 'has' | 'size'>,
  messages: Partial<PageMessages>
): R {
  const translate = compileOwn(messages)
  if (references.size === 0 && translate === identity) return resource
  const translateProperty = translate === identity ? identity : compileProperties(translate)
  const attributes = [...resource.attributes].map(([name, property]): [string, Property] => {
    const titled = references.has(name) ? titleReference(property) : property
    return [name, translateProperty(titleMembers(titled, references))]
  })
  return { ...resource, attributes: new Map(attributes) }
}

/**
 * Returns an attribute that has ids of other resources with a title, since pages show the names of those rows: `Author`
 * for `authorId`. A title of the schema stays.
 */
function titleReference (property: Property): Property {
  const { name, schema } = property
  return { ...property, schema: { ...schema, title: labelOf({ name: name.replace(REFERENCE, ''), schema }) } }
}

/** Returns the attribute with titles of the members of its objects that have ids of other resources. */
function titleMembers (property: Property, references: Pick<ReadonlySet<string>, 'has'>): Property {
  const { name, shape, shape: { items } } = property
  const members = [...items.properties].map(([member, inner]): [string, Property, boolean] =>
    [member, inner, references.has(`${name}.${member}`)])
  if (!members.some(([, , isReference]) => isReference)) return property
  const properties = new Map(members.map(([member, inner, isReference]) =>
    [member, isReference ? titleReference(inner) : inner]))
  return { ...property, shape: { ...shape, items: { ...items, properties } } }
}

/**
 * Compiles the translation of titles and descriptions: of attributes, of the parts of their values, and of choices. The
 * pages are compiled from the copies, so that a request translates none of them.
 */
function compileProperties (translate: TranslateText): (property: Property) => Property {
  const made = new Map<Shape, Shape>()

  function translateShape (shape: Shape): Shape {
    const known = made.get(shape)
    if (known !== undefined) return known
    const copy: { -readonly [M in keyof Shape]: Shape[M] } = { ...shape }
    // A shape may contain itself.
    made.set(shape, copy)
    copy.schema = translateSchema(shape.schema, translate)
    copy.titles = new Map([...shape.titles].map(([value, title]) => [value, translate(title)]))
    copy.items = translateShape(shape.items)
    copy.properties = new Map([...shape.properties].map(([name, inner]) => [name, translateProperty(inner)]))
    copy.rest = shape.rest && translateShape(shape.rest)
    return copy
  }

  function translateProperty (property: Property): Property {
    const schema = { ...translateSchema(property.schema, translate), title: translate(labelOf(property)) }
    return { ...property, schema, shape: translateShape(property.shape) }
  }

  return translateProperty
}

function translateSchema (schema: Schema, translate: TranslateText): Schema {
  const title = annotationOf(schema, 'title')
  const description = annotationOf(schema, 'description') ?? annotationOf(keywordsOf(schema), 'description')
  return {
    ...schema,
    ...(title !== undefined && { title: translate(title) }),
    ...(description !== undefined && { description: translate(description) })
  }
}
