import { DuplicateError } from '../../../../lib/core/errors.js'
import type { Id, Row } from '../../../../lib/core/resource/row.js'
import type { Attributes, Scalar } from '../../../../lib/core/schema/types.js'
import type { Guard, WriteOutcome } from '../../../../lib/core/stores/store.js'
import {
  answers, hasLoosely, type MakeStore, type Mutant, over, readsUuid, takes, takesText, UUID,
  withSteps
} from './altered-stores.js'
import {
  copy, isTaken, type Method, referenceStore, type Steps, steps, type Table, valueOf
} from './reference-store.js'

const CREATED = 'a create returns a row with the given attributes, and the row can be read'
const UPDATED = 'an update changes only the given attributes'
const ALL_KEPT = 'concurrent updates of different attributes are all kept'
const UPDATE_RACE = 'exactly one of all concurrent updates with the same version succeeds'

/** Answers an update by what is made of its outcome. */
const afterUpdate = (answer: (written: WriteOutcome, id: Id, guard: Guard) => WriteOutcome): MakeStore =>
  over((store) => ({
    update: async (id, changes, guard, context) => answer(await store.update(id, changes, guard, context), id, guard)
  }))

/** Answers a deletion by what is made of its outcome and of the row before it. */
const afterDelete = (
  answer: (written: WriteOutcome, before: Row | undefined, rows: Table['rows']) => WriteOutcome
): MakeStore => over((store, { rows }) => ({
  delete: async (id, ...given) => {
    const row = rows.get(id)
    return answer(await store.delete(id, ...given), row, rows)
  }
}))

/** Merges only some of the changes. */
const mergesWhere = (test: (value: unknown, name: string, attributes: Attributes) => boolean): Partial<Steps> => ({
  merge: (attributes, changes, scope) => ({
    ...attributes,
    ...Object.fromEntries(Object.entries(changes).filter(([name, value]) => test(value, name, attributes))),
    ...scope
  })
})

const rowMutants: readonly Mutant[] = [
  ['forgets what it is given', { stamp: () => ({}) }, CREATED],
  ['puts the id among the attributes', answers((row) => {
    row.attributes = { ...row.attributes, id: row.id }
  }), CREATED],
  ['gives null for what is absent', answers((row) => {
    row.attributes = { code: null, ...row.attributes }
  }), 'attributes that were not given are absent, or null if their schema allows null'],
  ['answers null where there is no row', over((store) => ({
    get: async (...given) => (await store.get(...given) ?? null) as unknown as undefined
  })), 'a store without rows lists nothing and finds nothing'],
  ['finds a row for every id', over((store, { rows }) => ({
    get: async (...given) => await store.get(...given) ?? [...rows.values()][0]
  })), 'an id without a row is neither found nor written'],
  ['keeps a deleted row', afterDelete((written, row, rows) => {
    if (row) rows.set(row.id, row)
    return written
  }), 'a deletion returns the row as it was, and the row is gone'],
  ['overwrites the whole row', { merge: (_attributes, changes, scope) => ({ ...changes, ...scope }) }, UPDATED,
    ALL_KEPT],
  ['takes null for absence', mergesWhere((value) => value !== null), 'an update with null sets the attribute to null'],
  ['ignores undefined', mergesWhere((value) => value !== undefined),
    'an update with undefined removes the attribute'],
  ['only updates what was there', mergesWhere((_value, name, attributes) => Object.hasOwn(attributes, name)),
    'an update adds attributes that the row did not have'],
  ['keeps the version where nothing changes', {
    versionAfter: (row, changes) => Object.keys(changes).length === 0 ? row.version : steps.versionAfter(row, changes)
  }, 'each write makes a new version, even if it changes nothing, and no version comes back'],
  ['has versions that cannot stand in an ETag', { versionAfter: ({ version }) => `${version}"` }, UPDATED],
  ['changes the version with each read', over((store, { rows }) => ({
    get: async (id, ...given) => {
      const row = rows.get(id)
      if (row) rows.set(id, { ...row, version: `${row.version}0` })
      return store.get(id, ...given)
    }
  })), 'reads change no version'],
  ['gives the id of the last row again', { nextId: ({ rows }) => Math.max(0, ...rows.keys() as Iterable<number>) + 1 },
    'each id is unique, and is not used again after a deletion',
    'the version of a deleted row does not match a row that is created later'],
  ['gives one id to two rows', { nextId: (table) => table.lastId++ % 50 + 1 },
    'a hundred concurrent creates make a hundred rows'],
  ['declares ids that it does not make', over(() => ({ id: 'uuid' })), 'ids have the type that the store declares',
    CREATED]
]

