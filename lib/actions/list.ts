import type { Listed, Source } from '../outcome.js'
import { isPromise, settle } from '../settle.js'
import type { Batches, Context, MaybePromise, Query, Stored } from '../stores/store.js'
import type { Subject } from './action.js'

/** Which rows are wanted, of those in the subject's scope. */
export type Wanted = Omit<Query, 'scope'>

/** Rows from the store, the first batch pulled; of a page all of it, and one row more to know whether another follows. */
export function list ({ store, scope }: Subject, { order, after, limit, filter }: Wanted, context: Context): MaybePromise<Listed> {
  if (limit === undefined) {
    const batches = iterate(store.list({ order, after, limit: undefined, scope, filter }, context))
    return settle(batches.next() as MaybePromise<IteratorResult<readonly Stored[]>>, ({ done, value }) =>
      ({ kind: 'listed', first: done === true ? [] : value, rest: done === true ? undefined : batches, order, last: undefined }))
  }
  return settle(collect(iterate(store.list({ order, after, limit: limit + 1, scope, filter }, context)), limit + 1), (rows) => {
    const first = rows.slice(0, limit)
    return { kind: 'listed', first, rest: undefined, order, last: rows.length > limit ? first.at(-1) : undefined }
  })
}

export function iterate (batches: Batches): Source {
  return Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]()
}

/** So many rows at the most: at once where they come at once. A store that has more than it was asked for is left. */
export function collect (batches: Source, most: number): MaybePromise<readonly Stored[]> {
  let rows: readonly Stored[] = []
  let gathered: Stored[] | undefined
  // The first batch is mostly all there is, and is taken as it stands.
  function add (batch: readonly Stored[]): void {
    if (rows.length === 0) {
      rows = batch
    } else {
      rows = gathered ??= [...rows]
      for (const row of batch) gathered.push(row)
    }
  }
  function pull (): MaybePromise<readonly Stored[]> {
    for (;;) {
      const result: MaybePromise<IteratorResult<readonly Stored[]>> = batches.next()
      if (isPromise(result)) return result.then(take)
      if (result.done === true) return rows
      add(result.value)
      if (rows.length >= most) return leave()
    }
  }
  function take ({ done, value }: IteratorResult<readonly Stored[]>): MaybePromise<readonly Stored[]> {
    if (done === true) return rows
    add(value)
    return rows.length >= most ? leave() : pull()
  }
  function leave (): MaybePromise<readonly Stored[]> {
    return settle(batches.return?.(), () => rows)
  }
  return pull()
}
