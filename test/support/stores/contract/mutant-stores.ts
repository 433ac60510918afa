import { DuplicateError, InvalidError, UnknownOutcomeError } from '../../../../lib/core/errors.js'
import type { StoreRequirements } from '../../../../lib/contract/index.js'
import { comparePositions, positionOf } from '../../../../lib/core/stores/order.js'
import type { Attributes, Scalar } from '../../../../lib/core/schema/types.js'
import type { Condition, Context, Count, CountQuery, Operator, Order, Position, Query, Store, WriteOutcome } from '../../../../lib/core/stores/store.js'
import type { Id, Row, Scope } from '../../../../lib/core/resource/row.js'
import { copy, has, isTaken, type Method, referenceStore, type Steps, steps, Table, valueOf } from './reference-store.js'

export type MakeStore = (needs: StoreRequirements, table: Table) => Store

/** A store that breaks the contract: the mistake, the store, and the scenarios that must fail. */
export type Mutant = readonly [what: string, make: Partial<Steps> | MakeStore, ...scenarios: string[]]

type MutableRow = { -readonly [K in keyof Row]: Row[K] }

/** Returns the reference store with some of its methods replaced. */
function over (replace: (store: Store, table: Table, needs: StoreRequirements) => Partial<Store>): MakeStore {
  return (needs, table) => {
    const store = referenceStore(needs, {}, table)
    return { ...store, ...replace(store, table, needs) }
  }
}

/** Keeps another value than the given one. */
const takes = (change: (value: unknown) => unknown): Partial<Steps> => ({
  take: <T>(given: T) => Object.fromEntries(Object.entries(given as Attributes).map(([name, value]) => [name, change(copy(value))])) as T
})
const takesText = (change: (text: string) => unknown): Partial<Steps> => takes((value) => typeof value === 'string' ? change(value) : value)
const takesNumber = (change: (number: number) => unknown): Partial<Steps> => takes((value) => typeof value === 'number' ? change(value) : value)
/** Hands out the kept rows themselves at these places, and copies elsewhere. */
const handsOutAt = (...places: Array<Method | 'create' | 'stale'>): Partial<Steps> => ({ hand: (row, place) => places.includes(place) ? row : copy(row) })
const ignoresScopeAt = (place: Method): Partial<Steps> => ({ isIn: (row, scope, method) => method === place || steps.isIn(row, scope, method) })
const answers = (change: (row: MutableRow) => void): Partial<Steps> => ({
  hand (row) {
    const changed = copy(row) as MutableRow
    change(changed)
    return changed
  }
})
const throwsDuplicate = (make: (group: readonly string[]) => unknown): Partial<Steps> => ({
  checkUnique (table, row, unique) {
    for (const group of unique.map((names) => [names].flat())) if (isTaken(table, row, group)) throw make(group)
  }
})
/** Sorts by another comparison than the contract's. */
const compares = (compare: (a: Scalar, b: Scalar) => number): Partial<Steps> => ({
  compare (order, a, b) {
    for (const [index, { descending }] of order.entries()) {
      const compared = compare(a[index] as Scalar, b[index] as Scalar)
      if (compared !== 0) return descending ? -compared : compared
    }
    return 0
  }
})
const byIdOf = (order: Order, a: Position, b: Position): number => comparePositions(order.slice(-1), a.slice(-1), b.slice(-1))
const less = (a: never, b: never): number => a === b ? 0 : a < b ? -1 : 1
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** Matches like PostgreSQL, which reads UUIDs in any case, in braces and without hyphens. */
const readsUuid = (row: Row, values: Scope): boolean => Object.entries(values).every(([name, value]) => String(valueOf(row, name)).replaceAll('-', '') === String(value).toLowerCase().replaceAll(/[-{}]/g, ''))
const demandsUuid = (row: Row, values: Scope): boolean => {
  if (typeof values.owner === 'string' && !UUID.test(values.owner)) throw new Error('invalid input syntax for type uuid')
  return has(row, values)
}
const loosely = (row: Row, values: Scope): boolean => Object.entries(values).every(([name, value]) => String(valueOf(row, name)) === String(value))

/** Compares a filter of values as `has` compares a scope. */
const filtersLike = (has: (row: Row, values: Scope) => boolean): Partial<Steps> => ({
  matches: (row, filter) => has(row, Object.fromEntries(filter.map(({ attribute, operator, value }) => [attribute, operator === 'null' ? null : value as Scalar])))
})

async function rowsOf (store: Store, query: Query, context: Context): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of store.list(query, context)) rows.push(...batch)
  return rows
}

const LARGE_ROWS = 'a batch holds no more than 4 MiB beyond its largest row'
const LARGE_ROWS_IN_ORDER = 'in every order a batch holds no more than 4 MiB beyond its largest row'
const DISORDER = 'rows with the same first attribute are ordered by the second one, and then by id'
const STAYS = 'a row that stays is listed once, whatever is written meanwhile'
const STAYS_PAGED = 'a row that stays is on exactly one page, whatever is written in between'
const RACE = 'exactly one of all concurrent updates with the same version succeeds'
const TAKEN = 'a create with a value that is taken throws a DuplicateError, and creates nothing'
const STRANGE = 'a version that no row ever had is stale, whatever it looks like'
const TEXTS = 'texts are kept exactly'
const LEFT = 'a list that is left before its end blocks nothing'
const FIRST = 'a create returns a row with the given attributes, and the row can be read'

