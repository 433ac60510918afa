import type { Schema } from '../../../core/schema/types.js'
import { type Literal, parseExpression } from '../../tables/checks/expression.js'
import { tokenize } from '../../tables/checks/tokens.js'
import type { FoundColumn } from '../../tables/found-table.js'
import type { Obstacle } from './abilities.js'
import type { Contents } from './sample.js'

/** A column as `pragma_table_xinfo` describes it. */
export interface PragmaColumn {
  readonly name: string
  /** The declared type. */
  readonly type: string
  readonly notnull: number
  /** The SQL of the default. */
  readonly dflt_value: string | null
  /** The position in the primary key, from 1, or 0. */
  readonly pk: number
  /** 1 for hidden columns of virtual tables, 2 and 3 for generated columns. */
  readonly hidden: number
}

/** What other parts of the schema say about a column. */
export interface ColumnContext {
  readonly contents: Contents
  /** Whether the column is another name of `rowid`, which SQLite fills in. */
  readonly isAlias: boolean
  /** Whether no row has null in the primary key. */
  readonly hasFullKey: boolean
  readonly hasUnfitIds: boolean
  readonly isExact: boolean
  /** What SQLite cannot do with the column, if there is something. */
  readonly obstacle: Obstacle | undefined
}

/** Describes a column by its declaration and its contents. */
export function readColumn (
  { name, type, notnull, dflt_value: fallback, pk, hidden }: PragmaColumn,
  { contents, isAlias, hasFullKey, hasUnfitIds, isExact, obstacle }: ColumnContext
): FoundColumn {
  const { schema, isComparable, mixed, remark } = contents
  const made = parseExpression(tokenize(fallback ?? '', { hasBrackets: true }), () => undefined)
  return {
    name,
    schema,
    isNullable: notnull === 0 && !(hasFullKey && pk > 0),
    hasDefault: isAlias || hidden > 1 || (fallback !== null && !/^null$/i.test(fallback)),
    default: made.is === 'value' ? readDefault(made.value, schema) : undefined,
    makes: isAlias ? 'integer' : undefined,
    isComparable,
    hasUnfitIds,
    isExact,
    isReadOnly: hidden > 1 || mixed !== undefined,
    may: { read: obstacle?.canRead !== false, create: true, update: true },
    problem: mixed !== undefined
      ? explainMixture(name, type, mixed)
      : remark === undefined ? obstacle?.problem : `The column "${name}" ${remark}.`
  }
}

/** Returns a default as its attribute has it. SQLite keeps booleans as 0 and 1. */
function readDefault (value: Literal, { type }: Schema): Literal {
  return type === 'boolean' && (value === 0 || value === 1) ? value === 1 : value
}

const PLURALS: Readonly<Record<string, string>> = { integer: 'integers', real: 'numbers', text: 'texts', blob: 'BLOBs' }

function explainMixture (name: string, type: string, mixed: readonly string[]): string {
  const declared = type === '' ? 'has no declared type' : `is declared as ${type}`
  const list = mixed.map((held) => PLURALS[held]).join(' and ')
  return `The column "${name}" ${declared} and contains ${list}, so its values are shown as they are and are read-only.`
}
