import type { Chosen } from '../../core/actions/outcome.js'
import type { RowsError, SaidMessages, SaidProblem } from '../../core/errors.js'
import type { Said } from '../../core/messages.js'
import { LIST, OF_ALL, STEP } from '../../core/formats/form/parse.js'
import { hasPage } from '../../core/resource/resource.js'
import { versionOf } from '../../core/resource/visible.js'
import type { Id, Row } from '../../core/resource/row.js'
import { capitalize, MOST_REPEATED } from '../../core/util/words.js'
import type { HtmlView } from '../content.js'
import { hasVersion } from '../forms/form-values.js'
import type { Forms } from '../forms/forms.js'
import { labelOf } from '../names.js'
import type { RowNames } from '../values/row-names.js'
import type { Form, FormError, HiddenField } from '../views/model.js'
import type { MakeActions } from './links.js'
import type { PageFrames, PageSource } from './page-frame.js'
import { isReferenced } from './problem.js'
import { type CountReferrers, isDeleted, isRestricting } from './related.js'

/** The number of rows that the page names, besides those at fault. */
const MOST_NAMED = 20

/** The dependencies of the page. */
export interface ChosenSource extends PageSource {
  readonly frames: PageFrames
  readonly forms: Forms
  readonly names: RowNames
  /** Makes the actions of the app that are performed on several rows. */
  readonly manyActions: MakeActions
  readonly countReferrers: CountReferrers
}

/** The view of a page with rows that a form has chosen. */
export type ChosenView = HtmlView & { readonly chosen: Chosen }

/** A problem of a request with many rows, and the faults of its rows. */
export interface ChosenProblem {
  readonly said: SaidProblem
  readonly faults: ReturnType<RowsError['said']>
}

/** A chosen row that exists, with its fault if it has one. */
interface ExistingRow {
  readonly id: Id
  readonly row: Row
  readonly version: string
  readonly fault: Pick<SaidProblem, 'status' | 'detail' | 'errors'> | undefined
}

/**
 * Writes the page that deletes or changes rows, or repeats an action of the app that was refused. Rows that do not
 * exist any more are told, and left out.
 */
export function writeChosen (source: ChosenSource, view: ChosenView, problem?: ChosenProblem): string {
  const { messages, frames, resource, lang } = source
  const { plural, singular } = messages
  const { chosen: { rows, list = '', all = 0 }, action } = view
  const numbers = new Intl.NumberFormat(lang)
  const paths = frames.pathsOf(view)
  const found = findRows(source, view, problem)
  const isDeletion = action === 'delete'
  const isDefault = isDeletion || action === 'update'
  const own = isDefault ? undefined : source.manyActions(paths.members, undefined).find(({ name }) => name === action)
  const headingOf = isDeletion ? messages.deleteRows : messages.changeRows
  const heading = own?.label ?? headingOf(found.length, numbers.format(found.length), plural, singular)
  const gone = rows.length - found.length
  const missing = gone === 0 ? undefined : messages.missingRows(numbers.format(gone))
  const frame = frames.frame(found.length > 0 ? heading : missing ?? messages.noneChosen(plural), { view, paths })
  const back = `${frame.parent?.href ?? ''}${list && `?${list}`}`
  const shared = sharedErrors(problem, rows.length)
  const { changes, errors, hasRows } = isDeletion || own !== undefined || found.length === 0
    ? { changes: [], errors: [], hasRows: false }
    : source.forms.changes(view, view.chosen, shared)
  const { cascade, links } = describeReferrers(source, view, found)
  const summary = problem && [{ text: source.translate(problem.said.detail), href: undefined }, ...links]
  const named = found.filter(({ fault }, index) => index < MOST_NAMED || fault !== undefined)
  const form: Form = {
    kind: isDeletion ? 'delete' : 'update',
    heading,
    warning: isDeletion && source.context.softDelete !== 'live' ? messages.deleteRowsWarning(found.length) : undefined,
    cascade,
    action: own?.href ?? paths.members,
    hidden: hiddenOf(found, own?.method ?? (isDeletion ? 'DELETE' : 'PUT'), list),
    fields: [],
    free: undefined,
    errors: [...summary ?? [], ...errors],
    hasRows,
    submit: isDeletion || own !== undefined ? heading : messages.save,
    another: undefined,
    cancel: frame.parent && { label: messages.cancel, href: back }
  }
  return frames.render({
    ...frame,
    kind: 'chosen',
    rows: named.map(({ id, row, fault }) => {
      const name = source.names.of(id, row).alone
      const href = hasPage(resource, id) ? frames.pathOf(paths, id) : undefined
      return { name, href, errors: fault === undefined ? [] : textsOf(source, fault, { shared, name }) }
    }),
    more: named.length === found.length ? undefined : messages.moreRows(numbers.format(found.length - named.length)),
    missing,
    chooseAll: all > rows.length
      ? {
          ...{ name: 'all', method: 'POST', href: paths.members },
          label: messages.chooseAllRows(all, numbers.format(all), plural, singular),
          hidden: [{ name: STEP, value: (isDeletion ? 'delete' : 'change') + OF_ALL }, { name: LIST, value: list }]
        }
      : undefined,
    changes,
    form: found.length === 0 ? undefined : form,
    back: frame.parent && { label: messages.all(plural), href: back }
  })
}

