import type { Id } from '../../../resource/row.js'
import { isStructure } from '../../../util/own-property.js'
import type { Store } from '../../store.js'
import { carries, currentOf, existing, rowOf, same } from '../assertions.js'
import { type Check, type Checks, makeContext, makeQuery } from '../subject.js'

const makeAttributes = () => ({ title: 'Mine', tags: ['a', 'b'], details: { inner: { list: [{ text: 'deep' }] } } })
const ANY = { version: undefined, scope: {} }
const STALE = { version: 'stale', scope: {} }

export const ownershipChecks: Checks = {
  'a create keeps a copy of what it is given': async (subject) => {
    const [given, scope] = [makeAttributes(), { tenant: 'a' }]
    const { id } = await subject.store.create(given, scope, makeContext())
    spoil(given)
    spoil(scope)
    carries(existing(await subject.get(id)), { ...makeAttributes(), tenant: 'a' })
  },

  'an update keeps a copy of what it is given': async (subject) => {
    const { id } = await subject.create()
    const [given, scope] = [makeAttributes(), {}]
    await subject.store.update(id, given, { version: undefined, scope }, makeContext())
    spoil(given)
    spoil(scope)
    carries(existing(await subject.get(id)), makeAttributes())
  },

  'a create returns a copy of the row': handsOut((store) => store.create(makeAttributes(), {}, makeContext())),
  'get returns a copy of the row': handsOut((store, id) => store.get(id, {}, makeContext())),
  'a list returns copies of the rows': handsOut(listed),
  'an update returns a copy of the row': handsOut((store, id) =>
    store.update(id, { count: 1 }, ANY, makeContext())),
  'an update with a stale version returns a copy of the row': handsOut((store, id) =>
    store.update(id, { count: 1 }, STALE, makeContext())),
  'a deletion with a stale version returns a copy of the row': handsOut((store, id) =>
    store.delete(id, STALE, makeContext())),

  'a row that was returned never changes': async (subject) => {
    const created = await subject.create(makeAttributes())
    const { id } = created
    const handed = [
      created,
      existing(await subject.get(id)),
      ...(await subject.rows()),
      currentOf(await subject.update(id, {}, { version: 'stale' }))
    ]
    const before = structuredClone(handed)
    const updated = rowOf(await subject.update(id, { title: 'Yours', tags: ['c'], details: {} }))
    handed.push(updated)
    before.push(structuredClone(updated))
    rowOf(await subject.update(id, { title: 'Theirs', tags: [], details: { inner: null } }))
    rowOf(await subject.delete(id))
    same(handed, before, 'the rows as they were when they were returned')
  }
}

/** Makes a check that changes the result of a call, and expects that the rows of the store stay the same. */
function handsOut (call: (store: Store, id: Id) => unknown): Check {
  return async (subject) => {
    const { id } = await subject.create(makeAttributes())
    const answered = await call(subject.store, id)
    const rows = structuredClone(await subject.rows())
    spoil(answered)
    same(await subject.rows(), rows, 'the rows of the store after a returned row was changed')
    const others = await Promise.all(rows.map(({ id }) => subject.get(id)))
    same(others, rows, 'the rows that get returns after a returned row was changed')
  }
}

async function listed (store: Store): Promise<unknown[]> {
  const batches: unknown[] = []
  for await (const batch of store.list(makeQuery({}), makeContext())) batches.push(batch)
  return batches
}

/** Changes every part of a value, except frozen ones. */
function spoil (value: unknown): void {
  if (!isStructure(value)) return
  for (const part of Object.values(value)) spoil(part)
  if (Object.isFrozen(value)) return
  if (Array.isArray(value)) value.push('spoilt')
  else for (const name of [...Object.keys(value), 'spoilt']) Reflect.set(value, name, 'spoilt')
}