const rowMutants: readonly Mutant[] = [
  ['forgets what it is given', { stamp: () => ({}) }, FIRST],
  ['answers a create with another row', { hand: (row, place) => place === 'create' ? { ...row, attributes: {} } : row }, FIRST],
  ['puts the id among the attributes', answers((row) => { row.attributes = { ...row.attributes, id: row.id } }), FIRST],
  ['gives null for what is absent', answers((row) => { row.attributes = { code: null, ...row.attributes } }), 'attributes that were not given are absent, or null if their schema allows null'],
  ['answers null where there is no row', over((store) => ({ get: async (...given) => (await store.get(...given) ?? null) as unknown as undefined })), 'a store without rows lists nothing and finds nothing'],
  ['finds a row for every id', over((store, { rows }) => ({ get: async (...given) => await store.get(...given) ?? [...rows.values()][0] })), 'an id without a row is neither found nor written'],
  ['hands out rows without attributes', answers((row) => { row.attributes = undefined as unknown as Attributes }), FIRST],
  ['answers nothing to a write', over((store) => ({ update: async (...given) => { await store.update(...given); return undefined as unknown as WriteOutcome } })), 'an update changes only the given attributes'],
  ['answers a write by its row', over((store) => ({ delete: async (...given) => { const written = await store.delete(...given); return (written.ok ? written.row : written) as WriteOutcome } })), 'a deletion returns the row as it was, and the row is gone'],
  ['answers a deletion with less than the row was', over((store) => ({ delete: async (id, ...given) => { const written = await store.delete(id, ...given); return written.ok ? { ok: true, row: { ...written.row, attributes: {} } } : written } })), 'a deletion returns the row as it was, and the row is gone'],
  ['keeps a deleted row', over((store, { rows }) => ({ delete: async (id, ...given) => { const row = rows.get(id); const written = await store.delete(id, ...given); if (row) rows.set(id, row); return written } })), 'a deletion returns the row as it was, and the row is gone'],
  ['overwrites the whole row', { merge: (_attributes, changes, scope) => ({ ...changes, ...scope }) }, 'an update changes only the given attributes', 'concurrent updates of different attributes are all kept'],
  ['merges objects', { merge: (attributes, changes, scope) => ({ ...attributes, ...changes, ...('details' in changes ? { details: Object.assign({}, attributes.details, changes.details) } : {}), ...scope }) }, 'an update changes only the given attributes'],
  ['takes null for absence', { merge: (attributes, changes, scope) => ({ ...attributes, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)), ...scope }) }, 'an update with null sets the attribute to null'],
  ['ignores undefined', { merge: (attributes, changes, scope) => ({ ...attributes, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)), ...scope }) }, 'an update with undefined removes the attribute'],
  ['only updates what was there', { merge: (attributes, changes, scope) => ({ ...attributes, ...Object.fromEntries(Object.entries(changes).filter(([name]) => Object.hasOwn(attributes, name))), ...scope }) }, 'an update adds attributes that the row did not have'],
  ['keeps the version where nothing changes', { versionAfter: (row, changes) => Object.keys(changes).length === 0 ? row.version : steps.versionAfter(row, changes) }, 'each write makes a new version, even if it changes nothing, and no version comes back'],
  ['has two versions by turns', { versionAfter: ({ version }) => version === '1' ? '2' : '1' }, 'each write makes a new version, even if it changes nothing, and no version comes back', RACE],
  ['has versions that cannot stand in an ETag', { versionAfter: ({ version }) => `${version}"` }, 'an update changes only the given attributes'],
  ['has versions that are numbers', answers((row) => { row.version = Number(row.version) as unknown as string }), FIRST],
  ['changes the version with each read', over((store, { rows }) => ({ get: async (id, ...given) => { const row = rows.get(id); if (row) rows.set(id, { ...row, version: `${row.version}0` }); return store.get(id, ...given) } })), 'reads change no version'],
  ['gives the id of the last row again', { nextId: ({ rows }) => Math.max(0, ...rows.keys() as Iterable<number>) + 1 }, 'each id is unique, and is not used again after a deletion', 'the version of a deleted row does not match a row that is created later'],
  ['gives one id to two rows', { nextId: (table) => table.lastId++ % 50 + 1 }, 'a hundred concurrent creates make a hundred rows'],
  ['gives ids as text', { nextId: (table) => String(++table.lastId) }, FIRST],
  ['declares ids that it does not make', over(() => ({ id: 'uuid' })), 'ids have the type that the store declares', FIRST]
]

