import type { CheckAccess } from '../actions/authorize/authorize.js'
import type { AccessContext } from '../actions/authorize/level.js'
import type { Refusals } from '../actions/authorize/refused-actions.js'
import {
  compileOpenNested,
  compileOpenReferencing,
  filterBy,
  type OpenRelated,
  readFirst,
  type OpenRelatedRows
} from './include/first-rows.js'
import type { Nested } from './include/load-many.js'
import { COUNT_OF_PAGES, type Target } from '../actions/list.js'
import type { FindRelatedList, ResourceWords, RowChoices, RowLinks } from '../formats/format.js'
import type { FindLocation, ResourcePaths } from '../resource/location.js'
import { referenceTo, type Resource } from '../resource/resource.js'
import type { Row } from '../resource/row.js'
import { guardsMore, type HookedResource } from './hook-guards.js'
import type { Prefill } from '../request/prefill.js'
import type { ListQueryParser } from '../request/list-query.js'
import { addLinks, findPageWriter, type FoundLinks, type LinkedResource, wordsFor } from './row-links.js'

/** What the list of related rows needs of its resource. */
export interface ListedResource extends HookedResource {
  readonly target: Target
  readonly resource: Resource
  readonly resourcePaths: ResourcePaths
  readonly findLocation: FindLocation
  readonly accessChecks: { readonly collection: CheckAccess | undefined }
  readonly listQuery: ListQueryParser
  readonly prefill: Prefill
  readonly refusals: Refusals | undefined
  readonly representations: LinkedResource['representations']
  readonly relations: {
    readonly links: readonly RowLinks[],
    readonly choices: readonly RowChoices[],
    readonly references: ReadonlyMap<string, unknown>
  }
}

/** A row that others reference: its resource, and what they call it. */
export interface ReferencedBy {
  readonly resource: HookedResource & Pick<ListedResource, 'resource' | 'resourcePaths'>
  readonly attribute: string
  /** The attributes that together have its key; `undefined` if the attribute has it alone. */
  readonly key: readonly string[] | undefined
  readonly relation: string
}

/** Returns the id of a list on the page of the row that its rows reference by this attribute, as it is in a URL. */
export function anchorOf ({ path }: Pick<Resource, 'path'>, attribute: string): string {
  return `related-${encodeURIComponent(`${path.slice(1)}.${attribute}`)}`
}

/** How a list of related rows is found and called. */
interface ListRelation {
  readonly relation: string | undefined
  /** The attribute that references the row. */
  readonly attribute: string
  readonly key?: readonly string[] | undefined
  readonly open: OpenRelated
  /** The resource of the row, if the list is filtered by the attribute because the path does not name the row. */
  readonly referenced: Resource | undefined
}

/**
 * Compiles the function that finds the list of the rows that reference a row. Returns `undefined` if there is no such
 * list, if it cannot be filtered by the attribute, or if its path has a parameter that the path of the row has not.
 */
export function compileRelatedList (listed: ListedResource, by: ReferencedBy): FindRelatedList | undefined {
  const { target, resource, resourcePaths: { collection }, accessChecks, listQuery } = listed
  const { attribute, key, relation } = by
  const isFilterable = (key ?? [attribute]).every((name) =>
    listQuery.filterable.some((other) => other.isPlain && other.attribute.name === name))
  const isLocated = collection.names.every((name) => by.resource.resourcePaths.members.names.includes(name))
  if (!resource.actions.has('list') || !isFilterable || !isLocated) return undefined
  const checkAccess = accessChecks.collection
  const { resource: referenced } = by.resource
  const parameters = collection.names
  const open = compileOpenReferencing({ target, checkAccess, parameters, attributes: key ?? [attribute], referenced })
  return compileList(listed, by.resource, { relation, attribute, key, open, referenced })
}

/** Compiles the function that finds the list of the rows that are nested in a row. */
export function compileNestedList (listed: ListedResource, from: HookedResource, nested: Nested): FindRelatedList {
  const open = compileOpenNested(nested)
  return compileList(listed, from, { relation: undefined, attribute: nested.foreignKey, open, referenced: undefined })
}

