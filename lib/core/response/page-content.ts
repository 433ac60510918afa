import { findParameters, findParent, findShown } from '../actions/authorize/authorize.js'
import {
  findUnlisted, type ListCheck, NONE_REFUSED, NONE_UNLISTED, type Refusals
} from '../actions/authorize/refused-actions.js'
import { unlessRefused } from '../relations/include/relation.js'
import { type Outcome, OUTCOME_RESPONSES } from '../actions/outcome.js'
import { PreconditionFailedError } from '../errors.js'
import { type Id, isId, type Row } from '../resource/row.js'
import type { FindRelatedList } from '../relations/related-lists.js'
import { addLinks, findTitle, type FoundLinks, type RowLinks } from '../relations/row-links.js'
import type { RequestState } from '../request/state.js'
import { NO_VERSION } from '../actions/default-actions.js'
import type { ChoiceRow, LinkedRows, ReferenceChoices, RowSearch, View } from '../formats/format.js'
import type { Attributes } from '../schema/types.js'
import type { RowChoices } from '../relations/choices.js'

/** The outcome of a write that has written nothing, and shows the stored row. */
export type OutcomeWithoutWrite = Outcome & { readonly kind: 'stale' | 'revised' }

/**
 * Finds the facts that the page of an outcome needs besides the row. Returns the outcome with its further rows, whose
 * links are found as they are read.
 */
export async function findContent<O extends Outcome> (outcome: O, state: RequestState): Promise<O> {
  const { resourcePaths: { isShallow }, refusals, relations: { lists, links, choices }, listChecks } = state.compiled
  if (isShallow) await findParents(outcome, state)
  // A browser is redirected after a write, from a shallow row to the list that the row is in.
  if (!OUTCOME_RESPONSES[outcome.kind].browser.body) return outcome
  if (refusals !== undefined) await findRefused(outcome, state, refusals)
  await findLists(checksOf(outcome, listChecks(), state), state)
  if (lists.length > 0) await findRelated(outcome, state, lists)
  const linked = links.length > 0 ? await linkRows(outcome, state, links) : outcome
  if (choices.length > 0 && showsForm(linked, state)) await findChoices(rowOf(linked), state)
  return linked
}

/**
 * Leaves out the stored row of a write that was refused, if `authorize` does not let the client see it.
 * @throws PreconditionFailedError if nothing remains to be shown
 */
export async function hideUnauthorized (outcome: OutcomeWithoutWrite, state: RequestState): Promise<Outcome> {
  const { row } = outcome
  const { compiled: { resource: { singular, singleton } }, checkAccess } = state
  if (row === undefined || checkAccess === undefined) return outcome
  const shown = await findShown(checkAccess, singleton ? undefined : row.id, state, () => row)
  if (outcome.kind === 'revised') return { ...outcome, row: shown }
  // A handler's row without a version may be another state of the row than `authorize` was shown.
  if (shown !== undefined) {
    return row.version === NO_VERSION || row.version === shown.version ? outcome : { ...outcome, row: shown }
  }
  state.outcome = 'stale'
  throw new PreconditionFailedError(
    `the ${singular} does not meet the If-Match, If-None-Match or _version of the request; read it again`
  )
}

/** Finds the actions that `authorize` refuses, because a page does not offer them. */
async function findRefused (outcome: Outcome, state: RequestState, refusals: Refusals): Promise<void> {
  const { request, compiled: { resource: { singleton } } } = state
  if (outcome.kind === 'listed') state.refused = await refusals.ofCollection(request)
  else if (outcome.kind === 'found') {
    state.refused = await refusals.ofRow(request, singleton ? undefined : outcome.row.id)
  }
}

/** Finds the lists that a page must not link to. */
export async function findLists (checks: readonly ListCheck[], state: RequestState): Promise<void> {
  state.unlisted = checks.length === 0 ? NONE_UNLISTED : await findUnlisted(checks, state, state.parameters)
}

/** Returns the questions that the request has not passed already. */
function checksOf (outcome: Outcome, checks: readonly ListCheck[], state: RequestState): readonly ListCheck[] {
  const { compiled: { resource }, action, isCustom } = state
  const isPassed = !isCustom && (outcome.kind === 'listed' || outcome.kind === 'found')
  return checks.filter((check) => !isPassed || check.resource !== resource || check.action !== action)
}

