import type { ErrorObject } from 'ajv'
import { describeTypes } from '../convert-text.js'
import { MOMENT_FORMATS } from '../date-time.js'
import type { TypeName } from '../types.js'

/** Alternatives within alternatives each have their own. */
export const MAX_ERRORS = 1000

interface Described {
  readonly path: string
  readonly message: string
}

/** Describes errors, those of the alternatives of a union as one. Their wrapper says nothing. */
export function describeErrors (errors: readonly ErrorObject[], types: ReadonlySet<TypeName>): Described[] {
  const told = errors.filter(({ keyword }) => !WRAPPERS.has(keyword))
  const other = told.filter(({ keyword, instancePath }) => keyword !== 'type' || instancePath !== '')
  if (other.length === 0) {
    return [
      { path: '', message: errors.some(({ keyword }) => keyword === 'type') ? describeTypes(types) : 'is not valid' }
    ]
  }
  const [first] = other as [ErrorObject]
  if (other.every(({ keyword, instancePath }) => keyword === 'const' && instancePath === first.instancePath)) {
    const choices = other.map(({ params }) => (params as Params).allowedValue)
    return [{ path: pathOf(first), message: describeChoices(choices) }]
  }
  return other.map((error) => ({ path: pathOf(error), message: describeFailure(error) }))
}

const WRAPPERS = new Set(['anyOf', 'oneOf', 'if', 'not'])

/** `/0/name` → `.0.name`, with the name of what is missing or unknown. */
function pathOf ({ instancePath, params }: ErrorObject): string {
  const last: unknown = params.missingProperty ?? params.additionalProperty
  const path = instancePath.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  return last === undefined ? path : `${path}.${String(last)}`
}

function describeFailure ({ keyword, params, message }: ErrorObject): string {
  const describe = MESSAGES[keyword]
  return describe === undefined ? message as string : describe(params as Params)
}

/** What Ajv tells of a failure, by keyword. */
interface Params {
  readonly type: TypeName | readonly TypeName[]
  readonly limit: number
  readonly multipleOf: number
  readonly pattern: string
  readonly format: string
  readonly allowedValue: unknown
  readonly allowedValues: readonly unknown[]
}

type Describe = (params: Params) => string

const MESSAGES: Readonly<Record<string, Describe>> = {
  type: ({ type }) => describeTypes([type].flat() as TypeName[]),
  required: () => 'must be given',
  additionalProperties: () => 'is unknown',
  minLength: ({ limit }) => limit === 1 ? 'must not be blank' : `must have at least ${limit} characters`,
  maxLength: ({ limit }) => `must have at most ${limit} ${limit === 1 ? 'character' : 'characters'}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'item' : 'items'}`,
  maxItems: ({ limit }) => `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
  uniqueItems: () => 'must not have the same item twice',
  pattern: ({ pattern }) => `must match ${pattern}`,
  enum: ({ allowedValues }) => describeChoices(allowedValues),
  const: ({ allowedValue }) => describeChoices([allowedValue]),
  format: ({ format }) => MOMENT_FORMATS.get(format)?.wants ?? FORMATS[format] ?? `must be a valid ${format}`
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  uri: 'must be an absolute URL',
  url: 'must be an absolute URL',
  uuid: 'must be a UUID in lower case'
}

function describeChoices (values: readonly unknown[]): string {
  const choices = values.map((value) => JSON.stringify(value)).join(', ')
  return values.length === 1 ? `must be ${choices}` : `must be one of ${choices}`
}