const valueMutants: readonly Mutant[] = [
  ['takes text that looks like a number for one', takesText((text) => text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text), TEXTS, 'values of different types are kept apart'],
  ['takes the empty text for null', takesText((text) => text === '' ? null : text), TEXTS],
  ['trims', takesText((text) => text.trim()), TEXTS],
  ['turns line ends', takesText((text) => text.replaceAll('\r\n', '\n')), TEXTS],
  ['normalizes text', takesText((text) => text.normalize()), TEXTS],
  ['knows the basic plane alone', takesText((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')), TEXTS],
  ['keeps 65,535 characters', takesText((text) => text.slice(0, 65_535)), 'a text of a million characters is kept'],
  ['keeps texts in objects up to 65,535 characters', takes((value) => typeof value === 'object' && value !== null && 'long' in value ? { long: String(value.long).slice(0, 65_535) } : value), 'a text of a million characters is kept'],
  ['ends texts at U+0000', takesText((text) => text.split('\0')[0]), 'a text that a store cannot keep is refused as invalid, and nothing is written'],
  ['refuses a text as what it is not', takesText((text) => { if (!text.isWellFormed()) throw new Error('no'); return text }), 'a text that a store cannot keep is refused as invalid, and nothing is written'],
  ['refuses a text in creates alone', over((store) => ({ create: async (attributes, ...given) => { if (/\0/.test(String(attributes.title))) throw new InvalidError({ title: ['no'] }); return store.create(attributes, ...given) } })), 'a text that a store cannot keep is refused as invalid, and nothing is written'],
  ['rounds integers', takesNumber((number) => Number.isInteger(number) ? Math.fround(number) : number), 'integers are kept up to 2^53 - 1'],
  ['rounds numbers', takesNumber((number) => Number(number.toPrecision(15))), 'numbers are kept to the last bit'],
  ['keeps booleans as numbers', takes((value) => typeof value === 'boolean' ? Number(value) : value), 'true is kept as true, false as false'],
  ['keeps times as instants', takesText((text) => /^\d{4}-.*Z$/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : text), 'times are kept as the text that was given'],
  ['keeps UUIDs in capitals', takesText((text) => UUID.test(text) ? text.toUpperCase() : text), 'UUIDs are kept as they were given'],
  ['answers times as Dates', answers(({ attributes }) => { if (attributes.at != null) Object.assign(attributes, { at: new Date(String(attributes.at)) }) }), 'times are kept as the text that was given'],
  ['keeps arrays as sets', takes((value) => Array.isArray(value) ? [...new Set<unknown>(value)].sort() : value), 'arrays are kept in their order, empty ones too'],
  ['keeps no empty array', takes((value) => Array.isArray(value) && value.length === 0 ? null : value), 'arrays are kept in their order, empty ones too'],
  ['drops null in objects', takes((value) => JSON.parse(JSON.stringify(value), (_name, part: unknown) => part ?? undefined) as unknown), 'objects are kept with all their members'],
  ['takes a point in a name for a path', { take: <T>(given: T) => Object.fromEntries(Object.entries(given as Attributes).map(([name, value]) => [name.split('.')[0] as string, value])) as T }, 'attributes may have any name']
]

const ownershipMutants: readonly Mutant[] = [
  ['keeps what it is given', { take: (given) => given }, 'a create keeps a copy of what it is given', 'an update keeps a copy of what it is given'],
  ['hands out its rows when it creates them', handsOutAt('create'), 'a create returns a copy of the row'],
  ['hands out its rows to get', handsOutAt('get'), 'get returns a copy of the row'],
  ['hands out its rows in lists', handsOutAt('list'), 'a list returns copies of the rows'],
  ['hands out its rows when it updates them', handsOutAt('update'), 'an update returns a copy of the row'],
  ['hands out its rows where a version is stale', handsOutAt('stale'), 'an update with a stale version returns a copy of the row', 'a deletion with a stale version returns a copy of the row'],
  ['freezes its rows, but not what is in them', { hand: (row) => Object.freeze({ ...row, attributes: Object.freeze({ ...row.attributes }) }) }, 'get returns a copy of the row'],
  ['changes rows that it has handed out', { hand: (row) => row, merge: (attributes, changes, scope) => Object.assign(attributes, changes, scope) }, 'a row that was returned never changes'],
  ['writes to what it is given', over((store) => ({ create: (attributes, scope, context) => store.create(Object.assign(attributes, scope), {}, context) })), 'a create sets the values of its scope, whatever attributes it is given']
]

const uniqueMutants: readonly Mutant[] = [
  ['knows no duplicates', { checkUnique: () => {} }, TAKEN, 'an update to a value that is taken throws a DuplicateError, and changes nothing'],
  ['knows no duplicates of groups', { checkUnique: (table, row, unique) => steps.checkUnique(table, row, unique.slice(0, 1)) }, 'in a group, only the combination of values is unique', 'a value of the scope counts like any other value'],
  ['takes each attribute of a group for unique', { checkUnique: (table, row, unique) => steps.checkUnique(table, row, unique.flat()) }, 'in a group, only the combination of values is unique'],
  ['joins the values of a group', { checkUnique: (table, row, unique) => { steps.checkUnique({ ...table, rows: new Map([...table.rows].map(([id, other]) => [id, joined(other)])) } as Table, joined(row), unique) } }, 'in a group, only the combination of values is unique'],
  ['writes what it refuses', { checkUnique: (table, row, unique) => { try { steps.checkUnique(table, row, unique) } finally { table.rows.set(row.id, row) } } }, TAKEN, 'an update to a value that is taken throws a DuplicateError, and changes nothing'],
  ['takes null for a value', { checkUnique: ({ rows }, row) => { for (const other of rows.values()) if (other.id !== row.id && valueOf(other, 'email') === valueOf(row, 'email')) throw new DuplicateError('email') } }, 'null and missing values are never taken'],
  ['takes a row for another', { checkUnique: (table, row, unique) => steps.checkUnique(table, { ...row, id: -1 }, unique) }, 'a row may be given its own value again'],
  ['knows no capital letters', { checkUnique: ({ rows }, row) => { for (const other of rows.values()) if (other.id !== row.id && valueOf(row, 'email') !== null && String(valueOf(other, 'email')).toLowerCase() === String(valueOf(row, 'email')).toLowerCase()) throw new DuplicateError('email') } }, 'values that only look alike do not conflict'],
  ['never frees what was taken', remembersEmails(), 'a value is free again once its row is deleted', 'a value is free again once its row has another value'],
  ['takes a value before it looks at the guard', remembersEmails(true), 'a write that is refused takes no value, and frees none'],
  ['names another attribute', throwsDuplicate(() => new DuplicateError('title')), TAKEN],
  ['names no attribute', throwsDuplicate(() => Object.assign(new DuplicateError('email'), { errors: {} })), TAKEN],
  ['throws a duplicate without errors', throwsDuplicate(() => Object.assign(new DuplicateError('email'), { errors: undefined })), TAKEN],
  ['throws any error', throwsDuplicate(() => new Error('UNIQUE constraint failed')), TAKEN, 'exactly one of several concurrent creates with the same value succeeds'],
  ['throws nothing at all', throwsDuplicate(() => undefined), TAKEN],
  ['looks for duplicates first, and creates then', (needs, table) => {
    const store = referenceStore(needs, { checkUnique: () => {} }, table)
    return {
      ...store,
      create: async (attributes, ...given) => { steps.checkUnique(table, { id: 0, version: '', attributes }, needs.unique); return store.create(attributes, ...given) },
      update: async (id, changes, ...given) => { steps.checkUnique(table, { id, version: '', attributes: changes }, needs.unique); return store.update(id, changes, ...given) }
    }
  }, 'exactly one of several concurrent creates with the same value succeeds', 'exactly one of several concurrent updates to the same value succeeds'],
  ['knows duplicates in a scope alone', { checkUnique: (table, row) => { if (isTaken(table, row, ['email', 'tenant'])) throw new DuplicateError('email') } }, 'a value is taken in all scopes if the scope is not part of the group']
]

const guardMutants: readonly Mutant[] = [
  ['looks at the guard, and writes then', { hesitate: async () => {} }, RACE, 'exactly one of several concurrent deletions succeeds', 'concurrent updates of different attributes are all kept', 'a concurrent update and deletion happen one after the other', 'exactly one of an update and a deletion with the same version succeeds'],
  ['answers a concurrent deletion twice', over((store) => { let last: Promise<WriteOutcome> | undefined; return { delete: (...given) => { const own = Promise.resolve(store.delete(...given)); last ??= own; return last } } }), 'exactly one of several concurrent deletions succeeds'],
  ['loses an update and tells of it', over((store, { rows }) => ({ update: async (id, ...given) => { const row = rows.get(id); const written = await store.update(id, ...given); if (row !== undefined && Number(row.version) % 10 === 3) rows.set(id, { ...row, version: `${row.version}00` }); return written } })), RACE],
  ['refuses a version and has it', over((store) => ({ update: async (id, changes, guard, context) => { const written = await store.update(id, changes, guard, context); return written.ok && written.row.version === '3' ? { ok: false, why: 'stale', current: { ...written.row, version: '2' } } : written } })), RACE],
  ['says that a stale row is missing', { refuse: () => ({ ok: false, why: 'missing' }) }, 'an update with a stale version changes nothing and returns the current row', 'a deletion with a stale version deletes nothing and returns the current row'],
  ['does not show the current row', { refuse: () => ({ ok: false, why: 'stale' }) as unknown as WriteOutcome }, 'an update with a stale version changes nothing and returns the current row'],
  ['shows a row as it was', { refuse: (current) => ({ ok: false, why: 'stale', current: { ...current, version: '1' } }) }, 'an update with a stale version changes nothing and returns the current row', RACE],
  ['is stale always', { fits: (version) => version === undefined }, 'an update with the current version succeeds', 'a deletion with the current version succeeds'],
  ['wants a version', { fits: (version, row) => version === row.version }, 'a write without a version succeeds for every version'],
  ['deletes whatever the version', { fits: (version, row, method) => method === 'delete' || steps.fits(version, row, method) }, 'a deletion with a stale version deletes nothing and returns the current row'],
  ['takes an empty version for none', { fits: (version, row) => !version || version === row.version }, STRANGE],
  ['compares versions as numbers', { fits: (version, row) => version === undefined || Number(version) === Number(row.version) }, STRANGE],
  ['reads versions up to what is no digit', { fits: (version, row) => version === undefined || parseInt(version) === Number(row.version) }, STRANGE],
  ['throws at versions that it does not know', { fits: (version, row, method) => { if (version !== undefined && !/^\d{1,9}$/.test(version)) throw new TypeError('invalid input syntax for type integer'); return steps.fits(version, row, method) } }, STRANGE],
  ['says that a missing row is stale', over((store) => ({ update: async (id, changes, guard, context) => { const written = await store.update(id, changes, guard, context); return !written.ok && guard.version !== undefined ? { ok: false, why: 'stale', current: { id, version: '1', attributes: {} } } : written } })), 'a write to a deleted row reports that the row is missing, whatever the version']
]

const scopeMutants: readonly Mutant[] = [
  ['ignores the scope in get', ignoresScopeAt('get'), 'a read sees no row outside of its scope', 'values of scopes must match exactly'],
  ['ignores the scope in lists', ignoresScopeAt('list'), 'a read sees no row outside of its scope', 'a scope of several attributes contains the rows that match all of them', 'limit and position count only the rows of the scope'],
  ['ignores the scope in updates', ignoresScopeAt('update'), 'an update reaches no row outside of its scope', 'an update moves no row out of its scope or into it'],
  ['ignores the scope in deletions', ignoresScopeAt('delete'), 'a deletion reaches no row outside of its scope'],
  ['says that a row out of scope is stale', over((store, { rows }) => ({ update: async (id, changes, guard, context) => { const row = rows.get(id); return row && guard.version === 'stale' ? { ok: false, why: 'stale', current: row } : store.update(id, changes, guard, context) } })), 'an update reaches no row outside of its scope'],
  ['finds nothing in a scope', { isIn: (_row, scope) => Object.keys(scope).length === 0 }, 'writes to rows in their scope work as they do without a scope'],
  ['stamps nothing on', { stamp: (attributes) => attributes }, 'a create sets the values of its scope, whatever attributes it is given'],
  ['stamps on what was not given', { stamp: (attributes, scope) => ({ ...scope, ...attributes }) }, 'a create sets the values of its scope, whatever attributes it is given'],
  ['lets an update leave its scope', { merge: (attributes, changes) => ({ ...attributes, ...changes }) }, 'an update moves no row out of its scope or into it'],
  ['never moves a row', { merge: (attributes, changes, scope) => ({ ...attributes, ...changes, ...('tenant' in attributes ? { tenant: attributes.tenant } : {}), ...scope }) }, 'an update without a scope may move a row to another scope'],
  ['looks at one attribute of a scope', { isIn: (row, scope, method) => steps.isIn(row, Object.fromEntries(Object.entries(scope).slice(0, 1)), method) }, 'a scope of several attributes contains the rows that match all of them'],
  ['takes null for anything', { isIn: (row, scope, method) => steps.isIn(row, Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== null)), method) }, 'null in a scope matches null and a missing value'],
  ['never finds null', { isIn: (row, scope) => Object.entries(scope).every(([name, value]) => value !== null && valueOf(row, name) === value) }, 'null in a scope matches null and a missing value'],
  ['knows no blanks at the end', { isIn: (row, scope) => Object.entries(scope).every(([name, value]) => String(valueOf(row, name)).trimEnd() === String(value).trimEnd()) }, 'values of scopes must match exactly'],
  ['reads other spellings of a UUID in a scope', { isIn: readsUuid }, 'a scope with a text that is not a UUID in lower case has no rows'],
  ['fails where a scope is no UUID', { isIn: demandsUuid }, 'a scope with a text that is not a UUID in lower case has no rows'],
  ['compares a scope loosely', { isIn: loosely }, 'a scope does not match a value of another type'],
  ['compares a scope loosely in lists', { isIn: (row, scope, method) => method === 'list' ? loosely(row, scope) : steps.isIn(row, scope, method) }, 'a scope does not match a value of another type'],
  ['finds what every object has', { isIn: (row, scope, method) => 'toString' in scope && !Object.hasOwn(row.attributes, 'toString') ? true : steps.isIn(row, scope, method) }, 'a scope does not match inherited names such as toString']
]

const listMutants: readonly Mutant[] = [
  ['lists the last row first', { compare: (order, a, b) => -comparePositions(order, a, b) }, 'a list has every row once, in the order of the ids'],
  ['lists a row twice', over((store) => ({ async * list (...given) { for await (const batch of store.list(...given)) yield [...batch, ...batch.slice(-1)] } })), 'a list has every row once, in the order of the ids'],
  ['lists one row too many', { limit: (limit = Infinity) => limit + 1 }, 'a list has as many rows as the limit, or all of them if there are fewer', 'each row is on exactly one page'],
  ['lists one row too few', { limit: (limit = Infinity) => limit - 1 }, 'a list has as many rows as the limit, or all of them if there are fewer', 'each row is on exactly one page'],
  ['begins with the row of the place', { isAfter: (order, row, after) => comparePositions(order, positionOf(row, order), after) >= 0 }, 'a list after a position has the rows that follow it', 'each row is on exactly one page', 'each row of a scope is on exactly one page'],
  ['begins after another row of the place', { isAfter: (order, row, after) => byIdOf(order, positionOf(row, order), after) > 0 }, 'in every order, each row is on exactly one page', 'in every order, each row of a scope is on exactly one page', 'a page may begin after a position that no row ever had'],
  ['needs a row at the place', (needs, table) => referenceStore(needs, { isAfter: (order, row, after) => table.rows.has(after.at(-1) as Id) && comparePositions(order, positionOf(row, order), after) > 0 }, table), 'a list may begin after a position without a row', STAYS_PAGED],
  ['counts places', over((store) => countsPlaces(store)), STAYS_PAGED, 'in every order, a row that stays is on exactly one page, whatever is written in between'],
  ['limits before it looks at the scope', over((store) => ({ async * list (query, context) { yield (await rowsOf(store, { ...query, scope: {} }, context)).filter((row) => steps.isIn(row, query.scope, 'list')) } })), 'limit and position count only the rows of the scope'],
  ['has one batch', { batch: Infinity }, 'a long list comes in batches'],
  ['counts the rows of a batch and not their sizes', { batchSize: () => Infinity }, LARGE_ROWS, LARGE_ROWS_IN_ORDER],
  ['has batches of any size in all orders but that of the ids', { batchSize: (order) => order.length > 1 ? Infinity : 2 ** 20 }, LARGE_ROWS_IN_ORDER],
  ['dies of deleted rows', over((_store, { rows }) => ({ async * list () { const ids = [...rows.keys()]; for (const id of ids) yield [rows.get(id) as Row] } })), STAYS],
  ['counts rows that come and go', over((store) => ({ async * list (query, context) { for (let offset = 0; ; offset += 100) { const rows = (await rowsOf(store, query, context)).slice(offset, offset + 100); if (rows.length === 0) return; yield rows } } })), STAYS],
  ['has places for ten readers', over((store) => { let left = 10; return { async * list (...given) { if (--left < 0) throw new Error('too many lists'); for await (const batch of store.list(...given)) yield batch; left++ } } }), LEFT],
  ['writes when lists have been read', over((store) => { let open = 0; return { async * list (...given) { open++; yield * store.list(...given); open-- }, update: async (...given) => open > 0 ? new Promise<never>(() => {}) : store.update(...given) } }), LEFT],
  ['has one cursor', over((store) => { let current: AsyncIterator<readonly Row[]>; return { async * list (...given) { current = (store.list(...given) as AsyncIterable<readonly Row[]>)[Symbol.asyncIterator](); for (;;) { const { done, value } = await current.next(); if (done === true) return; yield value } } } }), 'lists that are read at the same time do not affect each other']
]

const orderMutants: readonly Mutant[] = [
  ['declares an order and has none', { compare: byIdOf }, DISORDER, 'rows can be ordered by three attributes', 'in every order a scope and a limit apply', 'rows can be ordered by an attribute of any name'],
  ['puts in order by one attribute', { compare: (order, a, b) => comparePositions(order.slice(0, 1), a, b) || byIdOf(order, a, b) }, DISORDER],
  ['leaves ties as they come', { compare: (order, a, b) => comparePositions(order.slice(0, -1), a, b) }, DISORDER],
  ['has null last', compares((a, b) => a === b ? 0 : a === null ? 1 : b === null ? -1 : comparePositions([{ by: 'title', descending: false }], [a], [b])), 'integers are ordered by size, with null first', DISORDER],
  ['has null first either way', { compare: (order, a, b) => { const [{ descending }, one, other] = [order[0] as Order[number], a[0], b[0]]; return descending && order.length > 1 && one !== other && (one === null || other === null) ? (one === null ? -1 : 1) : comparePositions(order, a, b) } }, 'integers are ordered by size, with null first'],
  ['puts numbers in order as text', compares((a, b) => a === null || b === null ? comparePositions([{ by: 'title', descending: false }], [a], [b]) : less(String(a) as never, String(b) as never)), 'integers are ordered by size, with null first', 'numbers are ordered by size'],
  ['puts texts in order by UTF-16', compares((a, b) => a === null || b === null ? comparePositions([{ by: 'title', descending: false }], [a], [b]) : less(a as never, b as never)), 'texts are ordered by their code points'],
  ['puts texts in order by a dictionary', compares((a, b) => typeof a === 'string' && typeof b === 'string' ? a.localeCompare(b) : comparePositions([{ by: 'title', descending: false }], [a], [b])), 'texts are ordered by their code points'],
  ['puts times in order by instants', compares((a, b) => typeof a === 'string' && typeof b === 'string' && /^\d{4}-/.test(a) ? Date.parse(a) - Date.parse(b) : comparePositions([{ by: 'title', descending: false }], [a], [b])), 'times are ordered as texts'],
  ['puts UUIDs in order by their last bytes', compares((a, b) => typeof a === 'string' && typeof b === 'string' ? less(a.slice(-12) as never, b.slice(-12) as never) : comparePositions([{ by: 'title', descending: false }], [a], [b])), 'UUIDs are ordered as texts'],
  ['has true first', compares((a, b) => typeof a === 'boolean' && typeof b === 'boolean' ? Number(b) - Number(a) : comparePositions([{ by: 'title', descending: false }], [a], [b])), 'false comes before true'],
  ['has one direction of ids', { compare: (order, a, b) => comparePositions(order.map(({ by, descending }) => ({ by, descending: by !== 'id' && descending })), a, b) }, 'rows can be ordered by descending id']
]

const RANGES = ['gt', 'gte', 'lt', 'lte'] as const

const filterMutants: readonly Mutant[] = [
  ['declares a filter and has none', { matches: () => true }, 'a filter selects the rows that have its value', 'a filter narrows a scope, and never widens it', 'in every order, a filter, a scope, a position and a limit work together', 'rows can be ordered by the attribute that a filter names'],
  ['looks at one attribute of a filter', { matches: (row, filter) => filter.slice(0, 1).every((condition) => steps.meets(valueOf(row, condition.attribute), condition)) }, 'a filter of several attributes selects the rows that match all of them'],
  ['takes the id for an attribute', { matches: (row, filter) => filter.every((condition) => steps.meets(valueOf(row, condition.attribute), condition)) },
    'a filter with an id selects its row, if the others match', 'the operator in selects the rows with one of the ids',
    'the operator not selects the rows with another id', ...RANGES.map((operator) => `the operator ${operator} compares ids in the order of lists`)],
  ['ignores an offset', over((store) => ({ list: ({ offset, ...query }, context) => store.list(query, context) })), 'in every order, a list with an offset leaves out that many of its rows'],
  ['leaves out one row less', over((store) => ({ list: (query, context) => store.list(query.offset === undefined ? query : { ...query, offset: query.offset - 1 || undefined }, context) })), 'in every order, a list with an offset leaves out that many of its rows'],
  ['has no filter after a place', over((store) => ({ list: (query, context) => store.list(query.after === undefined ? query : { ...query, filter: [], search: undefined }, context) })), 'limit and position count only the rows that the filter selects'],
  ['has no scope where there is a filter', over((store) => ({ list: (query, context) => store.list(query.filter.length === 0 ? query : { ...query, scope: {} }, context) })), 'a filter narrows a scope, and never widens it'],
  ['reads other spellings of a UUID in a filter', filtersLike(readsUuid), 'a filter with a text that is not a UUID in lower case selects no rows'],
  ['fails where a filter is no UUID', filtersLike(demandsUuid), 'a filter with a text that is not a UUID in lower case selects no rows'],
  ['compares a filter loosely', filtersLike(loosely), 'a filter does not match a value of another type']
]

/** Compares by another rule where a condition has this operator. */
const meetsBy = (operator: Operator, rule: (value: Scalar, wanted: never, right: boolean) => boolean): Partial<Steps> => ({
  meets: (value, condition) => {
    const right = steps.meets(value, condition)
    return condition.operator === operator ? rule(value, condition.value as never, right) : right
  }
})
const matchesBy = (operator: Operator, matches: (text: string, wanted: string) => boolean): Partial<Steps> => meetsBy(operator, (value, wanted: string) => typeof value === 'string' && matches(value, wanted))
/** Matches as LIKE does: `%` and `_` stand for other characters. */
const like = (text: string, pattern: string): boolean => new RegExp(`^${Array.from(pattern, (character) => character === '%' ? '.*' : character === '_' ? '.' : character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')).join('')}$`, 'ius').test(text)
const regular = (text: string, pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'i').test(text)
  } catch {
    return false
  }
}
/** Takes other letters for the same than the contract does. */
const foldsBy = (fold: (text: string) => string): [contains: Partial<Steps>, starts: Partial<Steps>] => [
  matchesBy('contains', (text, wanted) => fold(text).includes(fold(wanted))),
  matchesBy('starts', (text, wanted) => fold(text).startsWith(fold(wanted)))
]
const inAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const bothWays = (what: string, [contains, starts]: [Partial<Steps>, Partial<Steps>], scenario: string): readonly Mutant[] => [
  [`${what} (contains)`, contains, `the operator contains ${scenario}`],
  [`${what} (starts)`, starts, `the operator starts ${scenario}`]
]
const FOLDS = 'ignores the case of letters by simple case folding'
const compared = (operator: typeof RANGES[number]): string => `the operator ${operator} compares values of each type, and selects no row without a value`
const OPERATORS = ['eq', 'in', 'null', 'contains', 'starts'] as const
const NOT = 'the operator not selects the rows with another value, and those without a value'
const WALK = 'in the reversed order, a list after a position has the rows before it'

