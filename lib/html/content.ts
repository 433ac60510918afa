import type { AccessContext } from '../core/actions/authorize/level.js'
import type { Chosen, Outcome } from '../core/actions/outcome.js'
import type { Problem } from '../core/errors.js'
import type {
  ChoiceRow, Choosing, ImportState, LinkedRow, LinkedRows, PageView, Prepared, PreparedProblem, ReferenceChoices,
  Refused, RelatedList, RowChoices, RowSearch, Services, Unlisted, View
} from '../core/formats/format.js'
import { type FormNode, markerOf, rowsOf as numberedRows } from '../core/formats/form/parse.js'
import type { Resource } from '../core/resource/resource.js'
import { type Id, isId, type Row } from '../core/resource/row.js'
import { addLinks, type FoundLinks } from '../core/relations/row-links.js'
import { findNotice, type CountedNotice } from './notices.js'

/** The sums of a list. */
export interface Sums {
  /** The number of the rows, or `undefined` if they are too many to be added up. */
  readonly rows: number | undefined
  /** The sums by the names of their attributes, as decimal texts; `undefined` if a value is no number. */
  readonly values: ReadonlyMap<string, string | undefined>
}

/** The numbers about all rows of a list that one of its pages shows. */
export interface Figures {
  /** The sums that the query asks for; `undefined` if it asks for none. */
  readonly sums: Sums | undefined
  /** The numbers of the rows to which the links of categories lead, by their conditions: `status=paid`. */
  readonly counts: ReadonlyMap<string, number>
}

/** What a page shows besides its rows. */
export interface PageContent {
  /** The actions that `authorize` refuses to this request, as far as it can decide without the row. */
  readonly refused: Refused
  /** The resources whose lists the request may not open; `undefined` if nothing was asked, as after an error. */
  readonly unlisted: Unlisted
  /** The lists of the rows that belong to the row of the page, as far as the request may list them. */
  readonly related: readonly RelatedList[]
  /** The rows that the rows of the page reference, as far as the request may see them. */
  readonly links: LinkedRows
  /** The rows that the attributes of a form can reference. It lacks attributes whose rows the request may not list. */
  readonly choices: ReadonlyMap<string, ReferenceChoices>
  /** The rows that the user chooses from, instead of the form; `undefined` for the form itself. */
  readonly rowSearch: AttributeSearch | undefined
  /** The rows that a form has chosen, for the page that deletes or changes them; `undefined` for every other page. */
  readonly chosen: Chosen | undefined
  /** The names of the rows at fault that a form makes of several values of an attribute, by their places in it. */
  readonly newNames?: ReadonlyMap<number, string>
  /** What an import is about; `undefined` for every other page. */
  readonly importing: ImportState | undefined
  /** The names of the rows above the page, from the nearest to the outermost, as far as the request may see them. */
  readonly parents: readonly string[]
  /** The way back from the form to the page of another row on which it stood; `undefined` if it stood on none. */
  readonly back: string | undefined
  /** What the write before the page has done; `undefined` without one. */
  readonly notice: CountedNotice | undefined
  /** The numbers about all rows of a list; `undefined` for other pages, and if a handler of the app lists rows. */
  readonly figures: Figures | undefined
}

/** The rows that a user chooses from for an attribute. */
export interface AttributeSearch extends RowSearch, Pick<Choosing, 'attribute'> {
  /** The steps to the field of a form; `undefined` in the filter of a list. */
  readonly path: Choosing['path'] | undefined
}

/** The view of a page. */
export interface HtmlView extends View, PageContent {}

/** The view of the page of a list. */
export interface HtmlListView extends PageView, PageContent {}

const NO_CONTENT: PageContent = {
  refused: new Set(),
  unlisted: undefined,
  related: [],
  links: new Map(),
  choices: new Map(),
  rowSearch: undefined,
  chosen: undefined,
  importing: undefined,
  parents: [],
  back: undefined,
  notice: undefined,
  figures: undefined
}

