import { form } from '../core/formats/form/read.js'
import { json } from '../core/formats/json/json.js'
import { xml } from '../core/formats/xml/xml.js'
import type { BodyFormat, CompiledResource, Representation } from '../core/compiled-resource.js'
import type { Resource } from '../core/resource/resource.js'
import { isObject } from '../core/util/own-property.js'

/** Any part of an OpenAPI document. */
export type Part = Readonly<Record<string, unknown>>

/** Returns the part if it is an object, else one without members. */
export function membersOf (part: unknown): Part {
  return isObject(part) ? part : {}
}

/** The content of a body in any format. */
export type MediaContent = 'record' | 'list' | 'either'

/** Describes a content by media types: JSON and XML by their schemas, others as a text. */
export function describeContent (
  { representations, resource }: CompiledResource,
  content: MediaContent,
  record: Part
): Part {
  return byMediaType(
    representations,
    (format) => format.mediaTypes,
    (format, mediaType) => schemaOf(format, content, record, resource) ?? describeText(mediaType)
  )
}

function schemaOf (
  { compileWriter }: Representation,
  content: MediaContent,
  record: Part,
  { singular, plural }: Resource
): Part | undefined {
  const isJson = compileWriter === json().compileWriter
  if (!isJson && compileWriter !== xml().compileWriter) return undefined
  const one = isJson ? group(singular, record) : record
  const list = { type: 'array', items: record }
  const many = isJson ? group(plural, list) : { ...list, xml: { name: plural, wrapped: true } }
  if (content === 'either') return { anyOf: [one, many] }
  return content === 'record' ? one : many
}

function group (name: string, schema: Part): Part {
  return { type: 'object', required: [name], properties: { [name]: schema } }
}

/** Describes content without a known schema: any value for JSON, else a text. */
function describeText (mediaType: string): Part {
  return mediaType.endsWith('json') ? {} : { type: 'string' }
}

/** The media type of a problem document (RFC 9457). */
const PROBLEM = 'application/problem+json'

/** Describes the document of an error by media types. */
export function describeProblems (
  { representations }: CompiledResource,
  defineProblem: () => Part,
  defineErrors: () => Part
): Part {
  return byMediaType(
    representations,
    ({ writer, mediaTypes }) => (writer.problemType === undefined ? mediaTypes : [writer.problemType]),
    ({ writer, compileWriter }, mediaType) => {
      if (writer.document !== undefined || mediaType === PROBLEM) return defineProblem()
      return compileWriter === xml().compileWriter ? defineErrors() : describeText(mediaType)
    }
  )
}

function byMediaType (
  representations: readonly Representation[],
  typesOf: (representation: Representation) => readonly string[],
  describe: (representation: Representation, mediaType: string) => Part
): Part {
  return Object.fromEntries(
    representations.flatMap((representation) =>
      typesOf(representation).map((mediaType) => [mediaType, { schema: describe(representation, mediaType) }])
    )
  )
}

/** The group of attributes in a body, and the id beside it. */
export interface BodyParts {
  readonly group: Part
  /** Whether the group is required. */
  readonly isWhole: boolean
  /** The schema of the id, or `undefined` if the body names no row. */
  readonly id: Part | undefined
  /** The content of a merge patch. @default merge patches are not read */
  readonly patch?: BodyParts
}

/** The body of a form's POST that asks for another method. */
export interface OverrideBody extends BodyParts {
  /** The values of `_method`. */
  readonly methods: readonly string[]
}

const FORM_FIELDS = {
  _version: { type: 'string', description: 'The version that the form shows. It has the effect of If-Match.' },
  commit: { type: 'string', description: 'The button of the form. It has no effect.' }
}

/** Describes bodies by media types. If `supplied` is undefined, only bodies of forms are described. */
export function describeBody (
  { bodies, patches, resource: { singular } }: CompiledResource,
  supplied: BodyParts | undefined,
  overridden: OverrideBody | undefined
): Part {
  const describeGroup = ({ group, isWhole, id }: BodyParts, besides: Part, required: readonly string[]): Part => {
    const demanded = [...required, ...(isWhole ? [singular] : [])]
    return {
      type: 'object',
      ...(demanded.length > 0 && { required: demanded }),
      properties: { ...besides, ...(id !== undefined && { id }), [singular]: group },
      additionalProperties: false
    }
  }
  const forms = [
    ...(supplied === undefined ? [] : [describeGroup(supplied, FORM_FIELDS, [])]),
    ...(overridden === undefined
      ? []
      : [
          describeGroup(
            overridden,
            {
              _method: {
                type: 'string',
                enum: overridden.methods,
                description: 'The method, because a form can only POST.'
              },
              ...FORM_FIELDS
            },
            ['_method']
          )
        ])
  ]
  const asForm = {
    schema: forms.length === 1 ? forms[0] : { anyOf: forms },
    encoding: { [singular]: { style: 'deepObject', explode: true } }
  }
  const describe = ({ compileReader }: BodyFormat): Part | undefined => {
    if (compileReader === form.compileReader) return asForm
    if (supplied === undefined) return undefined
    if (compileReader === json().compileReader) return { schema: describeGroup(supplied, {}, []) }
    return compileReader === xml().compileReader ? { schema: supplied.group } : {}
  }
  const { patch } = supplied ?? {}
  return Object.fromEntries([
    ...patches.flatMap(({ mediaTypes }) =>
      patch === undefined ? [] : mediaTypes.map((mediaType) => [mediaType, { schema: describeGroup(patch, {}, []) }])),
    ...bodies.flatMap((body) => {
      const media = describe(body)
      return media === undefined ? [] : body.mediaTypes.map((mediaType) => [mediaType, media])
    })
  ])
}