const operatorMutants: readonly Mutant[] = [
  ...RANGES.flatMap((operator): readonly Mutant[] => [
    [`has ${operator} with the other end`, meetsBy(operator, (value, wanted, right) => value === wanted ? !right : right), compared(operator)],
    [`compares numbers as texts by ${operator}`, meetsBy(operator, (value, wanted, right) => typeof value === 'number' ? steps.meets(String(value), { attribute: '', operator, value: String(wanted) }) : right), compared(operator)],
    [`compares texts by UTF-16 by ${operator}`, meetsBy(operator, (value, wanted: Scalar, right) => typeof value === 'string' && typeof wanted === 'string' && value !== wanted ? (value > wanted) === operator.startsWith('g') : right), compared(operator)],
    [`takes null for a value by ${operator}`, meetsBy(operator, (value, _wanted, right) => value === null || right), compared(operator)],
    [`converts the values of ${operator}`, meetsBy(operator, (value, wanted: Scalar, right) => {
      if (value === null || typeof value === typeof wanted) return right
      const order = less(Number(value) as never, Number(wanted) as never)
      return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator]
    }), `the operator ${operator} does not select values of another type`]
  ]),
  ['has no not', meetsBy('not', () => true), NOT],
  ['has a not like that of SQL', meetsBy('not', (value, _wanted, right) => value !== null && right), NOT, 'a filter, a search, a scope, an order, a position and a limit work together'],
  ['compares loosely by not', meetsBy('not', (value, wanted) => String(value) !== String(wanted)), 'the operator not with a value of another type selects all rows, unless it is refused'],
  ['selects none by not where a value is of another type', meetsBy('not', (value, wanted, right) => value !== null && typeof value !== typeof wanted ? false : right), 'the operator not with a value of another type selects all rows, unless it is refused'],
  ['knows the first value of in', meetsBy('in', (value, wanted: readonly Scalar[]) => value === wanted[0]), 'the operator in selects the rows with one of the values', 'the operator in takes 1,000 values'],
  ['knows 999 values of in', meetsBy('in', (value, wanted: readonly Scalar[]) => wanted.slice(-999).includes(value)), 'the operator in takes 1,000 values'],
  ['compares loosely by in', meetsBy('in', (value, wanted: readonly Scalar[]) => wanted.map(String).includes(String(value))), 'the operator in does not select values of another type'],
  ['selects none where a value of in is of another type', meetsBy('in', (value, wanted: readonly Scalar[], right) => right && wanted.every((one) => typeof one === typeof value && one !== '')), 'the operator in selects values of the right type beside those of another'],
  ['takes the empty text for null', meetsBy('null', (value, wanted: boolean) => (value === null || value === '') === wanted), 'the operator null selects the rows without a value, or those with one'],
  ['never finds null', meetsBy('null', (value, wanted: boolean) => value !== null && !wanted), 'the operator null selects the rows without a value, or those with one'],
  ['has one kind of null', meetsBy('null', (value) => value === null), 'the operator null selects the rows without a value, or those with one'],
  ...OPERATORS.map((operator): Mutant => [`finds by ${operator} what every object has`, {
    matches: ({ attributes }, filter) => filter.every((condition) => {
      const { [condition.attribute]: value = null } = attributes
      if (condition.operator === operator && typeof value === 'function') return condition.operator !== 'null' || !condition.value
      return steps.meets((value ?? null) as Scalar, condition)
    })
  }, operator === 'eq' ? 'a filter may use an attribute of any name' : `the operator ${operator} may use an attribute of any name`]),
  ['takes parts for patterns of LIKE', matchesBy('contains', (text, part) => like(text, `%${part}%`)), 'the operator contains selects the rows whose text contains the value'],
  ['takes beginnings for patterns of LIKE', matchesBy('starts', (text, part) => like(text, `${part}%`)), 'the operator starts selects the rows whose text begins with the value'],
  ['takes parts for regular expressions', matchesBy('contains', regular), 'the operator contains selects the rows whose text contains the value'],
  ['takes beginnings for regular expressions', matchesBy('starts', (text, part) => regular(text, `^${part}`)), 'the operator starts selects the rows whose text begins with the value'],
  ['looks for beginnings in each line', matchesBy('starts', (text, part) => text.split('\n').some((line) => line.startsWith(part)) || text.startsWith(part)), 'the operator starts selects the rows whose text begins with the value'],
  ['looks for beginnings anywhere', matchesBy('starts', (text, part) => text.toLowerCase().includes(part.toLowerCase())), 'the operator starts selects the rows whose text begins with the value'],
  ['looks for parts at the beginning', matchesBy('contains', (text, part) => text.toLowerCase().startsWith(part.toLowerCase())), 'the operator contains selects the rows whose text contains the value'],
  ...bothWays('knows the case of ASCII alone', foldsBy(inAscii), FOLDS),
  ...bothWays('lowers letters', foldsBy((text) => text.toLowerCase()), FOLDS),
  ...bothWays('raises letters', foldsBy((text) => text.toUpperCase()), FOLDS),
  ...bothWays('drops accents', foldsBy((text) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()), FOLDS),
  ...bothWays('looks at 100 characters', [matchesBy('contains', (text, part) => steps.meets(text, { attribute: '', operator: 'contains', value: part.slice(0, 100) })), matchesBy('starts', (text, part) => steps.meets(text, { attribute: '', operator: 'starts', value: part.slice(0, 100) }))], 'takes 200 characters'),
  ['knows one condition of an attribute', { matches: (row, filter) => [...new Map(filter.map((condition) => [condition.attribute, condition])).values()].every((condition) => steps.meets(valueOf(row, condition.attribute), condition)) }, 'several conditions on one attribute select the rows that meet all of them']
]

