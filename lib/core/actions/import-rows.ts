import { RowsError } from '../errors.js'
import type { ImportedFile } from '../formats/importing.js'
import type { RowPayload } from '../request/payload.js'
import type { ActionState } from '../request/state.js'
import type { Outcome } from './outcome.js'
import { type RowActions, writeRows } from './write-rows.js'

/**
 * Writes the rows of an imported file in one transaction, or only finds out what that would do. The file of the faulty
 * rows comes from a dry run, too.
 * @throws RowsError, UnavailableError, UnknownOutcomeError
 */
export async function importRows (state: ActionState, actions: RowActions): Promise<Outcome> {
  const { step } = state.importing as ImportedFile
  try {
    const outcome = await writeRows(state, actions)
    if (step === 'write') return outcome
    const { rows, counts } = outcome
    const given = state.payload?.rows as readonly RowPayload[]
    const shown = rows.map((row, index) => ({ line: given[index]?.line as number, row }))
    return { kind: 'importing', preview: { rows: shown, counts } }
  } catch (error) {
    if (step !== 'faulty' || !(error instanceof RowsError)) throw error
    return { kind: 'importing', faults: error }
  }
}