const takesNumber = (change: (number: number) => unknown): Partial<Steps> =>
  takes((value) => typeof value === 'number' ? change(value) : value)

const valueMutants: readonly Mutant[] = [
  ['takes text that looks like a number for one', takesText((text) =>
    text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text),
  'texts are kept exactly', 'values of different types are kept apart'],
  ['keeps 65,535 characters', takesText((text) => text.slice(0, 65_535)), 'a text of a million characters is kept'],
  ['ends texts at U+0000', takesText((text) => text.split('\0')[0]),
    'a text that a store cannot keep is refused as invalid, and nothing is written'],
  ['rounds integers', takesNumber((number) => Number.isInteger(number) ? Math.fround(number) : number),
    'integers are kept up to 2^53 - 1'],
  ['rounds numbers', takesNumber((number) => Number(number.toPrecision(15))), 'numbers are kept to the last bit'],
  ['keeps booleans as numbers', takes((value) => typeof value === 'boolean' ? Number(value) : value),
    'true is kept as true, false as false'],
  ['keeps times as instants', takesText((text) =>
    /^\d{4}-.*Z$/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : text),
  'times are kept as the text that was given'],
  ['keeps UUIDs in capitals', takesText((text) => UUID.test(text) ? text.toUpperCase() : text),
    'UUIDs are kept as they were given'],
  ['keeps no empty array', takes((value) => Array.isArray(value) && value.length === 0 ? null : value),
    'arrays are kept in their order, empty ones too'],
  ['drops null in objects', takes((value) =>
    JSON.parse(JSON.stringify(value), (_name, part: unknown) => part ?? undefined) as unknown),
  'objects are kept with all their members'],
  ['takes a point in a name for a path', {
    take: <T>(given: T) => Object.fromEntries(Object.entries(given as Attributes).map(([name, value]) =>
      [name.split('.')[0] as string, value])) as T
  }, 'attributes may have any name']
]

/** Hands out the kept rows themselves at this place, and copies elsewhere. */
const handsOutAt = (own: Method | 'create' | 'stale'): Partial<Steps> => ({
  hand: (row, place) => place === own ? row : copy(row)
})

const ownershipMutants: readonly Mutant[] = [
  ['keeps what it is given', { take: (given) => given },
    'a create keeps a copy of what it is given', 'an update keeps a copy of what it is given'],
  ['hands out its rows when it creates them', handsOutAt('create'), 'a create returns a copy of the row'],
  ['hands out its rows to get', handsOutAt('get'), 'get returns a copy of the row'],
  ['hands out its rows in lists', handsOutAt('list'), 'a list returns copies of the rows'],
  ['hands out its rows when it updates them', handsOutAt('update'), 'an update returns a copy of the row'],
  ['hands out its rows where a version is stale', handsOutAt('stale'),
    'an update with a stale version returns a copy of the row',
    'a deletion with a stale version returns a copy of the row'],
  ['changes rows that it has handed out', {
    hand: (row) => row,
    merge: (attributes, changes, scope) => Object.assign(attributes, changes, scope)
  }, 'a row that was returned never changes']
]

const TAKEN = 'a create with a value that is taken throws a DuplicateError, and creates nothing'
const UPDATE_TAKEN = 'an update to a value that is taken throws a DuplicateError, and changes nothing'

/** Throws something where a value is taken. */
const throwsDuplicate = (make: () => unknown): Partial<Steps> => ({
  checkUnique (table, row, unique) {
    for (const names of unique) if (isTaken(table, row, [names].flat())) throw make()
  }
})