const IN_ORDER = 'decimals are ordered as numbers, with null first'
/** Orders rows as if decimals were of another type. */
const ordersDecimals = (compare: (a: Scalar, b: Scalar) => number): Partial<Steps> => ({
  compare (order, a, b) {
    const [first, ...others] = order as [Order[number], ...Order]
    if (first.type === undefined || a[0] === null || b[0] === null) return comparePositions(order, a, b)
    return compare(a[0] as Scalar, b[0] as Scalar) * (first.descending ? -1 : 1) || comparePositions(others, a.slice(1), b.slice(1))
  }
})
const withoutType = ({ type, ...condition }: Condition): Condition => condition as Condition

const decimalMutants: readonly Mutant[] = [
  ['keeps decimals as doubles', takesText((text) => /^-?\d+(?:\.\d+)?$/.test(text) ? String(Number(text)) : text), 'decimals keep all their digits'],
  ['orders decimals as texts', { compare: (order, a, b) => comparePositions(order.map(({ by, descending }) => ({ by, descending })), a, b) }, IN_ORDER],
  ['orders decimals as doubles', ordersDecimals((a, b) => Number(a) - Number(b)), IN_ORDER],
  ['tells texts of one decimal apart in an order', ordersDecimals((a, b) => comparePositions([{ by: 'price', descending: false, type: 'decimal' }], [a], [b]) || less(a as never, b as never)), IN_ORDER],
  ...(['eq', 'not', ...RANGES] as const).flatMap((operator): readonly Mutant[] => [
    [`compares decimals as texts by ${operator}`, { meets: (value, condition) => steps.meets(value, condition.operator === operator ? withoutType(condition) : condition) }, `the operator ${operator} compares decimals as numbers`],
    [`compares decimals as doubles by ${operator}`, meetsBy(operator, (value, wanted, right) => value === null ? right : steps.meets(Number(value), { attribute: '', operator, value: Number(wanted) })), `the operator ${operator} compares decimals as numbers`]
  ]),
  ['compares decimals as texts by in', meetsBy('in', (value, wanted: readonly Scalar[]) => wanted.includes(value)), 'the operator in selects decimals as numbers']
]

