import type { Mutant } from '../load.js'

export const tests = ['test/system/stores/sql-stores.test.ts', 'test/system/stores/sqlite-contract.test.ts', 'test/system/stores/sqlite-store.test.ts', 'test/system/stores/postgres-store.test.ts', 'test/system/stores/postgres-contract.test.ts']

const keyset = 'lib/stores/sql/keyset.ts'
const statements = 'lib/stores/sql/statements.ts'
const reader = 'lib/stores/sql/batch-reader.ts'
const sql = 'lib/stores/sql/store.ts'
const errors = 'lib/stores/sql/constraint-errors.ts'
const column = 'lib/stores/sql/column.ts'
const check = 'lib/stores/sql/table-check.ts'
const sqlite = 'lib/stores/sqlite/dialect.ts'
const postgres = 'lib/stores/postgres/driver.ts'
const codes = 'lib/stores/postgres/errors.ts'

export const mutants: readonly Mutant[] = [
  { file: keyset, find: "{ by, is: '>', value }]", replace: "{ by, is: '=', value }]", why: 'a page in SQL is the one before' },
  { file: keyset, find: "if (by !== 'id') ranges.push(", replace: "if (by === 'id') ranges.push(", why: 'a descending list forgets the rows without a value' },
  { file: keyset, find: 'descending ? [values, nulls] : [nulls, values]', replace: '[nulls, values]', why: 'nulls are first in either direction' },
  { file: keyset, find: 'const rest = order.slice(index)', replace: 'const rest = order', why: 'a range is ordered by what is equal in it' },
  { file: statements, find: '...conditionsOf(scope), ...conditionsOf(filter), ...bounds', replace: '...conditionsOf(filter), ...bounds', why: 'a list in SQL ignores the scope' },
  { file: statements, find: "` AND ${this.#version} = ${placeholder(given.length, 'integer')}`", replace: "''", why: 'a write in SQL ignores the version' },
  { file: statements, find: 'const whereScope = this.#and(conditions, given.length + 1)', replace: "const whereScope = ''", why: 'a write in SQL ignores the scope' },
  { file: statements, find: "is === '=' ? 'NULL' : 'NOT NULL'", replace: "'NULL'", why: 'after the rows without a value come those without a value' },
  { file: statements, find: 'ownMember(supplied, attribute) !== undefined && !Object.hasOwn(scope, attribute)', replace: 'ownMember(supplied, attribute) !== undefined', why: 'an update in SQL sets the attributes of its scope' },
  { file: statements, find: "NULLS ${descending ? 'LAST' : 'FIRST'}", replace: "NULLS ${descending ? 'FIRST' : 'LAST'}", why: 'nulls are at the other end' },
  { file: statements, find: 'value === null ? `${by}${is}null` : `${by}${is}`', replace: '`${by}${is}`', why: 'a statement for null is used for a value' },
  { file: statements, find: 'isKept || known.size < KEPT', replace: 'true', why: 'each filter keeps a statement' },
  { file: statements, find: 'if (kept) known.set(key, statement)', replace: '', why: 'no statement is used twice' },
  { file: reader, find: 'if (this.#hasBegun) this.#context.signal.throwIfAborted()', replace: '', why: 'a client that is gone keeps a query going' },
  { file: reader, find: 'decoder.decodeVersion(cut) !== decoder.decodeVersion(whole)', replace: 'false', why: 'a row that changes while it is read stands at its old place' },
  { file: reader, find: 'this.#left -= rows.length', replace: '', why: 'a page in SQL is longer than its limit' },
  { file: reader, find: 'this.#idle = result.then(() => {}, () => { this.#reader.return() })', replace: '', why: 'two calls of next run at a time' },
  { file: sql, find: 'if (!this.#isId(id) || !this.#statements.canFit(scope)) return undefined', replace: '', why: 'a text reaches a column of integers' },
  { file: sql, find: "if (version === undefined) return { ok: false, why: 'missing' }", replace: '', why: 'a deleted row is looked for once more' },
  { file: sql, find: String.raw`/^(?:0|[1-9]\d{0,15})$/.test(version)`, replace: String.raw`/^\d+$/.test(version)`, why: 'the version 01 is 1' },
  { file: sql, find: 'throw new UnknownOutcomeError({ cause })', replace: 'throw cause', why: 'a row that is written but cannot be read is a failure of the write' },
  { file: errors, find: "kind === 'unique' && columns.includes(id)", replace: 'false', why: 'an id that is taken is the fault of the client' },
  { file: errors, find: "error instanceof ConstraintError && error.kind === 'value'", replace: 'error instanceof ConstraintError', why: 'any broken constraint means no rows' },
  { file: errors, find: 'attributes.filter((attribute) => !Object.hasOwn(scope, attribute))', replace: 'attributes', why: 'the client is told an attribute of the scope' },
  { file: column, find: "typeof value === 'string' && !value.includes('\\0') && value.isWellFormed()", replace: "typeof value === 'string'", why: 'U+0000 reaches the database' },
  { file: column, find: 'if (Number.isSafeInteger(value)) return value', replace: 'if (Number.isInteger(value)) return value', why: 'a large integer is read as its neighbour' },
  { file: column, find: 'dialect.sameCase ? name : name.toLowerCase()', replace: 'name', why: 'two attributes share a column of SQLite' },
  { file: column, find: 'allowsNull ? null : undefined', replace: 'undefined', why: 'null is read as absent' },
  { file: column, find: 'Buffer.byteLength(name) > longestName', replace: 'name.length > longestName', why: 'the length of a name is counted in characters' },
  { file: check, find: 'columns.length === group.length &&', replace: '', why: 'a wider index makes a group unique' },
  { file: check, find: 'if (!notNull || filled) continue', replace: 'if (!notNull) continue', why: 'a column with a default is in the way' },
  { file: check, find: 'key.includes(id) && key.every', replace: 'key.every', why: 'a key without the id makes ids unique' },
  { file: check, find: 'found.generated && !readOnly', replace: 'found.generated', why: 'a readOnly attribute cannot be generated' },
  { file: sqlite, find: 'if (value !== 0 && value !== 1) throw', replace: 'if (false) throw', why: 'two is false' },
  { file: sqlite, find: 'AUTOINCREMENT', replace: '', why: 'SQLite gives the id of a deleted row again' },
  { file: 'lib/stores/sql/dialect.ts', find: '.replaceAll(\'"\', \'""\')', replace: '', why: 'the name of a column can leave its quotes' },
  { file: 'lib/stores/postgres/dialect.ts', find: "raw === 't'", replace: "raw === 'true'", why: 'true is false in PostgreSQL' },
  { file: postgres, find: 'if (!isConflict(error)) throw', replace: 'throw', why: 'a conflict is not tried again' },
  { file: postgres, find: 'else client.release()', replace: '', why: 'a connection that comes too late is lost' },
  { file: postgres, find: 'return writes ? new UnknownOutcomeError({ cause: error }) : new UnavailableError({ cause: error })', replace: 'return new UnavailableError({ cause: error })', why: 'a write whose answer is lost is said not to have happened' },
  { file: postgres, find: 'client.release(isBroken(error))', replace: 'client.release(false)', why: 'a broken connection is used again' },
  { file: postgres, find: 'if (!statement.kept) return {}', replace: '', why: 'each statement is prepared on the server' },
  { file: codes, find: "['23P01', 'unique'],", replace: '', why: 'an exclusion constraint is a failure' },
  { file: codes, find: "code === '40001' || code === '40P01'", replace: "code === '40001'", why: 'a deadlock is not tried again' },
  { file: 'lib/stores/postgres/value-parsers.ts', find: '`${date}T${time}${minutes}${era}`', replace: '`${date}T${time}${minutes}`', why: 'years before Christ are after' }
]