/** Takes an email for taken if another row has one that is alike. */
const emailsConflict = (areAlike: (one: Scalar, other: Scalar) => boolean): Partial<Steps> => ({
  checkUnique ({ rows }, row) {
    for (const other of rows.values()) {
      if (other.id !== row.id && areAlike(valueOf(row, 'email'), valueOf(other, 'email'))) {
        throw new DuplicateError('email')
      }
    }
  }
})

/** Returns a function that takes the email of a row for good. */
function emailTaker (): (row: Row) => void {
  const taken = new Map<Scalar, Id>()
  return (row) => {
    const email = valueOf(row, 'email')
    const owner = taken.get(email) ?? row.id
    if (email !== null && owner !== row.id) throw new DuplicateError('email')
    taken.set(email, row.id)
  }
}

const uniqueMutants: readonly Mutant[] = [
  ['knows no duplicates', { checkUnique: () => {} }, TAKEN, UPDATE_TAKEN],
  ['knows no duplicates of groups', {
    checkUnique: (table, row, unique) => steps.checkUnique(table, row, unique.slice(0, 1))
  }, 'in a group, only the combination of values is unique', 'a value of the scope counts like any other value'],
  ['writes what it refuses', {
    checkUnique (table, row, unique) {
      try {
        steps.checkUnique(table, row, unique)
      } finally {
        table.rows.set(row.id, row)
      }
    }
  }, TAKEN, UPDATE_TAKEN],
  ['takes null for a value', emailsConflict((one, other) => one === other), 'null and missing values are never taken'],
  ['takes a row for another', {
    checkUnique: (table, row, unique) => steps.checkUnique(table, { ...row, id: -1 }, unique)
  }, 'a row may be given its own value again'],
  ['knows no capital letters', emailsConflict((one, other) =>
    one !== null && String(one).toLowerCase() === String(other).toLowerCase()),
  'values that only look alike do not conflict'],
  ['never frees what was taken', withSteps(() => {
    const take = emailTaker()
    return { checkUnique: (_table, row) => take(row) }
  }), 'a value is free again once its row is deleted', 'a value is free again once its row has another value'],
  ['takes a value before it looks at the guard', over((store) => {
    const take = emailTaker()
    return {
      update: async (id, changes, ...given) => {
        take({ id, version: '', attributes: changes })
        return store.update(id, changes, ...given)
      },
      create: async (...given) => {
        const row = await store.create(...given)
        take(row)
        return row
      }
    }
  }), 'a write that is refused takes no value, and frees none'],
  ['names another attribute', throwsDuplicate(() => new DuplicateError('title')), TAKEN],
  ['looks for duplicates first, and creates then', (needs, table) => {
    const store = referenceStore(needs, { checkUnique: () => {} }, table)
    const check = (id: Id, attributes: Attributes): void =>
      steps.checkUnique(table, { id, version: '', attributes }, needs.unique)
    return {
      ...store,
      create: async (attributes, ...given) => {
        check(0, attributes)
        return store.create(attributes, ...given)
      },
      update: async (id, changes, ...given) => {
        check(id, changes)
        return store.update(id, changes, ...given)
      }
    }
  }, 'exactly one of several concurrent creates with the same value succeeds',
  'exactly one of several concurrent updates to the same value succeeds'],
  ['knows duplicates in a scope alone', {
    checkUnique (table, row) {
      if (isTaken(table, row, ['email', 'tenant'])) throw new DuplicateError('email')
    }
  }, 'a value is taken in all scopes if the scope is not part of the group']
]

const STALE_UPDATE = 'an update with a stale version changes nothing and returns the current row'
const STALE_DELETE = 'a deletion with a stale version deletes nothing and returns the current row'