const searchMutants: readonly Mutant[] = [
  ['declares a search and has none', { finds: () => true }, 'a search selects the rows that have each word in at least one of the attributes', 'a search narrows a scope, and never widens it', 'limit and position count only the rows that the search finds', 'a search and a filter select the rows that match both', 'a count respects the search'],
  ['looks for one of the words', { finds: (row, search) => search.words.some((word) => steps.finds(row, { ...search, words: [word] })) }, 'a search selects the rows that have each word in at least one of the attributes', 'a search takes ten words'],
  ['looks for all words in one attribute', { finds: (row, search) => search.attributes.some((name) => steps.finds(row, { ...search, attributes: [name] })) }, 'a search selects the rows that have each word in at least one of the attributes'],
  ['looks for whole words', { finds: (row, { words, attributes }) => words.every((word) => attributes.some((name) => String(valueOf(row, name)).toLowerCase().split(' ').includes(word.toLowerCase()))) }, 'a search selects the rows that have each word in at least one of the attributes'],
  ['looks for nine words', { finds: (row, search) => steps.finds(row, { ...search, words: search.words.slice(0, 9) }) }, 'a search takes ten words'],
  ['looks at all texts', { finds: (row, search) => steps.finds(row, { ...search, attributes: Object.keys(row.attributes) }) }, 'a search looks only at the attributes that it names'],
  ['takes words for patterns', { finds: (row, { words, attributes }) => words.every((word) => attributes.some((name) => like(String(valueOf(row, name)), `%${word}%`))) }, 'a search takes each character of a word as it is'],
  ['searches after the limit', over((store) => ({ async * list (query, context) { yield (await rowsOf(store, { ...query, search: undefined }, context)).filter((row) => query.search === undefined || steps.finds(row, query.search)) } })), 'limit and position count only the rows that the search finds'],
  ['has no scope where there is a search', over((store) => ({ list: (query, context) => store.list(query.search === undefined ? query : { ...query, scope: {} }, context) })), 'a search narrows a scope, and never widens it', 'a filter, a search, a scope, an order, a position and a limit work together'],
  ['has no filter where there is a search', over((store) => ({ list: (query, context) => store.list(query.search === undefined ? query : { ...query, filter: [] }, context) })), 'a search and a filter select the rows that match both']
]

