import { InvalidAttributesError } from '../errors.js'
import { say } from '../messages.js'
import { checkParts, type Refuse } from '../resource/attributes.js'
import type { Resource } from '../resource/resource.js'
import { ROW_KEYWORDS } from '../schema/row-keywords.js'
import type { Property } from '../schema/shape.js'
import { subschemasOf } from '../schema/subschemas.js'
import type { Attributes, Schema } from '../schema/types.js'
import { Issues } from '../schema/validation/issues.js'
import { makeValidator } from '../schema/validation/validation.js'
import type { Validators } from '../schema/validation/validators.js'
import { show } from '../util/check-option.js'
import { asObject, isObject } from '../util/own-property.js'
import { didYouMean } from '../util/words.js'

/** Notes the faults of a row, which has no nulls. A fault of no single attribute is noted under the name of the row. */
export type JudgeRow = (row: Attributes, issues: Issues) => void

/** The keywords of a schema that are about the whole row. */
export interface RowKeywords {
  readonly judge: JudgeRow
  /** The attributes on which the judgement depends, or `undefined` if it depends on all. */
  readonly reads: ReadonlySet<string> | undefined
}

/**
 * Compiles the keywords of a schema that are about the whole row.
 * @param schema the schema of the attributes with these keywords
 * @throws InvalidAttributesError
 */
export function compileRowKeywords (resource: Resource, schema: Schema, validators: Validators): RowKeywords {
  const refuse: Refuse = (reason) => { throw new InvalidAttributesError(resource.plural, reason) }
  checkParts(schema, refuse)
  try {
    validators.checkSchema(schema)
  } catch (error) {
    refuse((error as Error).message)
  }
  const compiler = new Compiler(resource, schema, { validators, refuse })
  const reads = new Set<string>()
  const judge = compiler.combine(schema, [], reads, undefined)
  return {
    judge (row, issues) {
      validators.startBody()
      judge(row, issues)
    },
    reads: compiler.countsAttributes ? undefined : reads
  }
}

/** The keywords that a schema inside these keywords can have. */
const KNOWN: readonly string[] =
  ['type', 'properties', 'required', ...ROW_KEYWORDS, 'title', 'description', '$comment']
/** The keywords that change rows or answers, and do not judge a value. */
const EFFECTS = ['default', 'readOnly', 'writeOnly', 'additionalProperties'] as const
const DEPENDENCIES = ['dependencies', 'dependentRequired', 'dependentSchemas'] as const
const DOES_NOT_FIT = say('doesNotFit')

const accept: JudgeRow = () => {}

function join (judges: readonly JudgeRow[]): JudgeRow {
  return (row, issues) => { for (const judge of judges) judge(row, issues) }
}

function demand (name: string): JudgeRow {
  return (row, issues) => { if (!Object.hasOwn(row, name)) issues.add(name, say('mustBeGiven')) }
}

function fits (judge: JudgeRow, row: Attributes): boolean {
  const issues = new Issues()
  judge(row, issues)
  return issues.size === 0
}

class Compiler {
  /** Whether a keyword counts the attributes of a row. */
  countsAttributes = false
  readonly #resource: Resource
  readonly #whole: Schema
  readonly #validators: Validators
  readonly #refuse: Refuse

  constructor (
    resource: Resource,
    whole: Schema,
    { validators, refuse }: { readonly validators: Validators, readonly refuse: Refuse }
  ) {
    this.#resource = resource
    this.#whole = whole
    this.#validators = validators
    this.#refuse = refuse
  }