/** Returns a view with the content that was prepared for it. */
export function withContent<V extends View> (view: V): V & PageContent {
  return { ...view, ...(view.content as PageContent | undefined ?? NO_CONTENT) }
}

/** The outcomes of the pages that a redirect after a write leads to. */
const SHOWS_NOTICE: ReadonlySet<Outcome['kind']> = new Set(['found', 'listed', 'blank'])

/** Finds what the page of an outcome shows besides its rows. */
export async function prepareContent (
  outcome: Outcome,
  resource: Resource,
  services: Services,
  asksRows: boolean
): Promise<Prepared & { readonly content: PageContent }> {
  const { links: relations, choices, parents } = services
  const row = rowOf(outcome)
  const chosen = outcome.kind === 'selected' ? outcome.chosen : undefined
  const links: FoundLinks = new Map()
  const found = !services.isCustom && SHOWS_NOTICE.has(outcome.kind) ? findNotice(services.request) : undefined
  const refused = outcome.kind === 'listed'
    ? await refusedOfList(services, asksRows)
    : outcome.kind === 'found' ? await refusedOfRow(outcome.row, resource, services) : NO_CONTENT.refused
  const content: PageContent = {
    ...NO_CONTENT,
    refused,
    unlisted: await services.unlisted('page'),
    related: outcome.kind === 'found' || (outcome.kind === 'selected' && services.action === 'delete')
      ? await findRelated(row, services, chosen)
      : [],
    links,
    chosen,
    importing: outcome.kind === 'importing'
      ? { file: services.importing?.file, preview: outcome.preview, faults: outcome.faults }
      : undefined,
    parents,
    back: outcome.kind === 'revised' ? await services.back() : undefined,
    notice: found?.notice
  }
  const addRows = async (rows: readonly Row[]): Promise<void> => addLinks(relations, rows, services, links)
  await addRows(rowsOf(outcome))
  const asked = outcome.kind === 'listed' && !services.isCustom ? findCondition(services) : undefined
  const query = services.openCondition?.choosing
  const rowSearch = asked && query && await searchRows(asked, { query }, services)
  const form = rowSearch ?? (choices.length > 0 && showsForm(outcome, resource, refused, services)
    ? await findChoices(row, links, services)
    : asked && { choices: await listChoices([asked], row, links, services) })
  return {
    content: { ...content, ...form },
    isVolatile: services.isGuarded || parents.length > 0 || links.size > 0 || form !== undefined ||
      (outcome.kind === 'found' && services.lists.length > 0),
    headers: found?.headers,
    ...(relations.length > 0 && { addRows })
  }
}

/** Finds the actions about a row that `authorize` refuses, and whether it refuses the form for a copy. */
async function refusedOfRow (row: Row, { actions }: Resource, services: Services): Promise<Refused> {
  const refused = await services.refused(row)
  if (!actions.has('new') || services.isCustom) return refused
  const ofList = await services.refused('collection')
  return new Set([...refused, ...['create', 'new'].filter((action) => ofList.has(action))])
}

/** Finds the actions about the collection, and about several of its rows, that `authorize` refuses. */
async function refusedOfList (services: Services, asksRows: boolean): Promise<Refused> {
  const refused = await services.refused('collection')
  return asksRows && !services.isCustom ? new Set([...refused, ...await services.refused('rows')]) : refused
}

/** The statuses of errors in the input. After another refusal, or a failure of the store, no row is read. */
const OF_SUPPLIED: ReadonlySet<number> = new Set([409, 422, 428])

/** The statuses of errors about a whole file. */
const OF_FILE: ReadonlySet<number> = new Set([400, 409, 413, 422])

/**
 * Finds what the page of an error shows besides it. A form that is shown again needs its row, and its choices. A
 * refused deletion needs the row, and the rows that refer to it.
 */
