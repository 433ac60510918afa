import { InvalidOptionError } from '../../errors.js'
import type { GeneratedIdType } from '../../resource/resource.js'
import type { AttributesSchema } from '../../schema/types.js'
import { checkBoolean, checkOneOf, checkOptionNames } from '../../util/check-option.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { checkUnique, type UniqueGroups } from '../unique.js'
import type { Columns } from './column.js'

/** The options that all SQL stores share. */
export interface SqlStoreOptions<S extends AttributesSchema = AttributesSchema> {
  /** The name of the table. */
  readonly table: string
  /** The schema of the attributes. Each attribute has a column. A resource without attributes takes the schema over. */
  readonly attributes: S
  /**
   * The type of ids. For `'uuid'`, the store makes time-ordered UUIDs v7 (RFC 9562 §5.7). The column must be the
   * primary key or unique. For `'uuid'`, a unique key of the id and attributes that are not null is enough, such as
   * `PRIMARY KEY (tenant, id)`. @default 'integer'
   */
  readonly id?: GeneratedIdType
  /**
   * The names of columns that differ from those of their attributes, by attribute or `id`:
   * `{ publishedAt: 'published_at' }`. @default {}
   */
  readonly columns?: Readonly<Record<string, string>>
  /** The name of the column of the row's version, an integer that is not null. @default 'version' */
  readonly version?: string
  /** Attributes, or groups of attributes, whose values are unique. Null never conflicts. @default [] */
  readonly unique?: UniqueGroups
  /** Whether registration creates the table and its unique indexes if they are missing. @default false */
  readonly migrate?: boolean
}

const SQL_OPTIONS: readonly string[] = ['table', 'attributes', 'id', 'columns', 'version', 'unique', 'migrate']

/** Throws `UnknownOptionError` or `InvalidOptionError` if an option is wrong. `others` names further known options. */
export function checkOptions (options: SqlStoreOptions, others: readonly string[]): void {
  checkOptionNames(options, [...SQL_OPTIONS, ...others])
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
  checkOneOf('id', id, ['integer', 'uuid'])
  if (typeof columns !== 'object' || columns === null) {
    throw new InvalidOptionError('columns', "must be an object such as { publishedAt: 'published_at' }")
  }
  if (typeof version !== 'string') throw new InvalidOptionError('version', 'must be the name of a column')
  checkBoolean('migrate', migrate)
  checkUnique(unique)
}

/**
 * Returns the columns of each group of attributes.
 * @throws InvalidOptionError if an attribute is unknown or kept as JSON
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
