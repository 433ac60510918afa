import type { Id } from '../../core/resource/row.js'
import { isStructure } from '../../core/util/own-property.js'
import type { Store } from '../../core/stores/store.js'
import { carries, currentOf, distinct, existing, idsOf, isMissing, rowOf, same } from '../assertions.js'
import { ODD_NAMES } from '../options.js'
import { type Check, type Checks, holds, makeContext, makeQuery, times } from '../subject.js'

const makeAttributes = () => ({ title: 'Mine', tags: ['a', 'b'], details: { inner: { list: [{ text: 'deep' }] } } })
const ANY = { version: undefined, scope: {} }
const STALE = { version: 'stale', scope: {} }

export const rowChecks: Checks = {
  'a create returns a row with the given attributes, and the row can be read': async (subject) => {
    const given = { title: 'First', count: 3, done: false, shelf: null }
    const row = await subject.create(given)
    carries(row, given)
    same(await subject.get(row.id), row, 'the row that get returns')
    same(await subject.rows(), [row], 'the rows of the list')
  },

  'attributes that were not given are absent, or null if their schema allows null': async (subject) => {
    const row = await subject.create({ title: 'Bare' })
    carries(row, { title: 'Bare' })
    carries(existing(await subject.get(row.id)), { title: 'Bare' })
    carries(rowOf(await subject.update(row.id, { count: 1 })), { title: 'Bare', count: 1 })
  },

  'a store without rows lists nothing and finds nothing': async (subject) => {
    same(await subject.rows(), [], 'the rows of the list')
    for (const id of subject.unknownIds()) same(await subject.get(id), undefined, `the row of the unknown id ${id}`)
  },

  'an id without a row is neither found nor written': async (subject) => {
    const row = await subject.create()
    for (const id of subject.unknownIds()) {
      same(await subject.get(id), undefined, `the row of the unknown id ${id}`)
      isMissing(await subject.update(id, { title: 'Written' }))
      isMissing(await subject.update(id, { title: 'Written' }, { version: row.version }))
      isMissing(await subject.delete(id))
      isMissing(await subject.delete(id, { version: row.version }))
    }
    await holds(subject, [row])
  },

  'an update changes only the given attributes': async (subject) => {
    const given = {
      title: 'Before',
      email: 'a@example.com',
      count: 1,
      ratio: 0.5,
      done: true,
      tags: ['a'],
      details: { a: { b: 1 } }
    }
    const other = await subject.create({ title: 'Other' })
    const row = await subject.create(given)
    const changes = { title: 'After', tags: [], details: { c: 2 } }
    const updated = rowOf(await subject.update(row.id, changes))
    same(updated.id, row.id, 'the id of the row that update returns')
    carries(updated, { ...given, ...changes })
    await holds(subject, [other, updated])
  },

  'an update with null sets the attribute to null': async (subject) => {
    const row = await subject.create({ email: 'a@example.com', count: 0, shelf: 1, at: '2024-01-01T00:00:00Z' })
    const changes = { email: null, count: null, at: null }
    const updated = rowOf(await subject.update(row.id, changes))
    carries(updated, { title: 'T', shelf: 1, ...changes })
    same(await subject.get(row.id), updated, 'the row that get returns')
    const again = rowOf(await subject.update(row.id, { count: 0 }))
    carries(again, { title: 'T', shelf: 1, ...changes, count: 0 })
  },

  'an update with undefined removes the attribute': async (subject) => {
    const given = { title: 'T', tenant: 'a', count: 1, ratio: 0.5, done: true, tags: ['a'], details: {}, order: 'b' }
    const { id } = await subject.create(given)
    const removed = Object.fromEntries(Object.keys(given).map((name) => [name, undefined]))
    const kept = { title: 'T', count: 1 }
    const updated = rowOf(await subject.update(id, { ...removed, ...kept, email: undefined }))
    carries(updated, kept)
    same(await subject.get(id), updated, 'the row that get returns')
    const again = rowOf(await subject.update(id, { count: undefined, ratio: 1.5 }))
    carries(again, { title: 'T', ratio: 1.5 })
    await holds(subject, [again])
  },

  'an update adds attributes that the row did not have': async (subject) => {
    const { id } = await subject.create()
    const changes = Object.fromEntries(ODD_NAMES.map((name) => [name, name]))
    carries(rowOf(await subject.update(id, changes)), { title: 'T', ...changes })
    carries(existing(await subject.get(id)), { title: 'T', ...changes })
  },

  'a deletion returns the row as it was, and the row is gone': async (subject) => {
    const [row, other] = [await subject.create({ title: 'Gone', count: 1 }), await subject.create({ title: 'Here' })]
    same(rowOf(await subject.delete(row.id)), row, 'the row that delete returns')
    same(await subject.get(row.id), undefined, 'the row that was deleted')
    isMissing(await subject.delete(row.id))
    isMissing(await subject.update(row.id, { title: 'Back' }))
    await holds(subject, [other])
  },

  'each write makes a new version, even if it changes nothing, and no version comes back': async (subject) => {
    const row = await subject.create({ count: 1 })
    const versions = [row.version]
    const counts = subject.countsWrites ? [undefined, 1, 2, 1, ...times(20, () => undefined)] : [undefined, 1, 2, 3]
    for (const count of counts) {
      const updated = rowOf(await subject.update(row.id, count === undefined ? {} : { count }))
      versions.push(updated.version)
      same(await subject.get(row.id), updated, 'the row that get returns')
    }
    // A digest of values is the same after the first two updates, which change none.
    if (subject.countsWrites) distinct(versions, 'versions that a row had twice')
    else same(versions.map((version) => versions.indexOf(version)), [0, 0, 0, 3, 4], 'the first index of each version')
  },

  'reads change no version': async (subject) => {
    const row = await subject.create()
    await subject.rows()
    await subject.get(row.id)
    await subject.create()
    same(await subject.get(row.id), row, 'the row after it was read')
  },

  'each id is unique, and is not used again after a deletion': async (subject) => {
    const rows = await subject.seed(20)
    const last = await subject.create()
    rowOf(await subject.delete(last.id))
    const next = await subject.create()
    for (const { id } of [...rows, next]) rowOf(await subject.delete(id))
    const again = await subject.seed(5)
    distinct(idsOf([...rows, last, next, ...again]), 'ids that were given twice')
  },

  'the version of a deleted row does not match a row that is created later': async (subject) => {
    for (const title of ['one', 'two', 'three']) {
      const { id, version } = await subject.create({ title })
      rowOf(await subject.delete(id, { version }))
      const later = await subject.create({ title })
      isMissing(await subject.update(id, { title: 'written' }, { version }))
      isMissing(await subject.delete(id, { version }))
      same(await subject.get(later.id), later, 'the row that was created later')
      rowOf(await subject.delete(later.id))
    }
  },

  'a hundred concurrent creates make a hundred rows': async (subject) => {
    const rows = await subject.seed(100, (count) => ({ count }))
    distinct(idsOf(rows), 'ids that were given twice')
    same(rows.map(({ attributes }) => attributes.count), times(100, (index) => index), 'the value of each row')
    await holds(subject, rows)
  },

  'ids have the type that the store declares': async (subject) => {
    const { id = subject.id } = subject.store
    same(id, subject.id, 'the type of ids that the store declares, which must be the requested one')
    await subject.create()
  }
}

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