export async function prepareProblem (
  { status, rows }: Problem,
  { singleton }: Resource,
  services: Services
): Promise<PreparedProblem> {
  const { form, action } = services
  const isDeletion = (status === 409 || rows !== undefined) && action === 'delete' && !services.isCustom
  const isForm = form !== undefined && OF_SUPPLIED.has(status)
  // The page of a missing row offers to create it.
  const isGone = form !== undefined && status === 404 && action === 'update'
  const canCreate = !isForm && (isGone || (singleton && status === 404))
  const unlisted = status >= 500 ? undefined : await services.unlisted('bar')
  const row = isForm || (isDeletion && rows === undefined) ? await services.formRow() : undefined
  const chosen = rows === undefined ? undefined : await services.chosen()
  const related = isDeletion ? await findRelated(row, services, chosen) : []
  const isOfFile = rows !== undefined || OF_FILE.has(status)
  const importing = isOfFile && services.importing !== undefined
    ? { ...services.importing, preview: undefined, faults: undefined }
    : undefined
  const refused = canCreate ? await services.refused('nothing') : NO_CONTENT.refused
  // Without choices, the fields take ids.
  const found = isForm || isGone || chosen !== undefined
    ? await listChoices(services.choices, row, NO_CONTENT.links, services).catch(() => NO_CONTENT.choices)
    : NO_CONTENT.choices
  const newNames = await nameNew(rows, services).catch(() => undefined)
  const { parents } = services
  const back = isForm || rows !== undefined ? await services.back().catch(() => undefined) : undefined
  const content = {
    ...NO_CONTENT,
    ...{ refused, unlisted, related, choices: found, chosen, importing, parents, back },
    ...newNames !== undefined && { newNames }
  }
  return { content, row }
}

/** Names the rows at fault that a form makes of several values of a reference, by the rows with these ids. */
async function nameNew (faults: Problem['rows'] = [], services: Services): Promise<PageContent['newNames']> {
  const { newRows = [], choices } = services
  const node = newRows.find((row) => row?.node !== undefined)?.node as FormNode | undefined
  const name = node && markerOf(node, 'each')
  const relation = choices.find(({ attribute }) => attribute === name)
  if (name === undefined || relation === undefined) return undefined
  const ids = faults.map(({ index }) => newRows[index]?.attributes[name])
  const names = await findNames(ids, [], { relation, known: undefined }, services)
  return new Map(faults.flatMap(({ index }, place) => {
    const id = ids[place]
    return isId(id) ? [[index, names.get(String(id)) ?? String(id)]] : []
  }))
}

/** Finds the lists of the rows that belong to a row, or counts those that belong to the rows that a form has chosen. */
async function findRelated (
  row: Row | undefined,
  services: Services,
  chosen: Chosen | undefined
): Promise<readonly RelatedList[]> {
  const [first, ...others] = (chosen?.rows ?? [{ row }]).flatMap(({ row }) => row ?? [])
  if (first === undefined) return []
  const found = await Promise.all(services.lists.map(async (find) => find(first, services, chosen && others)))
  // The forms of empty lists would stand before the rows of others.
  const isEmpty = ({ total }: RelatedList): boolean => total?.rows === 0
  return found.filter((list) => list !== undefined).sort((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)))
}

/** Returns the first rows that the page of an outcome shows. */
function rowsOf (outcome: Outcome): readonly Row[] {
  if (outcome.kind === 'listed') return outcome.rows
  if (outcome.kind === 'importing') return outcome.preview?.rows.map(({ row }) => row) ?? []
  const row = rowOf(outcome)
  return row === undefined ? [] : [row]
}

/** Returns the row that the page of an outcome shows. */
function rowOf (outcome: Outcome): Row | undefined {
  return ['found', 'edit', 'stale', 'revised'].includes(outcome.kind) && 'row' in outcome ? outcome.row : undefined
}

/** Returns whether the page of an outcome has a form with the attributes of a row. */
function showsForm ({ kind }: Outcome, { actions }: Resource, refused: Refused, services: Services): boolean {
  const has = (action: 'create' | 'update', form: 'new' | 'edit'): boolean =>
    actions.has(action) && !actions.has(form) && !refused.has(action)
  switch (kind) {
    case 'listed': return !services.isCustom && has('create', 'new')
    case 'found': return has('update', 'edit')
    case 'stale': return services.form !== undefined
    case 'selected': return services.action === 'update'
    default: return kind === 'edit' || kind === 'blank' || kind === 'revised'
  }
}