/** Describes the rows that are deleted together with these, and those that refuse it, as they were counted together. */
function describeReferrers (
  { countReferrers, messages, context: { softDelete } }: ChosenSource,
  { related }: ChosenView,
  found: readonly ExistingRow[]
): { readonly cascade?: string | undefined, readonly links: FormError[] } {
  const cascade = softDelete === 'live' ? undefined : countReferrers(related.filter(isDeleted))
  const isRefused = found.some(({ fault }) => fault !== undefined && isReferenced(fault))
  const { links = [] } = (isRefused && countReferrers(related.filter(isRestricting))) || {}
  return {
    cascade: cascade && messages.deleteCascade(cascade.text),
    links: links.map(({ label, href }) => ({ text: label, href: href.length > MOST_REPEATED ? undefined : href }))
  }
}

/** Returns the rows that exist. A row that has changed keeps the version that the form had until that is told. */
function findRows ({ resource }: ChosenSource, { chosen }: ChosenView, problem?: ChosenProblem): ExistingRow[] {
  const faults = new Map(problem?.faults.map((fault) => [fault.index, fault]))
  return chosen.rows.flatMap(({ id, row, version }, index) => {
    if (id === undefined || row === undefined) return []
    const fault = faults.get(index)
    const current = versionOf(row, resource)
    return [{ id, row, fault, version: fault?.status === 412 ? current : version ?? current }]
  })
}

/** Returns the hidden fields: the method, the list, the ids, and the versions in the same order. */
function hiddenOf (rows: readonly ExistingRow[], method: string, list: string): HiddenField[] {
  const versions = rows.every(({ version }) => hasVersion(version)) ? rows : []
  return [
    ...(method === 'POST' ? [] : [{ name: '_method', value: method }]),
    ...(list === '' ? [] : [{ name: LIST, value: list }]),
    ...rows.map(({ id }) => ({ name: 'id[]', value: String(id) })),
    ...versions.map(({ version }) => ({ name: '_version[]', value: version }))
  ]
}

/** Returns the messages about attributes that all rows share: those about the values that were sent. */
function sharedErrors (problem: ChosenProblem | undefined, count: number): SaidMessages {
  const { faults: [first, ...others] = [] } = problem ?? {}
  // An answer names only so many faults.
  if (first?.errors === undefined || (problem?.said.truncated !== true && others.length + 1 < count)) return {}
  const isShared = (path: string, said: Said): boolean =>
    others.every(({ errors = {} }) => isAmong(said, errors, path))
  return Object.fromEntries(Object.entries(first.errors)
    .map(([path, all]) => [path, all.filter((said) => isShared(path, said))] as const)
    .filter(([, all]) => all.length > 0))
}

function isAmong (said: Said, messages: SaidMessages, path: string): boolean {
  return Object.hasOwn(messages, path) && messages[path]?.some((other) => String(other) === String(said)) === true
}

/** Returns the messages about each row that cannot be created, by its name or its position in the request. */
export function textsOfNew (source: PageSource, error: RowsError, { newNames }: HtmlView): string[] {
  const { item, labelled, plural } = source.messages
  return error.said().flatMap((fault) => {
    const name = newNames?.get(fault.index) ?? item(plural, fault.index + 1)
    return textsOf(source, fault, { shared: {}, name }).map((text) => labelled(name, text))
  })
}

/** Returns the messages about a row, without those that the form has at its fields. */
function textsOf (
  { messages, translate, resource }: PageSource,
  fault: NonNullable<ExistingRow['fault']>,
  { shared, name }: { readonly shared: SaidMessages, readonly name: string }
): string[] {
  const { status, detail, errors } = fault
  if (status === 412) return [capitalize(messages.stale(messages.singular))]
  // The message itself names tables that the user may not list.
  if (isReferenced(fault)) return [messages.undeletable(name, undefined, 0)]
  if (errors === undefined) return [capitalize(translate(detail))]
  return Object.entries(errors).flatMap(([path, all]) => {
    const property = resource.attributes.get(path)
    return all.filter((said) => !isAmong(said, shared, path))
      .map((said) => messages.fieldError(property === undefined ? path : labelOf(property), translate(said)))
  })
}
