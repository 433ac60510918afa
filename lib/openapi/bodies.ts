import type { BodyFormat, CompiledResource, Representation } from '../core/compiled-resource.js'
import { form } from '../core/formats/form/read.js'
import { json } from '../core/formats/json/json.js'
import { xml } from '../core/formats/xml/xml.js'
import type { ManyRows } from './many-rows.js'
import type { Part } from './part.js'

/** What an answer has: a row, a list of rows, or either of them. */
export type BodyContent = 'record' | 'list' | 'either'

/** Describes an answer by media types: JSON and XML by their schemas, others as a text. */
export function describeContent (
  { representations, resource: { singular, plural } }: CompiledResource,
  content: BodyContent,
  record: Part
): Part {
  const list = { type: 'array', items: record }
  const xmlList = { ...list, xml: { name: plural, wrapped: true } }
  const { inJson, inXml } = {
    record: { inJson: inGroup(singular, record), inXml: record },
    list: { inJson: inGroup(plural, list), inXml: xmlList },
    either: { inJson: inEither(singular, record, plural, list), inXml: { anyOf: [record, xmlList] } }
  }[content]
  return byMediaType(representations, ({ compileWriter, mediaTypes }) => ({
    mediaTypes,
    schema: compileWriter === json().compileWriter
      ? inJson
      : compileWriter === xml().compileWriter ? inXml : undefined
  }))
}

function inGroup (name: string, schema: Part): Part {
  return { type: 'object', required: [name], properties: { [name]: schema } }
}

/**
 * Describes a row in its group, or a list in its own, as one object with both names. In a generated type, alternatives
 * would let a client read neither without a check first.
 */
function inEither (singular: string, record: Part, plural: string, list: Part): Part {
  if (singular === plural) return inGroup(singular, { anyOf: [record, list] })
  return { type: 'object', minProperties: 1, properties: { [singular]: record, [plural]: list } }
}

/** The media type of a problem document (RFC 9457). */
const PROBLEM = 'application/problem+json'

/** Describes the document of an error by media types. */
export function describeProblems (
  { representations }: CompiledResource,
  defineProblem: () => Part,
  defineErrors: () => Part
): Part {
  return byMediaType(representations, ({ writer: { problemType, document }, compileWriter, mediaTypes }) => ({
    mediaTypes: problemType === undefined ? mediaTypes : [problemType],
    schema: document !== undefined || problemType === PROBLEM
      ? defineProblem()
      : compileWriter === xml().compileWriter ? defineErrors() : undefined
  }))
}

/** Describes contents by media types. One without a known schema is any value for JSON, else a text. */
function byMediaType (
  representations: readonly Representation[],
  describe: (representation: Representation) => {
    readonly mediaTypes: readonly string[]
    readonly schema: Part | undefined
  }
): Part {
  return Object.fromEntries(representations.map(describe).flatMap(({ mediaTypes, schema }) =>
    mediaTypes.map((mediaType) => [
      mediaType,
      { schema: schema ?? (mediaType.endsWith('json') ? {} : { type: 'string' }) }
    ])
  ))
}

/** The group of attributes in a body, and what is beside it. */
export interface BodyParts {
  readonly group: Part
  /** Whether the group is required. */
  readonly isWhole: boolean
  /** The schema of the id, or `undefined` if the body names no row. */
  readonly id: Part | undefined
  /** The schema of several ids beside the group. @default a body has one id at most */
  readonly ids?: Part | undefined
  /** The values of `_method`, by which a form asks for another method. @default no such field */
  readonly methods?: readonly string[]
}

/** The bodies of a request. */
export interface RequestBodies {
  /** The body of the method itself, or `undefined` if only forms send one. */
  readonly own?: BodyParts | undefined
  /** The body of a form that asks for another method. */
  readonly override?: BodyParts | undefined
  /** The body of a merge patch. */
  readonly patch?: BodyParts | undefined
  /** The lists of rows that the body may have instead. @default it has one row */
  readonly many?: ManyRows | undefined
  /** @default true */
  readonly required?: boolean
}

const FORM_FIELDS = {
  _version: { type: 'string', description: 'The version that the form shows. It has the effect of If-Match.' },
  commit: { type: 'string', description: 'The button of the form. It has no effect.' }
}

const KEY_FIELD = { type: 'string', description: 'The key of the request. It has the effect of Idempotency-Key.' }

/** Describes bodies by media types. */
export function describeBodies (
  { bodies, patches, resource: { singular, plural }, options: { idempotency } }: CompiledResource,
  { own, override, patch, many, required = true }: RequestBodies
): Part {
  const forms = [own, override].filter((parts) => parts !== undefined)
    .map(({ ids, ...parts }) => describeGroup(singular, parts, {
      ...FORM_FIELDS,
      ...(idempotency && { _key: KEY_FIELD }),
      ...(ids && describeFields(ids))
    }))
  const asForm = {
    schema: forms.length === 1 ? forms[0] : { anyOf: forms },
    encoding: { [singular]: { style: 'deepObject', explode: true } }
  }
  const describe = ({ compileReader, reader }: BodyFormat): Part | undefined => {
    if (compileReader === form.compileReader) return asForm
    if (own === undefined) return undefined
    if (compileReader === json().compileReader) {
      const { ids, id } = own
      const named = ids === undefined || id === undefined ? id ?? ids : { oneOf: [id, ids] }
      const one = describeGroup(singular, { ...own, id: named })
      return { schema: choose(one, many && describeGroup(plural, { group: many.list, isWhole: true, id: undefined })) }
    }
    if (compileReader === xml().compileReader) {
      const list = many && { ...many.list, xml: { name: plural, wrapped: true } }
      return { schema: choose(own.group, many?.group?.(), list) }
    }
    return reader.onlyLists !== true ? {} : many && { schema: { type: 'string' } }
  }
  const described = [
    ...patches.map(({ mediaTypes }) => ({ mediaTypes, media: patch && { schema: describeGroup(singular, patch) } })),
    ...bodies.map((body) => ({ mediaTypes: body.mediaTypes, media: describe(body) }))
  ]
  const content = Object.fromEntries(described.flatMap(({ mediaTypes, media }) =>
    media === undefined ? [] : mediaTypes.map((mediaType) => [mediaType, media])))
  return { ...(required && { required }), content }
}

/** Describes alternatives that exclude each other. */
function choose (one: Part, ...others: ReadonlyArray<Part | undefined>): Part {
  const all = [one, ...others.filter((other) => other !== undefined)]
  return all.length === 1 ? one : { oneOf: all }
}

/** Describes the fields of a form about several rows. */
function describeFields (ids: Part): Part {
  return {
    'id[]': ids,
    '_version[]': { type: 'array', items: { type: 'string' }, description: 'The versions of these rows, one each.' }
  }
}

function describeGroup (singular: string, { group, isWhole, id, methods }: BodyParts, fields: Part = {}): Part {
  const required = [...(methods === undefined ? [] : ['_method']), ...(isWhole ? [singular] : [])]
  const _method = { type: 'string', enum: methods, description: 'The method, because a form can only POST.' }
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: { ...(methods !== undefined && { _method }), ...fields, ...(id && { id }), [singular]: group },
    additionalProperties: false
  }
}
