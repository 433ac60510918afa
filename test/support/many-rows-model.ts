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
  /** Whether the rows of an update are found by their titles, and whether others are created. @default by their ids */
  readonly match?: { readonly creates: boolean } | undefined
  readonly rows: readonly Row[]
}

/** What a request with many rows does: the rows afterwards, or the fault of each row. */
interface Expected {
  readonly model: Model
  readonly faults: Readonly<Record<number, string>>
}

/** Applies the rows of a batch one after the other, as single requests would, and takes all back if one is at fault. */
function apply (model: Model, batch: Batch, nextId: number): Expected {
  return batch.match === undefined ? applyById(model, batch, nextId) : applyMatch(model, batch, batch.match.creates)
}

/** Applies rows that are found by their titles. What a row has already is no change. */
function applyMatch (model: Model, { rows }: Batch, creates: boolean): Expected {
  const state = new Map(model)
  const faults: Record<number, string> = {}
  const seen = new Set<string>()
  rows.forEach(({ title = '', rating, _version }, index) => {
    const [id, stored] = [...model].find(([, { title: other }]) => other === title) ?? []
    if (seen.has(title)) faults[index] = 'title'
    else if (stored === undefined && !creates) faults[index] = '404'
    else if (stored === undefined && title === '') faults[index] = 'title'
    else if (_version !== undefined && _version !== String(stored?.version)) faults[index] = '412'
    else if (id === undefined || stored === undefined) {
      state.set(1e6 + index, { title, rating: rating ?? 3, version: 1 })
    } else if ((rating ?? stored.rating) !== stored.rating) {
      state.set(id, { title, rating: rating ?? stored.rating, version: stored.version + 1 })
    }
    seen.add(title)
  })
  return { model: Object.keys(faults).length > 0 ? model : state, faults }
}

function applyById (model: Model, { method, rows }: Batch, nextId: number): Expected {
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
  if (method === 'PUT' && random() < 0.4) return { method, match: { creates: random() < 0.7 }, rows: matchedRows() }
  const rows = Array.from({ length: 1 + below(8) }, (): Row => {
    if (method === 'POST') return { title: title(), ...(random() < 0.5 && { rating: below(9) }) }
    const id = random() < 0.05 || ids.length === 0 ? 99_999 : ids[below(ids.length)] as number
    const version = random() < 0.3 && { _version: String((model.get(id)?.version ?? 1) + (random() < 0.1 ? 1 : 0)) }
    if (method === 'DELETE') return { id, ...version }
    return { id, ...version, ...(random() < 0.6 ? { title: title() } : { rating: below(9) }) }
  })
  return { method, rows }

  function matchedRows (): Row[] {
    const known = [...model.values()]
    return Array.from({ length: 1 + below(6) }, (): Row => {
      const stored = random() < 0.7 ? known[below(known.length)] : undefined
      const version = stored !== undefined && random() < 0.2 &&
        { _version: String(stored.version + (random() < 0.1 ? 1 : 0)) }
      const rating = random() < 0.8 && { rating: random() < 0.3 ? stored?.rating ?? 1 : below(9) }
      return { title: stored?.title ?? title(), ...rating, ...version }
    })
  }
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
    const url = batch.match === undefined ? '/posts' : `/posts?match=title&create=${batch.match.creates}`
    const { status, json } = await send(batch.method, JSON.stringify({ posts: batch.rows }), { url })
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
