import type { Test } from 'tap'
import { openPosts, type OpenPosts, shortFaults } from './many-rows.js'

/** A stored post: its version counts its writes. */
interface Stored {
  readonly title: string
  readonly rating: number
  readonly version: number
}

type Model = ReadonlyMap<number, Stored>

/** A row of a request. */
interface Row {
  readonly id?: number
  readonly title?: string
  readonly rating?: number
  readonly _version?: string
}

interface Batch {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly rows: readonly Row[]
}

/** What a request with many rows does: the rows afterwards, or the fault of each row. */
interface Expected {
  readonly model: Model
  readonly faults: Readonly<Record<number, string>>
}

/** Applies the rows of a batch one after the other, as single requests would, and takes all back if one is at fault. */
function apply (model: Model, { method, rows }: Batch, nextId: number): Expected {
  const state = new Map(model)
  const faults: Record<number, string> = {}
  const named = new Set<number>()
  const isTaken = (title: string, id: number): boolean =>
    [...state].some(([other, stored]) => other !== id && stored.title === title)
  rows.forEach((row, index) => {
    const { id = nextId + state.size + index, title, rating, _version } = row
    if (method !== 'DELETE' && title === '') faults[index] = 'title'
    else if (method !== 'POST' && named.has(id)) faults[index] = 'id'
    else {
      named.add(id)
      const stored = state.get(id) ?? { title: '', rating: 3, version: 0 }
      const changed = { title: title ?? stored.title, rating: rating ?? stored.rating, version: stored.version + 1 }
      if (method !== 'POST' && !state.has(id)) faults[index] = '404'
      else if (_version !== undefined && _version !== String(stored.version)) faults[index] = '412'
      else if (method === 'DELETE') state.delete(id)
      else if (isTaken(changed.title, id)) faults[index] = 'title'
      else state.set(id, changed)
    }
  })
  return { model: Object.keys(faults).length > 0 ? model : state, faults }
}

/** Returns numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function randomBy (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Makes a batch of at most eight rows, most of which fit the stored ones. */
function makeBatch (model: Model, random: () => number): Batch {
  const below = (limit: number): number => Math.floor(random() * limit)
  const ids = [...model.keys()]
  const method = (['POST', 'PUT', 'PUT', 'DELETE'] as const)[below(4)] as Batch['method']
  const title = (): string => random() < 0.03 ? '' : `T${below(60)}`
  const rows = Array.from({ length: 1 + below(8) }, (): Row => {
    if (method === 'POST') return { title: title(), ...(random() < 0.5 && { rating: below(9) }) }
    const id = random() < 0.05 || ids.length === 0 ? 99_999 : ids[below(ids.length)] as number
    const version = random() < 0.3 && { _version: String((model.get(id)?.version ?? 1) + (random() < 0.1 ? 1 : 0)) }
    if (method === 'DELETE') return { id, ...version }
    return { id, ...version, ...(random() < 0.6 ? { title: title() } : { rating: below(9) }) }
  })
  return { method, rows }
}

/** Sends random batches to a store, and compares what it does with a model. */
export async function compareWithModel (t: Test, open: OpenPosts, count: number, seed = Date.now()): Promise<void> {
  const random = randomBy(seed)
  const { send, app } = await openPosts(t, open)
  const stored = async (): Promise<ReadonlyArray<Row & { readonly id: number }>> =>
    (await app.inject({ url: '/posts', headers: { accept: 'application/json' } })).json().posts
  let model: Model =
    new Map((await stored()).map(({ id, title = '', rating = 3 }) => [id, { title, rating, version: 1 }]))
  for (let index = 0; index < count; index++) {
    const batch = makeBatch(model, random)
    const expected = apply(model, batch, 100_000)
    const { status, json } = await send(batch.method, JSON.stringify({ posts: batch.rows }))
    const what = `batch ${index} of seed ${seed}: ${JSON.stringify(batch)}`
    if (Object.keys(expected.faults).length > 0) {
      if (!t.strictSame(shortFaults(json), expected.faults, what)) return
      continue
    }
    if (!t.ok(status < 300, `${what}: ${status}`)) return
    // The store chooses the ids of new rows, which it lists in the order of the request.
    const after = await stored()
    const values = [...expected.model.values()]
    const found = after.map(({ title, rating }) => ({ title, rating }))
    if (!t.strictSame(found, values.map(({ title, rating }) => ({ title, rating })), what)) return
    model = new Map(after.map(({ id }, place) => [id, values[place] as Stored]))
  }
}
