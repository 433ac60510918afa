import type { Outcome } from '../actions/outcome.js'
import type { ChoiceRow, ReferenceChoices, RowSearch } from '../formats/format.js'
import { type Id, isId, type Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { RequestState } from '../request/state.js'
import type { RowChoices } from './choices.js'

/** Returns whether the page of an outcome has a form with the attributes of a row. */
export function showsForm ({ kind }: Outcome, { compiled, customAction, payload, refused }: RequestState): boolean {
  const { actions } = compiled.resource
  const has = (action: 'create' | 'update', form: 'new' | 'edit'): boolean =>
    actions.has(action) && !actions.has(form) && refused?.has(action) !== true
  switch (kind) {
    case 'listed': return customAction === undefined && has('create', 'new')
    case 'found': return has('update', 'edit')
    case 'stale': return payload?.node !== undefined
    default: return kind === 'edit' || kind === 'blank' || kind === 'revised'
  }
}

/**
 * Finds the rows that the attributes of a form can reference, or those that the form asks for.
 * @param row the row that the form is for
 */
export async function findChoices (row: Row | undefined, state: RequestState): Promise<void> {
  state.rowSearch = await searchRows(state)
  if (state.rowSearch === undefined) await listChoices(row, state)
}

async function searchRows (state: RequestState): Promise<RowSearch | undefined> {
  const { payload, body, compiled: { relations: { choices } } } = state
  const asked = payload?.isRevised === true ? body?.reader.choosing?.(payload.node) : undefined
  return asked && choices.find(({ attribute }) => attribute === asked.attribute)?.search(asked, state)
}

/**
 * Finds the rows that the attributes of a form can reference.
 * @param row the row that the form is for
 */
export async function listChoices (row: Row | undefined, state: RequestState): Promise<void> {
  const { resource, relations: { choices } } = state.compiled
  const sources = [row?.attributes, state.payload?.attributes, prefilledOf(state)]
  const found = new Map<string, ReferenceChoices>()
  await Promise.all(choices.map(async (relation) => {
    const { attribute } = relation
    const listed = await relation.list(state)
    if (listed === undefined) return
    const values = sources.map((attributes) => attributes?.[attribute])
    const byDefault = resource.attributes.get(attribute)?.schema.default
    const names = await findNames([...values, byDefault], listed.rows ?? [], relation, state)
    found.set(attribute, { ...listed, names })
  }))
  state.choices = found
}

/** Returns the values with which a form for a new row begins. */
function prefilledOf ({ action, compiled: { prefill }, request, prefilled, target }: RequestState): Attributes {
  const { query } = request
  return action === 'list' ? prefill.readFilter(query, target.scope) : prefilled
}

/** Finds the names of the rows that an attribute references, other than those that the form lists. */
async function findNames (
  values: readonly unknown[],
  rows: readonly ChoiceRow[],
  { attribute, findLinks }: RowChoices,
  state: RequestState
): Promise<ReadonlyMap<string, string>> {
  const known = state.links?.get(attribute)
  const names = new Map<string, string>()
  const missing = new Set<Id>()
  for (const id of values.filter(isId)) {
    if (rows.some((row) => row.id === id)) continue
    const linked = known?.get(id)
    if (linked === undefined) missing.add(id)
    else if (linked.name !== undefined) names.set(String(id), linked.name)
  }
  for await (const [id, { name }] of findLinks([...missing], state)) {
    if (name !== undefined) names.set(String(id), name)
  }
  return names
}