const guardMutants: readonly Mutant[] = [
  ['looks at the guard, and writes then', { hesitate: async () => {} }, UPDATE_RACE,
    'exactly one of several concurrent deletions succeeds', ALL_KEPT,
    'a concurrent update and deletion happen one after the other',
    'exactly one of an update and a deletion with the same version succeeds'],
  ['says that a stale row is missing', { refuse: () => ({ ok: false, why: 'missing' }) }, STALE_UPDATE, STALE_DELETE],
  ['shows a row as it was', { refuse: (current) => steps.refuse({ ...current, version: '1' }) }, STALE_UPDATE,
    UPDATE_RACE],
  ['is stale always', { fits: (version) => version === undefined },
    'an update with the current version succeeds', 'a deletion with the current version succeeds'],
  ['wants a version', { fits: (version, row) => version === row.version },
    'a write without a version succeeds for every version'],
  ['deletes whatever the version', {
    fits: (version, row, method) => method === 'delete' || steps.fits(version, row, method)
  }, STALE_DELETE],
  ['compares versions as numbers', {
    fits: (version, row) => version === undefined || Number(version) === Number(row.version)
  }, 'a version that no row ever had is stale, whatever it looks like'],
  ['says that a missing row is stale', afterUpdate((written, id, guard) =>
    !written.ok && guard.version !== undefined ? steps.refuse({ id, version: '1', attributes: {} }) : written),
  'a write to a deleted row reports that the row is missing, whatever the version']
]

const SCOPED_READ = 'a read sees no row outside of its scope'
const NO_MOVE = 'an update moves no row out of its scope or into it'
const SCOPE_OF_SEVERAL = 'a scope of several attributes contains the rows that match all of them'

const ignoresScopeAt = (place: Method): Partial<Steps> => ({
  isIn: (row, scope, method) => method === place || steps.isIn(row, scope, method)
})

/** Looks at some values of a scope alone. */
const looksAt = (test: (value: Scalar, index: number) => boolean): Partial<Steps> => ({
  isIn: (row, scope, method) => steps.isIn(row, Object.fromEntries(Object.entries(scope).filter(([, value], index) =>
    test(value, index))), method)
})

const scopeMutants: readonly Mutant[] = [
  ['ignores the scope in get', ignoresScopeAt('get'), SCOPED_READ, 'values of scopes must match exactly'],
  ['ignores the scope in lists', ignoresScopeAt('list'), SCOPED_READ, SCOPE_OF_SEVERAL,
    'limit and position count only the rows of the scope'],
  ['ignores the scope in updates', ignoresScopeAt('update'), 'an update reaches no row outside of its scope', NO_MOVE],
  ['ignores the scope in deletions', ignoresScopeAt('delete'), 'a deletion reaches no row outside of its scope'],
  ['finds nothing in a scope', { isIn: (_row, scope) => Object.keys(scope).length === 0 },
    'writes to rows in their scope work as they do without a scope'],
  ['stamps on what was not given', { stamp: (attributes, scope) => ({ ...scope, ...attributes }) },
    'a create sets the values of its scope, whatever attributes it is given'],
  ['lets an update leave its scope', { merge: (attributes, changes) => ({ ...attributes, ...changes }) }, NO_MOVE],
  ['never moves a row', {
    merge: (attributes, changes, scope) => ({
      ...attributes, ...changes, ...('tenant' in attributes ? { tenant: attributes.tenant } : {}), ...scope
    })
  }, 'an update without a scope may move a row to another scope'],
  ['looks at one attribute of a scope', looksAt((_value, index) => index === 0), SCOPE_OF_SEVERAL],
  ['takes null for anything', looksAt((value) => value !== null), 'null in a scope matches null and a missing value'],
  ['reads other spellings of a UUID in a scope', { isIn: readsUuid },
    'a scope with a text that is not a UUID in lower case has no rows'],
  ['compares a scope loosely', { isIn: hasLoosely }, 'a scope does not match a value of another type'],
  ['finds what every object has', {
    isIn: (row, scope, method) =>
      ('toString' in scope && !Object.hasOwn(row.attributes, 'toString')) || steps.isIn(row, scope, method)
  }, 'a scope does not match inherited names such as toString']
]

/** Stores that keep, guard or change single rows wrongly. */
export const mutantsOfRows: readonly Mutant[] = [
  ...rowMutants, ...valueMutants, ...ownershipMutants, ...uniqueMutants, ...guardMutants, ...scopeMutants
]