/** Counts another query than the given one. */
const countsBy = (change: (query: CountQuery) => CountQuery): MakeStore => over((store) => ({ count: (query, context) => (store as Required<Store>).count(change(query), context) }))

const countMutants: readonly Mutant[] = [
  ['counts the rows that it ever had', over((store, table) => ({ count: async (query, context) => Object.keys(query.scope).length > 0 ? (store as Required<Store>).count(query, context) : { rows: table.lastId, isEstimate: false } })), 'a count is the number of the rows', 'a count is between the numbers of the rows before and after concurrent writes'],
  ['counts without the scope', countsBy((query) => ({ ...query, scope: {} })), 'a count respects the scope'],
  ['counts without the filter', countsBy((query) => ({ ...query, filter: [] })), 'a count respects the filter'],
  ['counts without the search', countsBy((query) => ({ ...query, search: undefined })), 'a count respects the search'],
  ['counts from the beginning', countsBy((query) => ({ ...query, after: undefined })), 'a count after a position is the number of the rows that follow it', 'in every order, a count after a position is the number of the rows that follow it'],
  ['counts after an id', countsBy((query) => ({ ...query, order: query.order.slice(-1), after: query.after?.slice(-1) })), 'in every order, a count after a position is the number of the rows that follow it'],
  ['ends a count too early', { total: (rows, most = Infinity) => ({ rows: Math.min(rows, most - 1), isEstimate: false }) }, 'a count with an end is exact below it, and reaches it otherwise'],
  ['answers the end of a count', { total: (rows, most = rows) => ({ rows: most, isEstimate: false }) }, 'a count with an end is exact below it, and reaches it otherwise'],
  ['estimates where nobody asked it to', { total: (rows) => ({ rows, isEstimate: true }) }, 'a count is the number of the rows'],
  ['counts as text', { total: (rows) => ({ rows: String(rows) as unknown as number, isEstimate: false }) }, 'a count is the number of the rows'],
  ['hides that it estimates', over((store) => ({ count: async (query, context) => query.estimate ? { rows: 1000, isEstimate: false } : (store as Required<Store>).count(query, context) })), 'a count that may be an estimate says whether it is one'],
  ['does not say whether it estimates', { total: (rows) => ({ rows }) as unknown as Count }, 'a count that may be an estimate says whether it is one'],
  ['counts a write twice while it happens', over((store, table) => { let busy = 0; return { create: async (...given) => { busy++; try { return await store.create(...given) } finally { busy-- } }, count: async () => ({ rows: table.rows.size + busy * 2, isEstimate: false }) } }), 'a count is between the numbers of the rows before and after concurrent writes']
]

const walkMutants: readonly Mutant[] = [
  ['turns only the first criterion round', { compare: (order, a, b) => comparePositions(order.map(({ by, descending }, index) => ({ by, descending: index === 0 && descending })), a, b) }, WALK],
  ['walks back to the row itself', { isAfter: (order, row, after) => comparePositions(order, positionOf(row, order), after) >= (order.at(-1)?.descending === true ? 0 : 1) }, WALK],
  ['needs a row at the place to walk back', (needs, table) => referenceStore(needs, { isAfter: (order, row, after) => (order.at(-1)?.descending !== true || table.rows.has(after.at(-1) as Id)) && comparePositions(order, positionOf(row, order), after) > 0 }, table), 'a row that stays is on a page of the way back, whatever is written in between'],
  ['counts places on the way back', over((store) => countsPlaces(store)), 'a row that stays is on a page of the way back, whatever is written in between']
]

const abortMutants: readonly Mutant[] = [
  ['never answers whose client has gone', { pause: ({ signal }) => signal.aborted ? new Promise(() => {}) : Promise.resolve() }, 'a read whose client has disconnected ends with a result or an error', 'a list whose client disconnects midway ends, and the store keeps working'],
  ['finds no rows whose client has gone', over((store) => ({ get: (id, scope, context) => context.signal.aborted ? undefined : store.get(id, scope, context) })), 'a read whose client has disconnected ends with a result or an error'],
  ['dies when a client goes', over((store) => { let dead = false; return { async * list (query, context) { context.signal.addEventListener('abort', () => { dead = true }); yield * store.list(query, context) }, update: (...given) => dead ? new Promise<never>((_resolve, reject) => { reject(new Error('closed')) }) : store.update(...given) } }), 'a list whose client disconnects midway ends, and the store keeps working'],
  ['lists anything when a client has gone', over((store) => ({ async * list (query, context) { for await (const batch of store.list(query, context)) yield context.signal.aborted ? [...batch].reverse() : batch } })), 'a list whose client disconnects midway ends, and the store keeps working'],
  ['writes, and throws when a client has gone', over((store) => ({
    create: async (attributes, scope, context) => gone(context, await store.create(attributes, scope, context)),
    update: async (id, changes, guard, context) => gone(context, await store.update(id, changes, guard, context)),
    delete: async (id, guard, context) => gone(context, await store.delete(id, guard, context))
  })), 'when the client disconnects, a create that returns has happened, and one that fails has not', 'when the client disconnects, an update that returns has happened, and one that fails has not', 'when the client disconnects, a deletion that returns has happened, and one that fails has not'],
  ['answers, and does not write when a client has gone', over((store, { rows }) => ({
    create: (attributes, scope, context) => context.signal.aborted ? { id: 999, version: '1', attributes } : store.create(attributes, scope, context),
    update: (id, changes, guard, context) => context.signal.aborted ? { ok: true, row: { ...rows.get(id) as Row, attributes: changes } } : store.update(id, changes, guard, context),
    delete: (id, guard, context) => context.signal.aborted ? { ok: true, row: rows.get(id) as Row } : store.delete(id, guard, context)
  })), 'when the client disconnects, a create that returns has happened, and one that fails has not', 'when the client disconnects, an update that returns has happened, and one that fails has not', 'when the client disconnects, a deletion that returns has happened, and one that fails has not']
]

