import type { Mutant } from '../load.js'

export const tests = ['test/system/stores/column-types.test.ts', 'test/system/stores/sql-stores.test.ts', 'test/system/stores/sqlite-contract.test.ts', 'test/system/stores/sqlite-store.test.ts', 'test/system/stores/postgres-store.test.ts', 'test/system/stores/postgres-contract.test.ts', 'test/system/stores/queries/sorted-lists.test.ts', 'test/system/stores/queries/altered-texts.test.ts', 'test/system/stores/keys/id-columns.test.ts', 'test/system/stores/keys/versions.test.ts', 'test/system/stores/keys/names.test.ts']

const keyset = 'lib/sql/lists/keyset.ts'
const statements = 'lib/sql/statements.ts'
const lists = 'lib/sql/lists/list-statements.ts'
const conditions = 'lib/sql/conditions.ts'
const predicates = 'lib/sql/predicates.ts'
const ids = 'lib/sql/keys/id-columns.ts'
const idText = 'lib/sql/keys/id-text.ts'
const versions = 'lib/sql/keys/versions.ts'
const sql = 'lib/sql/store.ts'
const errors = 'lib/sql/constraint-errors.ts'
const column = 'lib/sql/columns/column.ts'
const kinds = 'lib/sql/columns/kinds.ts'
const codec = 'lib/sql/columns/codec.ts'
const sqliteTypes = 'lib/sql/sqlite/column-types.ts'
const postgresTypes = 'lib/sql/postgres/column-types.ts'
const numberTypes = 'lib/sql/postgres/number-types.ts'
const check = 'lib/sql/tables/table-check.ts'
const sqlite = 'lib/sql/sqlite/dialect.ts'
const postgres = 'lib/sql/postgres/driver.ts'
const codes = 'lib/sql/postgres/errors.ts'

