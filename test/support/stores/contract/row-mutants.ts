import { DuplicateError, InvalidError } from '../../../../lib/core/errors.js'
import type { Id, Row } from '../../../../lib/core/resource/row.js'
import type { Attributes, Scalar } from '../../../../lib/core/schema/types.js'
import type { Guard, WriteOutcome } from '../../../../lib/core/stores/store.js'
import {
  answers, demandsUuid, hasLoosely, hasWhere, type MakeStore, type Mutant, over, readsUuid, takes, takesText, UUID,
  withSteps
} from './altered-stores.js'
import {
  copy, isTaken, type Method, referenceStore, type Steps, steps, type Table, valueOf
} from './reference-store.js'

const CREATED = 'a create returns a row with the given attributes, and the row can be read'
const UPDATED = 'an update changes only the given attributes'
const DELETED = 'a deletion returns the row as it was, and the row is gone'
const ALL_KEPT = 'concurrent updates of different attributes are all kept'
const NEW_VERSION = 'each write makes a new version, even if it changes nothing, and no version comes back'
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
  ['answers a create with another row', {
    hand: (row, place) => place === 'create' ? { ...row, attributes: {} } : row
  }, CREATED],
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
  ['hands out rows without attributes', answers((row) => {
    row.attributes = undefined as unknown as Attributes
  }), CREATED],
  ['answers nothing to a write', afterUpdate(() => undefined as unknown as WriteOutcome), UPDATED],
  ['answers a write by its row', afterDelete((written) => (written.ok ? written.row : written) as WriteOutcome),
    DELETED],
  ['answers a deletion with less than the row was', afterDelete((written) =>
    written.ok ? { ok: true, row: { ...written.row, attributes: {} } } : written), DELETED],
  ['keeps a deleted row', afterDelete((written, row, rows) => {
    if (row) rows.set(row.id, row)
    return written
  }), DELETED],
  ['overwrites the whole row', { merge: (_attributes, changes, scope) => ({ ...changes, ...scope }) }, UPDATED,
    ALL_KEPT],
  ['merges objects', {
    merge: (attributes, changes, scope) => ({
      ...attributes,
      ...changes,
      ...('details' in changes ? { details: Object.assign({}, attributes.details, changes.details) } : {}),
      ...scope
    })
  }, UPDATED],
  ['takes null for absence', mergesWhere((value) => value !== null), 'an update with null sets the attribute to null'],
  ['ignores undefined', mergesWhere((value) => value !== undefined),
    'an update with undefined removes the attribute'],
  ['only updates what was there', mergesWhere((_value, name, attributes) => Object.hasOwn(attributes, name)),
    'an update adds attributes that the row did not have'],
  ['keeps the version where nothing changes', {
    versionAfter: (row, changes) => Object.keys(changes).length === 0 ? row.version : steps.versionAfter(row, changes)
  }, NEW_VERSION],
  ['has two versions by turns', { versionAfter: ({ version }) => version === '1' ? '2' : '1' }, NEW_VERSION,
    UPDATE_RACE],
  ['has versions that cannot stand in an ETag', { versionAfter: ({ version }) => `${version}"` }, UPDATED],
  ['has versions that are numbers', answers((row) => {
    row.version = Number(row.version) as unknown as string
  }), CREATED],
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
  ['gives ids as text', { nextId: (table) => String(++table.lastId) }, CREATED],
  ['declares ids that it does not make', over(() => ({ id: 'uuid' })), 'ids have the type that the store declares',
    CREATED]
]

const TEXTS = 'texts are kept exactly'
const LONG_TEXT = 'a text of a million characters is kept'
const REFUSED_TEXT = 'a text that a store cannot keep is refused as invalid, and nothing is written'
const TIMES = 'times are kept as the text that was given'
const ARRAYS = 'arrays are kept in their order, empty ones too'

const takesNumber = (change: (number: number) => unknown): Partial<Steps> =>
  takes((value) => typeof value === 'number' ? change(value) : value)

