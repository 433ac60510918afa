import { isStructure } from '../../util/own-property.js'
import { DECODE, decodeInteger, ENCODE } from '../sql/column.js'
import { type Dialect, type ColumnKind, quoteName } from '../sql/dialect.js'

/** The dialect of SQLite 3.43 and later, which has `octet_length`. */
export const sqliteDialect: Dialect = {
  quote: quoteName,
  placeholder: () => '?',
  selectCut: ({ quoted }, most) =>
    `CASE WHEN octet_length(${quoted}) > ${most} THEN x'' ELSE ${quoted} END AS ${quoted}`,
  // A column of texts holds no BLOB, so a BLOB marks a text that is cut.
  isCut: isStructure,
  longestName: Infinity,
  sameCase: false,
  nullsFirst: true,
  columnType: {
    string: 'TEXT',
    uuid: 'TEXT',
    'date-time': 'TEXT',
    date: 'TEXT',
    integer: 'INTEGER',
    number: 'REAL',
    boolean: 'INTEGER',
    json: 'TEXT'
  },
  collation: ' COLLATE BINARY',
  idType: { integer: 'INTEGER PRIMARY KEY AUTOINCREMENT', uuid: 'TEXT PRIMARY KEY NOT NULL' },
  versionType: 'INTEGER NOT NULL DEFAULT 1',
  tableOptions: ' STRICT',
  fits: ({ kind }, type) => FITTING[kind].has(affinityOf(type)) || FITTING_NAMES[kind]?.test(type) === true,
  fitsId: (id, type) => (id === 'integer' ? /^INTEGER$/i.test(type) : affinityOf(type) === 'TEXT'),
  fitsVersion: (type) => affinityOf(type) === 'INTEGER',
  encode: { ...ENCODE, boolean: (value) => (value === true ? 1 : 0) },
  decode: { ...DECODE, boolean: decodeBoolean }
}

function decodeBoolean (raw: unknown): boolean {
  const value = decodeInteger(raw)
  if (value !== 0 && value !== 1) throw new RangeError(`a column of booleans contains ${value}`)
  return value === 1
}

type Affinity = 'INTEGER' | 'TEXT' | 'BLOB' | 'REAL' | 'NUMERIC'

/** Returns the affinity of a declared type, which decides how a column converts values ("Datatypes In SQLite" §3.1). */
function affinityOf (type: string): Affinity {
  if (/INT/i.test(type)) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/i.test(type)) return 'TEXT'
  if (type === '' || /BLOB/i.test(type)) return 'BLOB'
  return /REAL|FLOA|DOUB/i.test(type) ? 'REAL' : 'NUMERIC'
}

const TEXT: ReadonlySet<Affinity> = new Set(['TEXT'])
const INTEGRAL: ReadonlySet<Affinity> = new Set(['INTEGER'])
const FITTING: Readonly<Record<ColumnKind, ReadonlySet<Affinity>>> = {
  string: TEXT,
  uuid: TEXT,
  'date-time': TEXT,
  date: TEXT,
  integer: INTEGRAL,
  number: new Set(['REAL']),
  boolean: INTEGRAL,
  json: TEXT
}
/** The types with the affinity NUMERIC that fit too. This affinity does not change texts that look like no numbers. */
const FITTING_NAMES: Readonly<Partial<Record<ColumnKind, RegExp>>> = {
  'date-time': /^(?:DATETIME|TIMESTAMP)/i,
  date: /^DATE/i,
  boolean: /^BOOL/i
}