function compileList (listed: ListedResource, from: HookedResource, related: ListRelation): FindRelatedList {
  const { resource: { plural: name, singular }, options: { routing, store, softDelete }, findLocation } = listed
  const { relation, attribute, key, open, referenced } = related
  // A handler of the app may list other rows, and its hooks may protect the list.
  const isReadable = !routing.handlers.has('list') && !guardsMore(listed, from, 'list')
  const write = compileTable(listed, from, attribute)
  const findNew = compileNewPath(listed, attribute)
  const makeAdd = compileAdd(listed, from, related)
  const words = (lang: string): ResourceWords => wordsFor(listed, lang)
  const anchor = anchorOf(listed.resource, attribute)
  const isSingle = referenced !== undefined && key === undefined
  const takesSeveral = isSingle && listed.listQuery.parameters.includes(`${attribute}[in]`)
  return async (row, context, others) => {
    const opened = others === undefined || takesSeveral ? await open(row, context, others) : undefined
    if (opened === undefined) return undefined
    const conditions = referenced === undefined ? [] : filterBy(row, referenced, key ?? [attribute])
    const ids = referenced === undefined ? [] : [row, ...others ?? []].map((row) => referenceTo(row, referenced))
    const condition = others === undefined
      ? Object.fromEntries(conditions.map(({ attribute, value }) => [attribute, String(value)]))
      : { [`${attribute}[in]`]: ids.map((id) => String(id).replaceAll(/[\\,]/g, '\\$&')).join() }
    const query = referenced === undefined ? '' : `?${new URLSearchParams(condition).toString()}`
    const { collection } = findLocation(opened.request.params)
    const newHref = others === undefined ? await findNew(opened, query) : undefined
    const { onDelete: rules = {} } = store
    const onDelete = Object.hasOwn(rules, attribute) ? rules[attribute] : undefined
    const found = { name, anchor, singular, words, relation, onDelete, href: collection + query, newHref }
    if (!isReadable) return { ...found, total: undefined, table: undefined }
    const create = newHref === undefined ? undefined : await makeAdd?.(row, opened, context)
    const { rows, total } = await readFirst(opened, context)
    if (rows.length === 0 && softDelete?.rows === 'deleted') return undefined
    return {
      ...found,
      total: total && { ...total, most: COUNT_OF_PAGES.most },
      table: rows.length === 0 || others !== undefined ? undefined : await write(rows, opened, context),
      create
    }
  }
}

type WriteTable = (rows: readonly Row[], opened: OpenRelatedRows, context: AccessContext) => Promise<string | undefined>

/** Compiles the function that writes rows as a table, as the pages of their own resource do. */
function compileTable (listed: ListedResource, from: HookedResource, attribute: string): WriteTable {
  const { resource: { actions, attributes }, findLocation, relations, refusals } = listed
  const [joined = '', ...more] = [...attributes.keys()].filter((name) => name !== attribute)
  const isJoin = more.length === 0 && relations.references.has(joined)
  const removes = actions.has('delete') && !guardsMore(listed, from, 'delete')
  return async (rows, { request }, context) => {
    const writer = findPageWriter(listed)
    if (writer?.table === undefined) return undefined
    const links: FoundLinks = new Map()
    const others = relations.links.filter((other) => other.attribute !== attribute)
    await addLinks(others, rows, { request, get signal () { return context.signal } }, links)
    const canRemove = isJoin && removes && (await refusals?.ofRows(request))?.has('delete') !== true
    return writer.table(rows, {
      location: findLocation(request.params),
      links,
      request,
      without: attribute,
      joined: isJoin ? { attribute: joined, canRemove } : undefined
    })
  }
}

type MakeAdd = (row: Row, opened: OpenRelatedRows, context: AccessContext) => Promise<unknown>

/**
 * Compiles the function that makes the form for one more row. Returns `undefined` if rows have no form pages, if hooks
 * of the app may refuse such a form, or if it cannot give the reference.
 */
function compileAdd (listed: ListedResource, from: HookedResource, related: ListRelation): MakeAdd | undefined {
  const { resource: { actions }, prefill, findLocation, relations } = listed
  const { attribute, key, referenced } = related
  const isGuarded = guardsMore(listed, from, 'create') || guardsMore(listed, from, 'new')
  const isGiven = referenced === undefined || prefill.parameters.includes(attribute)
  if (!actions.has('new') || isGuarded || !isGiven || key !== undefined) return undefined
  return async (row, { request }, context) => findPageWriter(listed)?.add?.({
    request,
    get signal () { return context.signal },
    location: findLocation(request.params),
    by: attribute,
    prefilled: referenced === undefined ? {} : { [attribute]: referenceTo(row, referenced) },
    choices: relations.choices.filter((other) => other.attribute !== attribute)
  })
}

/**
 * Compiles the function that finds the path of the form for a new row, if the request may create one.
 * @param attribute the attribute that the query fills in
 */
export function compileNewPath (
  { resource: { actions }, options: { routing }, findLocation, refusals, prefill }: ListedResource,
  attribute: string
): (opened: Pick<OpenRelatedRows, 'request'>, query: string) => Promise<string | undefined> {
  const canPrefill = prefill.parameters.includes(attribute)
  return async ({ request }, query) => {
    if (!actions.has('create')) return undefined
    const { collection } = findLocation(request.params)
    const refused = await refusals?.ofCollection(request)
    if (refused?.has('create') === true) return undefined
    if (!actions.has('new')) return `${collection}${query}#new`
    if (refused?.has('new') === true) return undefined
    return `${collection}/${encodeURI(routing.pathNames.new)}${canPrefill ? query : ''}`
  }
}