/** Finds the rows that the attributes of a form can reference, or those that the form asks for. */
async function findChoices (
  row: Row | undefined,
  links: LinkedRows,
  services: Services
): Promise<Partial<PageContent>> {
  const { choosing, choices } = services
  const asked = choosing && choices.find(({ attribute }) => attribute === choosing.attribute)
  const rowSearch = asked && await searchRows(asked, choosing, services)
  return rowSearch ?? { choices: await listChoices(choices, row, links, services) }
}

/** Returns the reference that the open condition of a list is about, if it is about one. */
function findCondition ({ openCondition, choices }: Services): RowChoices | undefined {
  const parameter = openCondition?.parameter
  return choices.find(({ attribute }) => parameter === attribute || parameter?.startsWith(`${attribute}[`) === true)
}

/** Finds the rows of a query that a user can choose from, unless the request may not list them. */
async function searchRows (
  { attribute, search }: RowChoices,
  { query, path }: Pick<Choosing, 'query'> & Partial<Choosing>,
  services: Services
): Promise<Pick<PageContent, 'rowSearch'> | undefined> {
  const found = await search(query, services)
  return found && { rowSearch: { ...found, attribute, path } }
}

/** What the choices of a form depend on. */
type FormServices = AccessContext & Pick<Services, 'prefilled'> & Partial<Pick<Services, 'form'>>

/**
 * Finds the rows that the attributes of a form can reference.
 * @param row the row that the form is for
 */
export async function listChoices (
  choices: readonly RowChoices[],
  row: Row | undefined,
  links: LinkedRows,
  services: FormServices
): Promise<PageContent['choices']> {
  const { form, prefilled } = services
  const found = new Map<string, ReferenceChoices>()
  await Promise.all(choices.map(async (relation) => {
    const { attribute, byDefault, valuesIn } = relation
    const listed = await relation.list(services)
    if (listed === undefined) return
    const values = [row?.attributes ?? {}, prefilled].flatMap(valuesIn).map(({ value }) => value)
    const sent = form === undefined ? [] : readSent(form as FormNode, attribute)
    const ids = [...values, ...sent, byDefault]
    const names = await findNames(ids, listed.rows ?? [], { relation, known: links.get(attribute) }, services)
    found.set(attribute, { ...listed, names })
  }))
  return found
}

/** Returns the ids that a form has sent in the fields of a reference, as texts and as numbers. */
function readSent ({ children }: FormNode, name: string): readonly unknown[] {
  const own = children.get(name)
  if (own !== undefined) return own.texts.flatMap((text) => text === '' ? [] : [text, Number(text)])
  const dot = name.indexOf('.')
  const rows = children.get(name.slice(0, Math.max(0, dot)))
  return rows === undefined ? [] : numberedRows(rows).flatMap((row) => readSent(row, name.slice(dot + 1)))
}

/** A reference, and the rows that are known already. */
interface KnownRows {
  readonly relation: RowChoices
  readonly known: ReadonlyMap<unknown, LinkedRow> | undefined
}

/** Finds the names of the rows that an attribute references, other than those that the form lists. */
async function findNames (
  values: readonly unknown[],
  rows: readonly ChoiceRow[],
  { relation, known }: KnownRows,
  services: AccessContext
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  const missing = new Set<Id>()
  for (const id of values.filter(isId)) {
    if (rows.some((row) => row.id === id)) continue
    const linked = known?.get(id)
    if (linked === undefined) missing.add(id)
    else if (linked.name !== undefined) names.set(String(id), linked.name)
  }
  for await (const [id, { name }] of relation.findLinks([...missing], services)) {
    if (name !== undefined) names.set(String(id), name)
  }
  return names
}