  /** Compiles a schema inside the keywords, and adds the attributes that it reads. */
  #compile (schema: unknown, path: readonly string[], reads: Set<string>): JudgeRow {
    const { singular } = this.#resource
    if (schema === true) return accept
    if (schema === false) return (_row, issues) => { issues.add(singular, DOES_NOT_FIT) }
    if (!isObject(schema)) return this.#refuse(`"${path.join('.')}" must be a schema, not ${show(schema)}`)
    const { type = 'object', properties, required, description } = schema
    const other = Object.keys(schema).find((keyword) => !KNOWN.includes(keyword))
    if (other !== undefined) {
      this.#refuse(`"${path[0]}" has "${other}" in one of its schemas, which can have ${KNOWN.join(', ')}`)
    }
    if (type !== 'object') this.#refuse(`"${path[0]}" has the type ${show(type)}, but a row is an object`)
    const conditions = this.#members(properties, 'properties', reads).map(([name, part]) =>
      this.#compileProperty(name, part, [...path, 'properties', name]))
    const demands = this.#names(required, 'required', reads).map(demand)
    return join([...conditions, ...demands, this.combine(schema, path, reads, description)])
  }

  /** Compiles the keywords of the whole row that a schema has. */
  combine (schema: Schema, path: readonly string[], reads: Set<string>, description: unknown): JudgeRow {
    const { allOf = [], anyOf, oneOf, not, minProperties } = schema
    // `checkSchema` has verified that they are lists.
    const compileList = (parts: unknown, keyword: string, named: Set<string>): readonly JudgeRow[] =>
      (parts as readonly unknown[]).map((part, index) => this.#compile(part, [...path, keyword, String(index)], named))
    const judges = [...this.#dependencies(schema, path, reads), ...compileList(allOf, 'allOf', reads)]
    // The fault of such a keyword is one message, at the only attribute that it names or else at the row.
    const add = (
      compile: (named: Set<string>) => readonly JudgeRow[],
      isRight: (fitting: number) => boolean,
      text: unknown = description
    ): void => {
      const named = new Set<string>()
      const parts = compile(named)
      for (const name of named) reads.add(name)
      const [first = '', ...others] = named
      const place = others.length > 0 || first === '' ? this.#resource.singular : first
      const message = typeof text === 'string' && text !== '' ? text : DOES_NOT_FIT
      judges.push((row, issues) => {
        if (!isRight(parts.filter((judge) => fits(judge, row)).length)) issues.add(place, message)
      })
    }
    if (anyOf !== undefined) add((named) => compileList(anyOf, 'anyOf', named), (fitting) => fitting > 0)
    if (oneOf !== undefined) add((named) => compileList(oneOf, 'oneOf', named), (fitting) => fitting === 1)
    if (not !== undefined) {
      const text = isObject(not) ? not.description : undefined
      add((named) => [this.#compile(not, [...path, 'not'], named)], (fitting) => fitting === 0, text)
    }
    if (minProperties !== undefined) judges.push(this.#count(Number(minProperties)))
    judges.push(this.#condition(schema, path, reads))
    return join(judges)
  }

  #dependencies (schema: Schema, path: readonly string[], reads: Set<string>): JudgeRow[] {
    return DEPENDENCIES.flatMap((keyword) =>
      this.#members(schema[keyword], keyword, reads).map(([name, part]) => {
        const judge = Array.isArray(part)
          ? join(this.#names(part, keyword, reads).map(demand))
          : this.#compile(part, [...path, keyword, name], reads)
        return (row, issues) => { if (Object.hasOwn(row, name)) judge(row, issues) }
      }))
  }

  #condition ({ if: condition, then, else: otherwise }: Schema, path: readonly string[], reads: Set<string>): JudgeRow {
    if (condition === undefined) {
      if (then !== undefined || otherwise !== undefined) this.#refuse('"then" and "else" have no effect without "if"')
      return accept
    }
    const judge = this.#compile(condition, [...path, 'if'], reads)
    const positive = this.#compile(then ?? true, [...path, 'then'], reads)
    const negative = this.#compile(otherwise ?? true, [...path, 'else'], reads)
    return (row, issues) => { (fits(judge, row) ? positive : negative)(row, issues) }
  }

  #count (least: number): JudgeRow {
    const { singular } = this.#resource
    this.countsAttributes = true
    return (row, issues) => {
      if (Object.keys(row).length < least) issues.add(singular, say('mustHaveAtLeastAttributes', { least }))
    }
  }

  #compileProperty (name: string, schema: unknown, path: readonly string[]): JudgeRow {
    if (schema === true) return accept
    if (schema === false) return (row, issues) => { if (Object.hasOwn(row, name)) issues.add(name, DOES_NOT_FIT) }
    for (const { schema: part } of subschemasOf(schema)) {
      const effect = EFFECTS.find((keyword) => Object.hasOwn(part, keyword))
      if (effect !== undefined) this.#refuse(`"${path[0]}" has "${effect}" for "${name}"; declare it in "properties"`)
    }
    const own = this.#validators.of(this.#whole, path)
    try {
      own.first()
    } catch (error) {
      this.#refuse(`"${path[0]}" has a schema for "${name}" that cannot be compiled: ${(error as Error).message}`)
    }
    const { attributes } = this.#resource
    const validate = makeValidator(own, { name, shape: (attributes.get(name) as Property).shape })
    return (row, issues) => { if (Object.hasOwn(row, name)) validate(row[name], issues) }
  }

  /** Returns the members of a keyword whose names are attributes. */
  #members (members: unknown, keyword: string, reads: Set<string>): ReadonlyArray<readonly [string, unknown]> {
    const entries = Object.entries(asObject(members) ?? {})
    this.#names(entries.map(([name]) => name), keyword, reads)
    return entries
  }

  /** Checks that names are those of attributes, and notes that these are read. */
  #names (names: unknown, keyword: string, reads: Set<string>): readonly string[] {
    const { attributes } = this.#resource
    const all = [names ?? []].flat().map(String)
    for (const name of all) {
      if (!attributes.has(name)) {
        const near = didYouMean(name, [...attributes.keys()])
        this.#refuse(`"${keyword}" names "${name}", which is not among the properties${near}`)
      }
      reads.add(name)
    }
    return all
  }
}
