import { InvalidOptionError, nameOwner } from '../../errors.js'
import { declareAttributes } from '../../resource/attributes.js'
import type { Resource } from '../../resource/resource.js'
import type { CustomAction } from './custom-action.js'
import type { Property } from '../../schema/shape.js'
import type { Schema } from '../../schema/types.js'
import { compileValidation, type Validation } from '../../schema/validation/validation.js'
import type { Validators } from '../../schema/validation/validators.js'
import type { BodyFormat, CompiledCustomAction } from '../../compiled-resource.js'
import { checkQueryValues, compileQueryValues } from '../../request/prefill.js'
import { compilePayload } from '../../request/payload.js'
import { compileFindRows } from '../../request/rows.js'

/** The parts of a resource that its actions need. */
export interface CustomActionParts {
  readonly resource: Resource
  readonly validation: Validation
  readonly bodies: readonly BodyFormat[]
  readonly validators: Validators
}

/**
 * Compiles a custom action for one resource.
 * @throws InvalidAttributesError, InvalidOptionError
 */
export function compileCustomAction (
  action: CustomAction,
  { resource, validation, bodies, validators }: CustomActionParts
): CompiledCustomAction {
  const { attributes } = action
  const supplied: Resource =
    attributes === undefined
      ? resource
      : { ...resource, attributes: declareAttributes(action.name, attributes), schema: attributes, open: false }
  const { create } =
    attributes === undefined
      ? { create: validation.update }
      : compileValidation({ ...supplied, plural: action.name }, validators)
  const readers = new Map<BodyFormat, Pick<BodyFormat, 'readPayload' | 'findRows'>>(
    bodies.map((body) => {
      if (attributes === undefined) return [body, body]
      const reader = body.compileReader(supplied)
      const readPayload = compilePayload(supplied, reader)
      return [body, { readPayload, findRows: compileFindRows(supplied, reader, readPayload) }]
    })
  )
  const query = nameOwner(`action "${action.name}"`, () => compileQuery(action, validators))
  return {
    ...action,
    ...query,
    declared: action,
    supplied: supplied.attributes,
    validate: create,
    payloadReader: (body) => (readers.get(body) ?? body).readPayload,
    rowsFinder: (body) => (readers.get(body) ?? body).findRows
  }
}

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({})

/** Compiles the JSON Schema of a query. The texts of the parameters are converted by it, like those of a form. */
function compileQuery (
  { name, query }: CustomAction,
  validators: Validators
): Pick<CompiledCustomAction, 'parameters' | 'queried' | 'readQuery'> {
  if (query === undefined) return { parameters: [], queried: new Map(), readQuery: () => NOTHING }
  const attributes = shapeParameters(name, query)
  const validation = compileValidation({ plural: name, schema: query, attributes }, validators)
  const read = compileQueryValues(attributes.values())
  return {
    parameters: [...attributes.keys()],
    queried: attributes,
    readQuery (given) {
      const values = read(given)
      checkQueryValues(values, validation.create)
      return values
    }
  }
}

function shapeParameters (action: string, query: Schema): ReadonlyMap<string, Property> {
  const taken = ['format'].find((name) => Object.hasOwn((query.properties ?? {}) as object, name))
  if (taken !== undefined) {
    throw new InvalidOptionError('query', `has "${taken}", which chooses the format already; give it another name`)
  }
  const parameters = declareParameters(action, query)
  const impossible = [...parameters.values()].find(({ shape: { types } }) => !SIMPLE.some((type) => types.has(type)))
  if (impossible !== undefined) {
    throw new InvalidOptionError(
      'query',
      `has "${impossible.name}", which must be a text, a number or a boolean; a query has no other values`
    )
  }
  return parameters
}

const SIMPLE = ['string', 'integer', 'number', 'boolean', 'null'] as const

function declareParameters (action: string, query: Schema): ReadonlyMap<string, Property> {
  try {
    return declareAttributes(action, query)
  } catch (error) {
    throw new InvalidOptionError('query', `cannot be used: ${(error as Error).message}`)
  }
}
