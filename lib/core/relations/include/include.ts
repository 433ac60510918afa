import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Row } from '../../resource/row.js'
import { LARGEST_BATCH_SIZE } from '../../stores/store.js'
import type { AccessContext } from '../../actions/authorize/level.js'
import type { ListOutcome, Outcome, PulledBatch, Source } from '../../actions/outcome.js'
import type { Relation } from './relation.js'

/** The most rows whose relations are loaded together. */
const PORTION = 100

/** Adds the rows of relations to a list, portion by portion as the list is read, or to a row. */
export async function include<O extends Outcome | undefined> (
  outcome: O,
  relations: readonly Relation[],
  context: AccessContext
): Promise<O | ListOutcome | (Outcome & { readonly kind: 'found' })> {
  if (outcome?.kind === 'found') {
    const [row] = await load([outcome.row], relations, context)
    return { ...outcome, row: row as Row }
  }
  if (outcome?.kind !== 'listed') return outcome
  const portions = new Portions(outcome, relations, context)
  try {
    const { value: rows = [] } = await portions.next() as { readonly value?: readonly Row[] }
    return { ...outcome, rows, more: portions.isOver ? undefined : portions }
  } catch (error) {
    await portions.return()
    throw error
  }
}

/** The batches of a list, in portions whose relations are loaded together. */
class Portions implements Source {
  readonly #relations: readonly Relation[]
  readonly #context: AccessContext
  #rows: readonly Row[]
  #more: Source | undefined
  #isFirst = true

  constructor ({ rows, more }: ListOutcome, relations: readonly Relation[], context: AccessContext) {
    this.#rows = rows
    this.#more = more
    this.#relations = relations
    this.#context = context
  }

  get isOver (): boolean {
    return this.#rows.length === 0 && this.#more === undefined
  }

  async next (): Promise<PulledBatch> {
    // Stores that answer at once would leave no turn to other requests.
    if (!this.#isFirst) await nextTurn()
    this.#isFirst = false
    while (this.#rows.length === 0) {
      const pulled = await this.#more?.next()
      if (pulled === undefined || pulled.done === true) {
        this.#more = undefined
        return { done: true, value: undefined }
      }
      this.#rows = pulled.value
    }
    const value = await load(this.#rows.slice(0, PORTION), this.#relations, this.#context)
    this.#rows = this.#rows.slice(value.length)
    return { done: false, value }
  }

  async return (): Promise<void> {
    await this.#more?.return?.()
  }
}

/** Returns the first rows with their relations: all rows, or fewer if the relations of all of them are too large. */
async function load (
  rows: readonly Row[],
  relations: readonly Relation[],
  context: AccessContext
): Promise<readonly Row[]> {
  const columns: Array<readonly unknown[]> = []
  let left = LARGEST_BATCH_SIZE
  for (const relation of relations) {
    const loaded = await relation.load(rows, context, left)
    if (loaded === undefined) return load(rows.slice(0, Math.ceil(rows.length / 2)), relations, context)
    columns.push(loaded.values)
    if (rows.length > 1) left -= loaded.size
  }
  const names = new Set(relations.map(({ name }) => name))
  return rows.map((row, index) => {
    // The store may have an undeclared attribute of this name, which no answer shows.
    const own = Object.entries(row.attributes).filter(([name]) => !names.has(name))
    const included = relations.map(({ name }, relation) => [name, columns[relation]?.[index]] as const)
    const attributes = Object.fromEntries([...own, ...included.filter(([, value]) => value !== undefined)])
    return { ...row, attributes }
  })
}
