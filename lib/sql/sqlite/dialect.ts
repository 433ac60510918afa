import { EXPLAIN } from './statement.js'
import { caseVariants } from '../../core/util/case-folding.js'
import { type Dialect, JSON_WEIGHT, quoteName, replaceExpired } from '../dialect.js'
import { affinityOf, columnTypeOf, findCodec } from './column-types.js'

/** The dialect of SQLite 3.43 and later, which has `octet_length`. */
export const sqliteDialect: Dialect = {
  quote: quoteName,
  // Some drivers take a single BLOB for a list of values, so bytes are given as hexadecimal digits.
  placeholder: (_position, kind) => (kind === 'bytes' ? 'unhex(?)' : '?'),
  sizeOf: ({ quoted, kind }) => `coalesce(octet_length(${quoted}), 0)${kind === 'json' ? ` * ${JSON_WEIGHT}` : ''}`,
  insertRequest: (table) =>
    `INSERT INTO ${table} (key, digest, expires) VALUES (?, ?, ?) ${replaceExpired(table, '?')} RETURNING key`,
  // SQLite prepares a statement again whenever a value is bound to a bare `LIMIT ?`. This took a quarter of the time of
  // a page of 20 rows.
  fixedLimit: (placeholder) => `${placeholder} + 0`,
  matchText: ({ quoted }, placeholder, operator) =>
    `${quoted} ${operator} ${placeholder}${operator === 'LIKE' ? " ESCAPE '\\'" : ''}`,
  // In GLOB, `[kKK]` matches any of these characters. LIKE takes a sixth of its time, and ignores the case of ASCII
  // letters only. So it finds the texts first, with a wildcard for each character that it does not know in all cases.
  textPatterns (text, isStart) {
    const start = isStart ? '' : '%'
    const characters = Array.from(text)
    const like = { operator: 'LIKE', pattern: `${start}${characters.map(likeClass).join('')}%` } as const
    if (characters.every(isKnownToLike)) return [like]
    return [like, { operator: 'GLOB', pattern: `${isStart ? '' : '*'}${characters.map(globClass).join('')}*` }]
  },
  // Without operators between them, FTS5 ignores texts that have no word. Other full text tables have no `rank`.
  matchIndex ({ index, columns }, words, bind) {
    const table = quoteName(index)
    const query = bind(`{${columns.map(quoteName).join(' ')}} : (${words.map(quoteName).join(' ')})`)
    return `_rowid_ IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ${query} AND (1 OR rank))`
  },
  anyValue: ({ quoted }) => quoted,
  sortable: ({ quoted }) => quoted,
  sorting: {
    explain: (query) => EXPLAIN + query,
    // If an index serves the first criteria, the plan says "FOR LAST TERM OF ORDER BY": equal values are sorted.
    sorts: (rows) => rows.some(({ detail }) => detail === 'USE TEMP B-TREE FOR ORDER BY')
  },
  compareUnfit (shown) {
    const text = String(shown)
    if (/^\uffffx'[\da-f]*'$/.test(text)) return Buffer.from(text.slice(3, -1), 'hex')
    return /^-?Infinity$/.test(text) ? Number(text) : shown
  },
  hasXmin: false,
  // IS finds null too. With its own collation, a column may take `a` and `A` for the same.
  versions: { isSame: ({ quoted }, placeholder) => `${quoted} IS ${placeholder} COLLATE BINARY` },
  longestName: Infinity,
  sameCase: false,
  nullsFirst: true,
  columnType: columnTypeOf,
  collation: '',
  idType: { integer: 'INTEGER PRIMARY KEY AUTOINCREMENT', uuid: 'TEXT PRIMARY KEY NOT NULL' },
  versionType: 'INTEGER NOT NULL DEFAULT 1',
  addsReferences: false,
  countNulls: ({ trigger, table, column, ids, version }) => [
    `CREATE TRIGGER IF NOT EXISTS ${trigger} AFTER UPDATE OF ${column} ON ${table} ` +
      `WHEN NEW.${column} IS NULL AND OLD.${column} IS NOT NULL AND NEW.${version} = OLD.${version} ` +
      `BEGIN UPDATE ${table} SET ${version} = OLD.${version} + 1 ` +
      `WHERE ${ids.map((id) => `${id} = NEW.${id}`).join(' AND ')}; END`
  ],
  tableOptions: ' STRICT',
  findCodec,
  fitsId: (id, type) => (id === 'integer' ? /^INTEGER$/i.test(type) : affinityOf(type) === 'TEXT'),
  fitsVersion: (type) => affinityOf(type) === 'INTEGER'
}

/** Returns whether LIKE finds a character in each of its cases: K is a case of `k`, and none that LIKE knows. */
function isKnownToLike (character: string): boolean {
  const variants = caseVariants(character)
  return variants === character || /^[A-Za-z]{2}$/.test(variants)
}

function likeClass (character: string): string {
  if (!isKnownToLike(character)) return '_'
  return '%_\\'.includes(character) ? `\\${character}` : character
}

function globClass (character: string): string {
  const variants = caseVariants(character)
  return variants === character && !'*?['.includes(character) ? character : `[${variants}]`
}
