import { InvalidError, NO_SUCH_REFERENCE, ReferencedError, SequenceError } from '../core/errors.js'
import { type Message, say } from '../core/messages.js'
import type { Scope } from '../core/resource/row.js'
import type { Attributes } from '../core/schema/types.js'
import { makeDuplicateError } from '../core/stores/unique.js'
import type { Columns } from './columns/column.js'
import type { SqlColumn, RawRow } from './dialect.js'

/** The error of a statement that the database refused. It names columns, which the store translates to attributes. */
export class ConstraintError extends Error {
  readonly kind: 'unique' | 'required' | 'reference' | 'check' | 'value'
  /** The columns at fault, as far as the database names them. */
  readonly columns: readonly string[]
  /** The tables with rows that refer to another row, as far as the database names them. */
  readonly tables: readonly string[]

  constructor (
    kind: ConstraintError['kind'],
    columns: readonly string[],
    cause: unknown,
    tables: readonly string[] = []
  ) {
    super(`${kind} constraint`, { cause })
    this.kind = kind
    this.columns = columns
    this.tables = tables
  }
}

/** A function that explains an error, or returns no rows if it means that there are none. */
export type Rescue = (error: unknown) => readonly RawRow[]

/** Returns no rows if a column cannot hold the value with which it was compared. Throws every other error. */
export const rescueRead = (error: unknown): readonly RawRow[] => {
  if (error instanceof ConstraintError && error.kind === 'value') return []
  throw error
}

/** Explains a failed deletion. Its values are only compared, so a value that its column cannot hold matches no rows. */
export const rescueDeletion = (error: unknown): readonly RawRow[] => {
  if (!(error instanceof ConstraintError) || error.kind === 'value') return rescueRead(error)
  // A trigger refuses the deletion, or a CHECK refuses what `ON DELETE SET NULL` makes of other rows.
  if (error.kind === 'check') {
    throw new InvalidError({}, { detail: 'the database refuses the deletion', cause: error.cause })
  }
  const referrers = error.tables.map((table) => table.replaceAll('_', ' ')).join(' or ')
  throw new ReferencedError(referrers === '' ? undefined : referrers, { cause: error.cause })
}

/** Makes a function that explains a failed create or update in terms of attributes. */
export function makeRescue (
  { id, byAttribute }: Columns,
  supplied: Attributes,
  scope: Scope
): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ConstraintError)) throw error
    const { kind, columns, cause } = error
    // The client did not choose an id that the database or the store has made, so a repeated one is not its fault.
    if (kind === 'unique' && id !== undefined && columns.includes(id)) throw new SequenceError({ cause })
    const attributes = [...byAttribute.values()].filter(({ name }) => columns.includes(name))
      .map(({ attribute }) => attribute)
    if (kind === 'unique' && attributes.length > 0) throw makeDuplicateError(attributes, scope, cause)
    const named = attributes.filter((attribute) => !Object.hasOwn(scope, attribute))
    const blamed =
      kind === 'required' || named.length === 1 ? named : named.filter((name) => Object.hasOwn(supplied, name))
    // The first columns of a longer foreign key often are those of a tenant.
    const attribute = blamed.at(kind === 'reference' ? -1 : 0)
    const { detail } = REFUSALS[kind]
    throw attribute === undefined
      ? new InvalidError({}, { detail, cause })
      : new InvalidError({ [attribute]: [describeRefusal(kind, byAttribute.get(attribute))] }, { cause })
  }
}

/** Returns the message about a refused value. If the type of its column has its own spelling, names the type. */
function describeRefusal (kind: ConstraintError['kind'], column: SqlColumn | undefined): Message {
  const { message } = REFUSALS[kind]
  if (kind !== 'value' || column === undefined) return message
  if (column.type === 'enum') return say('mustBeInEnumeration')
  return TEXTS.test(column.type) ? message : say('mustFitColumn', { type: column.type })
}

/** Matches the types that accept every text of their length. */
const TEXTS = /text|char/i

interface Refusal {
  readonly message: Message
  readonly detail: Message
}

export const REFUSALS: Readonly<Record<ConstraintError['kind'], Refusal>> = {
  unique: { message: say('isTaken'), detail: say('valuesTaken') },
  required: { message: say('mustBeGiven'), detail: say('valueMissing') },
  reference: { message: NO_SUCH_REFERENCE, detail: say('referenceRefused') },
  check: { message: say('isInvalid'), detail: say('valueRefused') },
  value: { message: say('cannotBeStored'), detail: say('valueUnstorable') }
}