const handleMutants: readonly Mutant[] = [
  ['remembers what it has read', over((store) => { const known = new Map<Id, Row>(); return { get: async (id, ...given) => { const row = known.get(id) ?? await store.get(id, ...given); if (row) known.set(id, row); return row } } }), 'exactly one of all updates by two connections with the same version succeeds'],
  ['sees its own rows alone', (needs) => referenceStore(needs), 'a connection reads what another one has written', 'a row that stays is listed once, whatever another connection writes meanwhile'],
  ['guards its own writes alone', over((store) => { const known = new Map<Id, string>(); return { update: async (id, changes, { version, scope }, context) => { const written = await store.update(id, changes, { version: version === known.get(id) ? undefined : version, scope }, context); if (written.ok) known.set(id, written.row.version); return written }, create: async (...given) => { const row = await store.create(...given); known.set(row.id, row.version); return row } } }), 'a version that one connection has replaced is stale for the others', 'exactly one of all updates by two connections with the same version succeeds'],
  ['counts ids by itself', (needs, table) => { let last = table.rows.size; return referenceStore(needs, { nextId: () => ++last }, table) }, 'two connections never give the same id, nor one that a row had before'],
  ['knows its own duplicates alone', (needs, table) => { const own = new Table(); return referenceStore(needs, { checkUnique: (_table, row, unique) => { steps.checkUnique(own, row, unique); own.rows.set(row.id, row) } }, table) }, 'a value that one connection has taken is taken for the others', 'exactly one of all creates by two connections with the same value succeeds']
]

export const mutants: readonly Mutant[] = [
  ...rowMutants, ...valueMutants, ...ownershipMutants, ...uniqueMutants, ...guardMutants, ...scopeMutants, ...listMutants, ...orderMutants, ...filterMutants, ...operatorMutants, ...decimalMutants, ...searchMutants, ...countMutants, ...walkMutants, ...abortMutants, ...handleMutants
]

/** Stores that keep the contract, each in its own way. */
export const variants: ReadonlyArray<readonly [string, Partial<Steps> | MakeStore]> = [
  ['has rows that inherit nothing', answers((row) => { row.attributes = Object.assign(Object.create(null) as Attributes, row.attributes) })],
  ['gives null for what may be null', answers((row) => { row.attributes = { email: null, shelf: null, count: null, at: null, ...row.attributes } })],
  ['gives undefined for what is absent', answers((row) => { row.attributes = { code: undefined, shelf: undefined, ...row.attributes } })],
  ['throws when a client has gone', { pause: async ({ signal }) => signal.throwIfAborted() }],
  ['loses the answer when a client has gone', over((store) => ({
    create: async (attributes, scope, context) => lost(context, await store.create(attributes, scope, context)),
    update: async (id, changes, guard, context) => lost(context, await store.update(id, changes, guard, context)),
    delete: async (id, guard, context) => lost(context, await store.delete(id, guard, context))
  }))],
  ['has too much to do at times', over((store) => { let calls = 0; return { create: async (...given) => ++calls % 20 === 0 ? unavailable() : store.create(...given), update: async (...given) => ++calls % 20 === 0 ? unavailable() : store.update(...given) } })],
  ['refuses texts that it cannot keep', takesText((text) => { if (!text.isWellFormed() || text.includes('\0')) throw new InvalidError({ title: ['no'] }); return text })],
  ['refuses scopes and filters of another type', (needs, table) => referenceStore(needs, { isIn: strictly, matches: (row, filter) => filter.every((condition) => { if (condition.attribute === 'id') return steps.meets(row.id, condition); checkTypes(condition); return steps.meets(valueOf(row, condition.attribute), condition) }) }, table)],
  ['is there when it is prepared', (needs, table) => { let prepared = false; const store = referenceStore(needs, { pause: async () => { if (!prepared) throw new Error('not prepared') } }, table); return { ...store, prepare: async () => { prepared = true } } }],
  ['has small batches, some of them empty', over((store) => ({ async * list (...given) { for await (const batch of store.list(...given)) { yield []; yield batch.slice(0, 40); yield batch.slice(40) } } }))]
]

function joined (row: Row): Row {
  return { ...row, attributes: valueOf(row, 'tenant') === null || valueOf(row, 'code') === null ? {} : { tenant: '', code: `${String(row.attributes.tenant)}${String(row.attributes.code)}` } }
}

function remembersEmails (eager = false): MakeStore {
  return (needs, table) => {
    const taken = new Map<Scalar, Id>()
    const take = (row: Row): void => {
      const email = valueOf(row, 'email')
      const owner = taken.get(email) ?? row.id
      if (email !== null && owner !== row.id) throw new DuplicateError('email')
      taken.set(email, row.id)
    }
    const store = referenceStore(needs, eager ? {} : { checkUnique: (_table, row) => take(row) }, table)
    return eager ? { ...store, update: async (id, changes, ...given) => { take({ id, version: '', attributes: changes }); return store.update(id, changes, ...given) }, create: async (attributes, ...given) => { const row = await store.create(attributes, ...given); take(row); return row } } : store
  }
}

function countsPlaces (store: Store): Pick<Store, 'list'> {
  const places = new Map<string, number>()
  return {
    async * list (query, context) {
      const rows = await rowsOf(store, { ...query, after: undefined, limit: undefined }, context)
      const offset = query.after === undefined ? 0 : places.get(JSON.stringify(query.after)) ?? 0
      const page = rows.slice(offset, offset + (query.limit ?? Infinity))
      for (const [index, row] of page.entries()) places.set(JSON.stringify(positionOf(row, query.order)), offset + index + 1)
      yield page
    }
  }
}

function gone<T> ({ signal }: Context, answer: T): T {
  signal.throwIfAborted()
  return answer
}

function lost<T> ({ signal }: Context, answer: T): T {
  if (signal.aborted) throw new UnknownOutcomeError()
  return answer
}

function unavailable (): never {
  throw Object.assign(new Error('busy'), { code: 'FST_RESOURCES_UNAVAILABLE' })
}

const TYPES: ReadonlyMap<string, string> = new Map([['shelf', 'number'], ['count', 'number'], ['ratio', 'number'], ['done', 'boolean']])

function checkTypes ({ attribute, operator, value }: Condition): void {
  if (operator === 'null') return
  const types = [value].flat().map((one): string => typeof one)
  if (types.some((type) => type !== (TYPES.get(attribute) ?? 'string'))) throw new InvalidError({ [attribute]: ['is of another type'] })
}

function strictly (row: Row, values: Scope): boolean {
  for (const [name, value] of Object.entries(values)) {
    const type: string = typeof value
    if (value !== null && type !== (TYPES.get(name) ?? 'string')) throw new InvalidError({ [name]: ['is of another type'] })
  }
  return has(row, values)
}