/** Finds the lists of the rows that reference the row of a page, all of them at the same time. */
async function findRelated (
  outcome: Outcome,
  state: RequestState,
  lists: readonly FindRelatedList[]
): Promise<void> {
  if (outcome.kind !== 'found') return
  const found = await Promise.all(lists.map(async (find) => find(outcome.row, state)))
  state.related = found.filter((list) => list !== undefined)
}

/** Finds the links from the rows of a page to others. Those of further rows are found as these are read. */
async function linkRows<O extends Outcome> (
  outcome: O,
  state: RequestState,
  relations: readonly RowLinks[]
): Promise<O> {
  const row = rowOf(outcome)
  const rows = outcome.kind === 'listed' ? outcome.rows : row === undefined ? [] : [row]
  const links: FoundLinks = new Map()
  state.links = links
  await addLinks(relations, rows, state, links)
  if (outcome.kind !== 'listed' || outcome.more === undefined) return outcome
  const { more } = outcome
  return {
    ...outcome,
    more: {
      async next () {
        const pulled = await more.next()
        if (pulled.done !== true) await addLinks(relations, pulled.value, state, links)
        return pulled
      },
      return: () => more.return?.()
    }
  }
}

/** Finds the parents of a shallow row, whose page leads back to the list that the row is in. */
async function findParents (outcome: Outcome, state: RequestState): Promise<void> {
  const row = 'row' in outcome ? outcome.row : undefined
  const parentLink = state.compiled.levels.at(-1)?.parentLink
  if (row === undefined || parentLink === undefined) return
  if (!state.route.isMember || state.choice.format.browser !== true) return
  state.parameters = await findParameters(row, parentLink, state.parameters, state)
  const parent = rowOf(outcome) && await unlessRefused(async () => findParent(row, parentLink, state))
  if (parent !== undefined) state.parents = [parent]
}

/** Returns the row that the page of an outcome shows. A browser is redirected after a write. */
function rowOf (outcome: Outcome): Row | undefined {
  return ['found', 'edit', 'stale', 'revised'].includes(outcome.kind) && 'row' in outcome ? outcome.row : undefined
}

/** Returns whether the page of an outcome has a form with the attributes of a row. */
function showsForm ({ kind }: Outcome, { compiled, customAction, payload, refused }: RequestState): boolean {
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
async function findChoices (row: Row | undefined, state: RequestState): Promise<void> {
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

/** The facts beside its rows that a page shows. */
type PageContent = Pick<View, 'refused' | 'unlisted' | 'related' | 'links' | 'choices' | 'rowSearch' | 'parents'>

const NO_LINKS: LinkedRows = new Map()
const NO_CHOICES: View['choices'] = new Map()

/** The content of answers other than pages, which show only their rows. */
export const NO_CONTENT: PageContent = {
  refused: NONE_REFUSED,
  unlisted: undefined,
  related: [],
  links: NO_LINKS,
  choices: NO_CHOICES,
  rowSearch: undefined,
  parents: []
}

/** Returns what was found for the page of a request. */
export function contentOf (state: RequestState): PageContent {
  const { refused = NONE_REFUSED, unlisted, related = [], links = NO_LINKS, choices = NO_CHOICES } = state
  return { refused, unlisted, related, links, choices, rowSearch: state.rowSearch, parents: nameParents(state) }
}

/** Returns whether a page shows more than its row, whose version does not change with the rest. */
export function hasMoreContent (state: RequestState): boolean {
  const { refused, related, links = NO_LINKS, choices, parents, compiled, choice: { format: { writer } } } = state
  const isPage = writer.list === undefined
  return (refused ?? related ?? choices) !== undefined || links.size > 0 ||
    (isPage && (parents.length > 0 || writer.volatile === true || compiled.listChecks().length > 0))
}

/** Returns the names of the rows above a page, from the nearest to the outermost, as far as they are known. */
function nameParents (state: RequestState): string[] {
  const names: string[] = []
  let { parent } = state.compiled
  for (const row of state.parents.toReversed()) {
    const title = parent && findTitle(parent)
    if (title === undefined) break
    names.push(title(row, state))
    parent = parent?.parent
  }
  return names
}
