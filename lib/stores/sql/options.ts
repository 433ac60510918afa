import { InvalidOptionError, UnknownOptionError } from '../../errors.js'
import type { GeneratedIdType } from '../../resource/resource.js'
import type { AttributesSchema } from '../../schema/types.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { areGroups, NO_GROUPS, type UniqueGroups } from '../unique.js'
import type { Columns } from './column.js'

/** The options that all SQL stores share. */
export interface SqlStoreOptions<S extends AttributesSchema = AttributesSchema> {
  /** The name of the table. */
  readonly table: string
  /** The schema of the attributes, each of which has a column. The resource takes it over. */
  readonly attributes: S
  /**
   * The type of ids; `'uuid'` is a time-ordered UUID v7 (RFC 9562 §5.7) made by the store. The column must be the
   * primary key or unique. For `'uuid'`, a unique key of the id and attributes that are not null, such as
   * `PRIMARY KEY (tenant, id)`, is enough. @default 'integer'
   */
  readonly id?: GeneratedIdType
  /** Attribute, or `id`, → the name of its column, if they differ. @default {} */
  readonly columns?: Readonly<Record<string, string>>
  /** The column of the row's version: an integer, not null. @default 'version' */
  readonly version?: string
  /** Attributes, or groups of them, whose values no two rows share; null does not count. @default [] */
  readonly unique?: UniqueGroups
  /** Whether registration creates the table and its unique indexes if they are missing. @default false */
  readonly migrate?: boolean
}

const SQL_OPTIONS: readonly string[] = ['table', 'attributes', 'id', 'columns', 'version', 'unique', 'migrate']

/** @throws UnknownOptionError, InvalidOptionError */
export function checkOptions (options: SqlStoreOptions, others: readonly string[]): void {
  const known = [...SQL_OPTIONS, ...others]
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw new UnknownOptionError(key, didYouMean(key, known))
  }
  const { table, attributes, id = 'integer', columns = {}, version = 'version', unique = [], migrate = false } = options
  if (typeof table !== 'string' || table === '' || table.includes('\0')) {
    throw new InvalidOptionError('table', "must be the name of a table such as 'posts'")
  }
  if (typeof attributes !== 'object' || attributes === null) {
    throw new InvalidOptionError(
      'attributes',
      "must be a JSON Schema { type: 'object', properties: { … } }: each property has a column"
    )
  }
  if (id !== 'integer' && id !== 'uuid') throw new InvalidOptionError('id', "must be 'integer' or 'uuid'")
  if (typeof columns !== 'object' || columns === null) {
    throw new InvalidOptionError('columns', "must be an object such as { publishedAt: 'published_at' }")
  }
  if (typeof version !== 'string') throw new InvalidOptionError('version', 'must be the name of a column')
  if (typeof migrate !== 'boolean') throw new InvalidOptionError('migrate', 'must be true or false')
  if (!areGroups(unique)) throw new InvalidOptionError('unique', NO_GROUPS)
}

/**
 * Returns the columns of each group of attributes.
 * @throws InvalidOptionError
 */
export function resolveUnique (unique: UniqueGroups, { byAttribute }: Columns): ReadonlyArray<readonly string[]> {
  return unique.map((group) => [group].flat().map((attribute) => {
    const column = byAttribute.get(attribute)
    if (column === undefined) {
      const hint = didYouMean(attribute, [...byAttribute.keys()])
      throw new InvalidOptionError('unique', `names "${attribute}", which is not among the attributes${hint}`)
    }
    if (column.kind === 'json') {
      throw new InvalidOptionError('unique', `names "${attribute}", which is kept as JSON and cannot be unique`)
    }
    return column.name
  }))
}
