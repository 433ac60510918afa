import { InvalidOptionError } from '../../errors.js'
import { isDecimalShape } from '../../schema/convert-text.js'
import { shapeOf } from '../../schema/shape.js'
import type { Attributes, AttributesSchema } from '../../schema/types.js'
import { checkOneOf, checkOptionNames } from '../../util/check-option.js'
import type { Stores, TableRequest } from '../store.js'
import { checkUnique, type UniqueGroups } from '../unique.js'
import { makeStore, type MemoryStore, MemoryTable } from './table.js'

export type { MemoryStore } from './table.js'

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The type of ids: `'integer'` (counted from 1) or `'uuid'` (UUID v7, RFC 9562 §5.7). @default 'integer' */
  readonly id?: 'integer' | 'uuid'
  /**
   * Attributes, or groups of attributes (`['tenant', 'title']`), whose values are unique. A row in which one of them is
   * null or absent never conflicts. @default []
   */
  readonly unique?: UniqueGroups
}

/**
 * Makes a store in memory, whose rows are lost when the process ends. A write replaces a frozen row and never changes
 * it, so readers of a list need no copy. An open list holds one batch of bounded size, and includes later writes to
 * rows that it has not reached. Its rows have the type that the variable declares:
 * `const posts: Store<Post> = memoryStore()`.
 * @throws InvalidOptionError or UnknownOptionError if an option is wrong
 */
export function memoryStore<A = Attributes> (options: MemoryStoreOptions = {}): MemoryStore<A> {
  const { id, unique } = checkOptions(options)
  // The rows hold the attributes that the caller gives, so they have the type that the caller declares.
  return makeStore(id, new MemoryTable(id, unique)) as MemoryStore<A>
}

function checkOptions (options: MemoryStoreOptions): Required<MemoryStoreOptions> {
  checkOptionNames(options, ['id', 'unique'], 'memoryStore')
  const { id = 'integer', unique = [] } = options
  checkOneOf('id', id, ['integer', 'uuid'])
  checkUnique(unique)
  return { id, unique }
}

/** Returns the names of the attributes that are decimals. */
function decimalsOf (attributes: AttributesSchema | undefined): ReadonlySet<string> {
  if (attributes === undefined) return new Set()
  return new Set([...shapeOf({ ...attributes }).properties].flatMap(([name, { shape }]) =>
    isDecimalShape(shape) ? [name] : []))
}

/**
 * Makes the stores of several resources in memory. A row can refer only to a row that exists. The option `onDelete` of
 * a resource says what deleting that row does.
 */
export function memoryStores (): Stores {
  const opened = new Map<string, { readonly key: string, readonly table: MemoryTable, readonly store: MemoryStore }>()
  return Object.freeze<Stores>({
    open ({ table: name, attributes, id, unique, references }: TableRequest) {
      const key = JSON.stringify({ id, unique, references })
      const known = opened.get(name)
      if (known?.key === key) return known.store
      if (known !== undefined) {
        const what = 'whose type of ids, "unique" and "onDelete" differ'
        throw new InvalidOptionError('stores', `has the table "${name}" already, of another registration ${what}`)
      }
      const table = new MemoryTable(id, unique, { name, decimals: decimalsOf(attributes) })
      const store = makeStore(id, table) as MemoryStore
      opened.set(name, { key, table, store })
      for (const [attribute, { table: parent, onDelete = 'restrict' }] of Object.entries(references)) {
        const target = opened.get(parent)
        if (target === undefined) throw new InvalidOptionError('stores', `must open the table "${parent}" first`)
        table.refer(attribute, target.table, onDelete)
      }
      return store
    }
  })
}
