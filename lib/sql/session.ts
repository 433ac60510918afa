import { TransactionError } from '../core/errors.js'

/** Matches SQL that begins or ends a transaction, also behind comments. */
const CONTROL =
  /^(?:\s|--.*|\/\*[^]*?\*\/)*(?:BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|PREPARE\s+TRANSACTION)\b/i

/** Throws `TransactionError` if SQL of the app would begin or end a transaction, so that others would not be in it. */
export function checkControl (text: string): void {
  if (!CONTROL.test(text)) return
  throw new TransactionError('context.sql must not begin or end a transaction; throw an error to roll it back')
}