const valueMutants: readonly Mutant[] = [
  ['takes text that looks like a number for one', takesText((text) =>
    text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text),
  TEXTS, 'values of different types are kept apart'],
  ['takes the empty text for null', takesText((text) => text === '' ? null : text), TEXTS],
  ['trims', takesText((text) => text.trim()), TEXTS],
  ['turns line ends', takesText((text) => text.replaceAll('\r\n', '\n')), TEXTS],
  ['normalizes text', takesText((text) => text.normalize()), TEXTS],
  ['knows the basic plane alone', takesText((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')), TEXTS],
  ['keeps 65,535 characters', takesText((text) => text.slice(0, 65_535)), LONG_TEXT],
  ['keeps texts in objects up to 65,535 characters', takes((value) =>
    typeof value === 'object' && value !== null && 'long' in value
      ? { long: String(value.long).slice(0, 65_535) }
      : value), LONG_TEXT],
  ['ends texts at U+0000', takesText((text) => text.split('\0')[0]), REFUSED_TEXT],
  ['refuses a text as what it is not', takesText((text) => {
    if (!text.isWellFormed()) throw new Error('no')
    return text
  }), REFUSED_TEXT],
  ['refuses a text in creates alone', over((store) => ({
    create: async (attributes, ...given) => {
      if (/\0/.test(String(attributes.title))) throw new InvalidError({ title: ['no'] })
      return store.create(attributes, ...given)
    }
  })), REFUSED_TEXT],
  ['rounds integers', takesNumber((number) => Number.isInteger(number) ? Math.fround(number) : number),
    'integers are kept up to 2^53 - 1'],
  ['rounds numbers', takesNumber((number) => Number(number.toPrecision(15))), 'numbers are kept to the last bit'],
  ['keeps booleans as numbers', takes((value) => typeof value === 'boolean' ? Number(value) : value),
    'true is kept as true, false as false'],
  ['keeps times as instants', takesText((text) =>
    /^\d{4}-.*Z$/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : text), TIMES],
  ['keeps UUIDs in capitals', takesText((text) => UUID.test(text) ? text.toUpperCase() : text),
    'UUIDs are kept as they were given'],
  ['answers times as Dates', answers(({ attributes }) => {
    if (attributes.at != null) Object.assign(attributes, { at: new Date(String(attributes.at)) })
  }), TIMES],
  ['keeps arrays as sets', takes((value) => Array.isArray(value) ? [...new Set<unknown>(value)].sort() : value),
    ARRAYS],
  ['keeps no empty array', takes((value) => Array.isArray(value) && value.length === 0 ? null : value), ARRAYS],
  ['drops null in objects', takes((value) =>
    JSON.parse(JSON.stringify(value), (_name, part: unknown) => part ?? undefined) as unknown),
  'objects are kept with all their members'],
  ['takes a point in a name for a path', {
    take: <T>(given: T) => Object.fromEntries(Object.entries(given as Attributes).map(([name, value]) =>
      [name.split('.')[0] as string, value])) as T
  }, 'attributes may have any name']
]

const GET_COPY = 'get returns a copy of the row'
const STAMPED = 'a create sets the values of its scope, whatever attributes it is given'

/** Hands out the kept rows themselves at this place, and copies elsewhere. */
const handsOutAt = (own: Method | 'create' | 'stale'): Partial<Steps> => ({
  hand: (row, place) => place === own ? row : copy(row)
})

const ownershipMutants: readonly Mutant[] = [
  ['keeps what it is given', { take: (given) => given },
    'a create keeps a copy of what it is given', 'an update keeps a copy of what it is given'],
  ['hands out its rows when it creates them', handsOutAt('create'), 'a create returns a copy of the row'],
  ['hands out its rows to get', handsOutAt('get'), GET_COPY],
  ['hands out its rows in lists', handsOutAt('list'), 'a list returns copies of the rows'],
  ['hands out its rows when it updates them', handsOutAt('update'), 'an update returns a copy of the row'],
  ['hands out its rows where a version is stale', handsOutAt('stale'),
    'an update with a stale version returns a copy of the row',
    'a deletion with a stale version returns a copy of the row'],
  ['freezes its rows, but not what is in them', {
    hand: (row) => Object.freeze({ ...row, attributes: Object.freeze({ ...row.attributes }) })
  }, GET_COPY],
  ['changes rows that it has handed out', {
    hand: (row) => row,
    merge: (attributes, changes, scope) => Object.assign(attributes, changes, scope)
  }, 'a row that was returned never changes'],
  ['writes to what it is given', over((store) => ({
    create: (attributes, scope, context) => store.create(Object.assign(attributes, scope), {}, context)
  })), STAMPED]
]

const TAKEN = 'a create with a value that is taken throws a DuplicateError, and creates nothing'
const UPDATE_TAKEN = 'an update to a value that is taken throws a DuplicateError, and changes nothing'
const GROUP = 'in a group, only the combination of values is unique'
const CREATE_RACE = 'exactly one of several concurrent creates with the same value succeeds'

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

function joinGroup (row: Row): Row {
  const [tenant, code] = [valueOf(row, 'tenant'), valueOf(row, 'code')]
  const attributes = tenant === null || code === null ? {} : { tenant: '', code: `${String(tenant)}${String(code)}` }
  return { ...row, attributes }
}

const uniqueMutants: readonly Mutant[] = [
  ['knows no duplicates', { checkUnique: () => {} }, TAKEN, UPDATE_TAKEN],
  ['knows no duplicates of groups', {
    checkUnique: (table, row, unique) => steps.checkUnique(table, row, unique.slice(0, 1))
  }, GROUP, 'a value of the scope counts like any other value'],
  ['takes each attribute of a group for unique', {
    checkUnique: (table, row, unique) => steps.checkUnique(table, row, unique.flat())
  }, GROUP],
  ['joins the values of a group', {
    checkUnique ({ rows }, row, unique) {
      const joined = new Map([...rows].map(([id, other]) => [id, joinGroup(other)]))
      steps.checkUnique({ rows: joined }, joinGroup(row), unique)
    }
  }, GROUP],
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
  ['names no attribute', throwsDuplicate(() => Object.assign(new DuplicateError('email'), { errors: {} })), TAKEN],
  ['throws a duplicate without errors', throwsDuplicate(() =>
    Object.assign(new DuplicateError('email'), { errors: undefined })), TAKEN],
  ['throws any error', throwsDuplicate(() => new Error('UNIQUE constraint failed')), TAKEN, CREATE_RACE],
  ['throws nothing at all', throwsDuplicate(() => undefined), TAKEN],
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
  }, CREATE_RACE, 'exactly one of several concurrent updates to the same value succeeds'],
  ['knows duplicates in a scope alone', {
    checkUnique (table, row) {
      if (isTaken(table, row, ['email', 'tenant'])) throw new DuplicateError('email')
    }
  }, 'a value is taken in all scopes if the scope is not part of the group']
]

const DELETE_RACE = 'exactly one of several concurrent deletions succeeds'
const STALE_UPDATE = 'an update with a stale version changes nothing and returns the current row'
const STALE_DELETE = 'a deletion with a stale version deletes nothing and returns the current row'
const STRANGE = 'a version that no row ever had is stale, whatever it looks like'

const guardMutants: readonly Mutant[] = [
  ['looks at the guard, and writes then', { hesitate: async () => {} }, UPDATE_RACE, DELETE_RACE, ALL_KEPT,
    'a concurrent update and deletion happen one after the other',
    'exactly one of an update and a deletion with the same version succeeds'],
  ['answers a concurrent deletion twice', over((store) => {
    let last: Promise<WriteOutcome> | undefined
    return {
      delete (...given) {
        const own = Promise.resolve(store.delete(...given))
        last ??= own
        return last
      }
    }
  }), DELETE_RACE],
  ['loses an update and tells of it', over((store, { rows }) => ({
    update: async (id, ...given) => {
      const row = rows.get(id)
      const written = await store.update(id, ...given)
      if (row !== undefined && Number(row.version) % 10 === 3) rows.set(id, { ...row, version: `${row.version}00` })
      return written
    }
  })), UPDATE_RACE],
  ['refuses a version and has it', afterUpdate((written) =>
    written.ok && written.row.version === '3' ? steps.refuse({ ...written.row, version: '2' }) : written), UPDATE_RACE],
  ['says that a stale row is missing', { refuse: () => ({ ok: false, why: 'missing' }) }, STALE_UPDATE, STALE_DELETE],
  ['does not show the current row', { refuse: () => ({ ok: false, why: 'stale' }) as unknown as WriteOutcome },
    STALE_UPDATE],
  ['shows a row as it was', { refuse: (current) => steps.refuse({ ...current, version: '1' }) }, STALE_UPDATE,
    UPDATE_RACE],
  ['is stale always', { fits: (version) => version === undefined },
    'an update with the current version succeeds', 'a deletion with the current version succeeds'],
  ['wants a version', { fits: (version, row) => version === row.version },
    'a write without a version succeeds for every version'],
  ['deletes whatever the version', {
    fits: (version, row, method) => method === 'delete' || steps.fits(version, row, method)
  }, STALE_DELETE],
  ['takes an empty version for none', { fits: (version, row) => !version || version === row.version }, STRANGE],
  ['compares versions as numbers', {
    fits: (version, row) => version === undefined || Number(version) === Number(row.version)
  }, STRANGE],
  ['reads versions up to what is no digit', {
    fits: (version, row) => version === undefined || parseInt(version) === Number(row.version)
  }, STRANGE],
  ['throws at versions that it does not know', {
    fits (version, row, method) {
      if (version !== undefined && !/^\d{1,9}$/.test(version)) {
        throw new TypeError('invalid input syntax for type integer')
      }
      return steps.fits(version, row, method)
    }
  }, STRANGE],
  ['says that a missing row is stale', afterUpdate((written, id, guard) =>
    !written.ok && guard.version !== undefined ? steps.refuse({ id, version: '1', attributes: {} }) : written),
  'a write to a deleted row reports that the row is missing, whatever the version']
]

const SCOPED_READ = 'a read sees no row outside of its scope'
const SCOPED_UPDATE = 'an update reaches no row outside of its scope'
const NO_MOVE = 'an update moves no row out of its scope or into it'
const SCOPE_OF_SEVERAL = 'a scope of several attributes contains the rows that match all of them'
const SCOPE_VALUES = 'values of scopes must match exactly'
const SCOPE_OF_NULL = 'null in a scope matches null and a missing value'
const SCOPE_OF_UUID = 'a scope with a text that is not a UUID in lower case has no rows'
const SCOPE_OF_TYPE = 'a scope does not match a value of another type'

const ignoresScopeAt = (place: Method): Partial<Steps> => ({
  isIn: (row, scope, method) => method === place || steps.isIn(row, scope, method)
})

/** Looks at some values of a scope alone. */
const looksAt = (test: (value: Scalar, index: number) => boolean): Partial<Steps> => ({
  isIn: (row, scope, method) => steps.isIn(row, Object.fromEntries(Object.entries(scope).filter(([, value], index) =>
    test(value, index))), method)
})

const scopeMutants: readonly Mutant[] = [
  ['ignores the scope in get', ignoresScopeAt('get'), SCOPED_READ, SCOPE_VALUES],
  ['ignores the scope in lists', ignoresScopeAt('list'), SCOPED_READ, SCOPE_OF_SEVERAL,
    'limit and position count only the rows of the scope'],
  ['ignores the scope in updates', ignoresScopeAt('update'), SCOPED_UPDATE, NO_MOVE],
  ['ignores the scope in deletions', ignoresScopeAt('delete'), 'a deletion reaches no row outside of its scope'],
  ['says that a row out of scope is stale', over((store, { rows }) => ({
    update: async (id, changes, guard, context) => {
      const row = rows.get(id)
      return row && guard.version === 'stale' ? steps.refuse(row) : store.update(id, changes, guard, context)
    }
  })), SCOPED_UPDATE],
  ['finds nothing in a scope', { isIn: (_row, scope) => Object.keys(scope).length === 0 },
    'writes to rows in their scope work as they do without a scope'],
  ['stamps nothing on', { stamp: (attributes) => attributes }, STAMPED],
  ['stamps on what was not given', { stamp: (attributes, scope) => ({ ...scope, ...attributes }) }, STAMPED],
  ['lets an update leave its scope', { merge: (attributes, changes) => ({ ...attributes, ...changes }) }, NO_MOVE],
  ['never moves a row', {
    merge: (attributes, changes, scope) => ({
      ...attributes, ...changes, ...('tenant' in attributes ? { tenant: attributes.tenant } : {}), ...scope
    })
  }, 'an update without a scope may move a row to another scope'],
  ['looks at one attribute of a scope', looksAt((_value, index) => index === 0), SCOPE_OF_SEVERAL],
  ['takes null for anything', looksAt((value) => value !== null), SCOPE_OF_NULL],
  ['never finds null', { isIn: hasWhere((value, wanted) => wanted !== null && value === wanted) }, SCOPE_OF_NULL],
  ['knows no blanks at the end', {
    isIn: hasWhere((value, wanted) => String(value).trimEnd() === String(wanted).trimEnd())
  }, SCOPE_VALUES],
  ['reads other spellings of a UUID in a scope', { isIn: readsUuid }, SCOPE_OF_UUID],
  ['fails where a scope is no UUID', { isIn: demandsUuid }, SCOPE_OF_UUID],
  ['compares a scope loosely', { isIn: hasLoosely }, SCOPE_OF_TYPE],
  ['compares a scope loosely in lists', {
    isIn: (row, scope, method) => method === 'list' ? hasLoosely(row, scope) : steps.isIn(row, scope, method)
  }, SCOPE_OF_TYPE],
  ['finds what every object has', {
    isIn: (row, scope, method) =>
      ('toString' in scope && !Object.hasOwn(row.attributes, 'toString')) || steps.isIn(row, scope, method)
  }, 'a scope does not match inherited names such as toString']
]

/** Stores that keep, guard or change single rows wrongly. */
export const mutantsOfRows: readonly Mutant[] = [
  ...rowMutants, ...valueMutants, ...ownershipMutants, ...uniqueMutants, ...guardMutants, ...scopeMutants
]