export const mutants: readonly Mutant[] = [
  { file: keyset, find: "{ by, is: '>', value }]", replace: "{ by, is: '=', value }]", why: 'a page in SQL is the one before' },
  { file: keyset, find: 'if (!neverNull.has(by)) ranges.push(', replace: 'if (neverNull.has(by)) ranges.push(', why: 'a descending list forgets the rows without a value' },
  { file: keyset, find: 'descending ? [values, nulls] : [nulls, values]', replace: '[nulls, values]', why: 'nulls are first in either direction' },
  { file: keyset, find: 'const rest = order.slice(index)', replace: 'const rest = order', why: 'a range is ordered by what is equal in it' },
  { file: lists, find: 'const conditions = conditionsOf(scope).concat(bounds)', replace: 'const conditions = [...bounds]', why: 'a list in SQL ignores the scope' },
  { file: versions, find: "`${selected} = ${placeholder('integer')}`", replace: "`(${selected} = ${placeholder('integer')} OR TRUE)`", why: 'a write in SQL ignores the version' },
  { file: predicates, find: "is === '=' ? 'NULL' : 'NOT NULL'", replace: "'NULL'", why: 'after the rows without a value come those without a value' },
  { file: keyset, find: "operator !== 'not' && ", replace: '', why: 'a sorted list of rows that do not have a value forgets those without any' },
  { file: statements, find: '.filter(({ attribute }) => attributes[attribute] !== undefined)', replace: '', why: 'a create in SQL hands undefined to a column' },
  { file: statements, find: 'Object.hasOwn(supplied, attribute) && !Object.hasOwn(scope, attribute)', replace: 'Object.hasOwn(supplied, attribute)', why: 'an update in SQL sets the attributes of its scope' },
  { file: lists, find: "NULLS ${descending ? 'LAST' : 'FIRST'}", replace: "NULLS ${descending ? 'FIRST' : 'LAST'}", why: 'nulls are at the other end' },
  { file: conditions, find: "if (value === null) return 'null'", replace: '', why: 'a statement for null is used for a value' },
  { file: statements, find: 'isKept || this.#known.size < KEPT', replace: 'true', why: 'each filter keeps a statement' },
  { file: statements, find: 'if (kept) this.#known.set(key, statement)', replace: '', why: 'no statement is used twice' },
  { file: sqlite, find: "detail === 'USE TEMP B-TREE FOR ORDER BY'", replace: 'false', why: 'each batch of a list without an index sorts all rows' },
  { file: sql, find: 'if (!this.#canMatch(id, scope)) return undefined', replace: '', why: 'a text reaches a column of integers' },
  { file: sql, find: "if (version === undefined) return { ok: false, why: 'missing' }", replace: '', why: 'a deleted row is looked for once more' },
  { file: versions, find: String.raw`/^(?:0|[1-9]\d{0,15})$/.test(version)`, replace: String.raw`/^\d+$/.test(version)`, why: 'the version 01 is 1' },
  { file: errors, find: "kind === 'unique' && id !== undefined && columns.includes(id)", replace: 'false', why: 'an id that is taken is the fault of the client' },
  { file: errors, find: "error instanceof ConstraintError && error.kind === 'value'", replace: 'error instanceof ConstraintError', why: 'any broken constraint means no rows' },
  { file: errors, find: 'attributes.filter((attribute) => !Object.hasOwn(scope, attribute))', replace: 'attributes', why: 'the client is told an attribute of the scope' },
  { file: kinds, find: "typeof value === 'string' && !value.includes('\\0') && value.isWellFormed()", replace: "typeof value === 'string'", why: 'U+0000 reaches the database' },
  { file: codec, find: 'raw !== null && Number.isSafeInteger(value)', replace: 'raw !== null && Number.isInteger(value)', why: 'a large id is read as its neighbour' },
  { file: column, find: 'dialect.sameCase ? name : name.toLowerCase()', replace: 'name', why: 'two attributes share a column of SQLite' },
  { file: column, find: 'allowsNull ? null : undefined', replace: 'undefined', why: 'null is read as absent' },
  { file: column, find: 'Buffer.byteLength(name) > longestName', replace: 'name.length > longestName', why: 'the length of a name is counted in characters' },
  { file: check, find: 'columns.length === group.length &&', replace: '', why: 'a wider index makes a group unique' },
  { file: check, find: 'if (!notNull || filled) continue', replace: 'if (!notNull) continue', why: 'a column with a default is in the way' },
  { file: check, find: 'key.includes(id) && key.every', replace: 'key.every', why: 'a key without the id makes ids unique' },
  { file: check, find: 'found.generated && !readOnly', replace: 'found.generated', why: 'a readOnly attribute cannot be generated' },
  { file: 'lib/sql/tables/table-statements.ts', find: ' || counter === undefined', replace: '', why: 'a trigger counts a version that has no column' },
  { file: sqliteTypes, find: 'return value === 0 || value === 1 ? value === 1 : value', replace: 'return value === 1', why: 'two is false' },
  { file: sqliteTypes, find: "if (affinity !== 'REAL' && isLongInteger(number)) return undefined", replace: '', why: 'SQLite refuses decimals of eight bytes' },
  { file: sqliteTypes, find: 'spellNumber(Number(number)) === number ? undefined', replace: 'true ? undefined', why: 'SQLite rounds a decimal' },
  { file: sqliteTypes, find: 'if (/^-?\\d{16,19}$/.test(value) && isLongInteger(value)) return BigInt(value)', replace: '', why: 'a list that is sorted by integers beyond 2^53 does not go on' },
  { file: sqliteTypes, find: 'if (bytes !== undefined) return bytes', replace: '', why: 'a list that is sorted by a column with a BLOB does not end' },
  { file: 'lib/sql/sqlite/statement.ts', find: 'Math.abs(value) > Number.MAX_SAFE_INTEGER', replace: 'false', why: 'SQLite rounds an integer beyond 2^53' },
  { file: postgresTypes, find: 'if (/^0*$/.test(fraction.slice(most))) return undefined', replace: 'return undefined', why: 'PostgreSQL rounds the digits of a second' },
  { file: postgresTypes, find: "return name === 'inet' ? SHORT : LONG", replace: 'return LONG', why: 'a list shows the mask of an address' },
  { file: postgresTypes, find: 'decoded === undefined || decoded.includes(undefined) ? raw : decoded', replace: 'decoded', why: 'an array of two dimensions loses its items' },
  { file: postgresTypes, find: "String(value).endsWith(' ') ?", replace: 'false ?', why: 'a column drops a space at the end' },
  { file: numberTypes, find: 'if (nearest === value) return undefined', replace: 'return undefined', why: 'a column of four bytes rounds a number' },
  { file: 'lib/sql/postgres/array-text.ts', find: "return item === 'NULL' ? null : item", replace: 'return item', why: 'a missing item of an array is a text' },
  { file: codec, find: 'if (findInexactNumber(text) !== undefined) return markText(text)', replace: '', why: 'a number in a JSON column is rounded' },
  { file: codes, find: 'return column === undefined ? [] : [column]', replace: 'return []', why: 'a value that its type refuses is not beside its field' },
  { file: sqlite, find: 'AUTOINCREMENT', replace: '', why: 'SQLite gives the id of a deleted row again' },
  { file: versions, find: '`${selected} = ${placeholder()}::xid`', replace: '`(${selected} = ${placeholder()}::xid OR TRUE)`', why: 'a write ignores the transaction of the row' },
  { file: versions, find: '`${expression} = ${placeholder()}`', replace: '`(${expression} = ${placeholder()} OR TRUE)`', why: 'a write ignores the digest of the row' },
  { file: sqlite, find: '`${quoted} IS ${placeholder} COLLATE BINARY`', replace: '`(${quoted} IS ${placeholder} OR TRUE)`', why: 'a write does not compare the values that were read' },
  { file: sqlite, find: 'IS ${placeholder} COLLATE BINARY', replace: 'IS ${placeholder}', why: 'a change of case is lost in a column that ignores case' },
  { file: versions, find: 'raw === undefined || decode(raw) !== version', replace: 'raw === undefined', why: 'a write ignores the version if it is a digest that the store makes' },
  { file: versions, find: '`s${Buffer.byteLength(value)}:`', replace: "'s:'", why: 'two rows whose texts are divided otherwise have one version' },
  { file: ids, find: 'parts.filter(isUnnamed(order))', replace: 'parts.slice(0, 1)', why: 'rows with the same first part of the key have no order' },
  { file: ids, find: 'isGiven: !column.allowsNull && !column.readOnly', replace: 'isGiven: false', why: 'a create may lack a part of the key' },
  { file: ids, find: 'given[by] !== values[index] && !Object.hasOwn(scope, by)', replace: 'false', why: 'an update that changes the key says that it has' },
  { file: ids, find: 'delete changes[by]', replace: '', why: 'an update sets the parts of the key' },
  { file: idText, find: ".replaceAll('%', '%25').replaceAll(',', '%2C')", replace: ".replaceAll(',', '%2C')", why: 'two keys have one id' },
  { file: idText, find: 'String(Number(text)) === text ? Number(text) : undefined', replace: 'Number(text)', why: 'a number in an id has two spellings' },
  { file: predicates, find: "case 'not': return [...beyond(false), ...beyond(true)]", replace: "case 'not': return beyond(true)", why: 'rows after an id equal it' },
  { file: check, find: 'names.includes(name) && present.includes(name)', replace: 'names.includes(name)', why: 'a key with nulls is unique' },
  { file: 'lib/sql/dialect.ts', find: '.replaceAll(\'"\', \'""\')', replace: '', why: 'the name of a column can leave its quotes' },
  { file: postgresTypes, find: "raw === 't'", replace: "raw === 'true'", why: 'true is false in PostgreSQL' },
  { file: postgres, find: 'if (!isConflict(error)) throw', replace: 'throw', why: 'a conflict is not tried again' },
  { file: postgres, find: 'else client.release()', replace: '', why: 'a connection that comes too late is lost' },
  { file: postgres, find: 'return writes ? new UnknownOutcomeError({ cause: error }) : new UnavailableError({ cause: error })', replace: 'return new UnavailableError({ cause: error })', why: 'a write whose answer is lost is said not to have happened' },
  { file: postgres, find: 'if (!statement.kept || statement.isSelective === true) return undefined', replace: '', why: 'each statement is prepared on the server' },
  { file: codes, find: "['23P01', 'unique'],", replace: '', why: 'an exclusion constraint is a failure' },
  { file: codes, find: "code === '40001' || code === '40P01'", replace: "code === '40001'", why: 'a deadlock is not tried again' },
  { file: 'lib/sql/postgres/value-parsers.ts', find: '`${date}T${time}${minutes}${era}`', replace: '`${date}T${time}${minutes}`', why: 'years before Christ are after' }
]
