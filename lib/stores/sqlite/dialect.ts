import { caseVariants } from '../../util/case-folding.js'
import { isStructure } from '../../util/own-property.js'
import { type Dialect, quoteName } from '../sql/dialect.js'
import { affinityOf, columnTypeOf, compareUnfit, findCodec, holdsUnfit } from './column-types.js'

/** The dialect of SQLite 3.43 and later, which has `octet_length`. */
export const sqliteDialect: Dialect = {
  quote: quoteName,
  // Some drivers take a single BLOB for a list of values, so bytes are given as hexadecimal digits.
  placeholder: (_position, kind) => (kind === 'bytes' ? 'unhex(?)' : '?'),
  selectCut: ({ quoted, type }, most) =>
    `CASE WHEN octet_length(${quoted}) > ${most} THEN ${hasBlobs(type) ? CUT_BLOB : "x''"} ` +
    `ELSE ${quoted} END AS ${quoted}`,
  // A column of texts rarely holds a BLOB, so a BLOB marks a text that is cut, and a number marks a BLOB. A row that
  // has such a value itself is only read twice.
  isCut: (raw, _most, { type }) => raw === CUT_BLOB ? hasBlobs(type) : isStructure(raw) && !hasBlobs(type),
  // SQLite prepares a statement again whenever a value is bound to a bare `LIMIT ?`. This took a quarter of the time of
  // a page of 20 rows.
  fixedLimit: (placeholder) => `${placeholder} + 0`,
  // LIKE ignores the case of ASCII letters only. In GLOB, `[kKK]` matches any of these characters.
  matchText: ({ quoted }, placeholder) => `${quoted} GLOB ${placeholder}`,
  textPattern: (text, isStart) => `${isStart ? '' : '*'}${Array.from(text, globClass).join('')}*`,
  anyValue: ({ quoted }) => quoted,
  sortable: ({ quoted }) => quoted,
  blocks: {
    explain: (query) => `EXPLAIN QUERY PLAN ${query}`,
    // If an index serves the first criteria, the plan says "FOR LAST TERM OF ORDER BY": equal values are sorted.
    sorts: (rows) => rows.some(({ detail }) => detail === 'USE TEMP B-TREE FOR ORDER BY'),
    collect: (id) => `json_group_array(${id})`,
    pick: (value, condition) => `max(${value}) FILTER (WHERE ${condition})`,
    contains: (id, placeholder) => `${id} IN (SELECT value FROM json_each(${placeholder}))`
  },
  hasXmin: false,
  // IS finds null too. With its own collation, a column may take `a` and `A` for the same.
  versions: { isSame: ({ quoted }, placeholder) => `${quoted} IS ${placeholder} COLLATE BINARY` },
  longestName: Infinity,
  sameCase: false,
  nullsFirst: true,
  columnType: columnTypeOf,
  collation: ' COLLATE BINARY',
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
  compareUnfit,
  holdsUnfit,
  fitsId: (id, type) => (id === 'integer' ? /^INTEGER$/i.test(type) : affinityOf(type) === 'TEXT'),
  fitsVersion: (type) => affinityOf(type) === 'INTEGER'
}

/** The number that marks a BLOB that is cut. */
const CUT_BLOB = 0.5

function hasBlobs (type: string): boolean {
  return affinityOf(type) === 'BLOB'
}

function globClass (character: string): string {
  const variants = caseVariants(character)
  return variants === character && !'*?['.includes(character) ? character : `[${variants}]`
}
