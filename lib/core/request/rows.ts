import type { FastifyRequest } from 'fastify'
import { InvalidError, MalformedBodyError, TooManyRowsError, TooManyValuesError } from '../errors.js'
import { say } from '../messages.js'
import { FORM_FIELDS, type FormNode, leaf, markerOf } from '../formats/form/parse.js'
import type { Entries, Reader } from '../formats/format.js'
import type { Resource } from '../resource/resource.js'
import type { Row } from '../resource/row.js'
import { checkValueCount, countValues, Issues } from '../schema/validation/issues.js'
import { sizeOf, type Store } from '../stores/store.js'
import { ownMember } from '../util/own-property.js'
import { Slices } from '../util/slices.js'
import { abbreviate } from '../util/words.js'
import type { Match } from './match.js'
import { type Payload, type ReadPayload, type RowPayload, VERSION, type WriteAction } from './payload.js'

/** The query parameter that names several rows to delete. */
export const IDS = 'id[]'

/** The largest size of the rows of a request or of its answer together, in characters as `sizeOf` counts them. */
export const LARGEST_TOGETHER = 33_554_432

/** The query parameter of a write that says by `true` to do everything but the commit. */
export const DRY_RUN = 'dry_run'

/**
 * Makes a function that counts the rows that a request is about, one by one.
 * @param cure says what to do if they are too large
 * @returns a function that throws TooManyRowsError if the rows are too large together
 */
export function limitRows (cure: string): (row: Row) => void {
  let size = 0
  return (row) => {
    size += sizeOf(row)
    if (size > LARGEST_TOGETHER) throw new TooManyRowsError(`the rows are too large together; ${cure}`)
  }
}

/**
 * Collects the rows that a request is about.
 * @throws TooManyRowsError if they are too large together
 */
export async function collectRows (
  batches: ReturnType<Store['list']>,
  count: (row: Row) => void
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for await (const batch of batches) {
    for (const row of batch) count(row)
    rows.push(...batch)
  }
  return rows
}

/** The rows of a body with many rows, as the body has them. */
export interface GivenRows {
  readonly count: number
  /** Reads the rows one by one, each as if it came alone. */
  read (): Promise<readonly RowPayload[]>
}

/** A write, with what its query names. */
export interface RowsRequest {
  /** The default action, or `undefined` for a custom action. */
  readonly action: WriteAction | undefined
  /** The id in the query. */
  readonly query: string | undefined
  /** The ids in the query, in the parameter `id[]`. */
  readonly ids: readonly string[] | undefined
  /** Whether the rows of an update are found by `match`, and not by their ids. */
  readonly isMatched: boolean
}

/** Finds the rows of a body with many rows. Returns `undefined` if the body has one row. */
export type FindRows = (body: Entries, requested: RowsRequest) => GivenRows | undefined

/**
 * Compiles the search for the rows of a body: `{"posts":[…]}`, or several ids with the changes that each row gets.
 * @param read reads one row
 */
export function compileFindRows (resource: Resource, reader: Reader, read: ReadPayload): FindRows {
  const { plural, singular, singleton } = resource
  const itemsOf = (node: unknown): readonly unknown[] | undefined =>
    node === undefined ? undefined : reader.items?.(node)

  function findList (entries: Entries, { action, query, ids, isMatched }: RowsRequest): GivenRows | undefined {
    const node = ownMember(entries, plural)
    const nodes = itemsOf(node)
    // The plural of some words is their singular. Their rows are a list, and one row is none.
    if (nodes === undefined && (node === undefined || plural === singular)) return undefined
    const other = Object.keys(entries).find((name) => name !== plural && !(reader.form && FORM_FIELDS.includes(name)))
    if (other !== undefined) {
      throw new MalformedBodyError(`"${abbreviate(other)}" stands beside "${plural}"; send one of them`)
    }
    if (nodes === undefined) throw new InvalidError({ [plural]: ['must be a list of rows'] })
    if (query !== undefined || ids !== undefined) {
      throw new MalformedBodyError(`the query names an id beside "${plural}"; put each id into its row`)
    }
    const readAs = (action: WriteAction | undefined, isMatched: boolean) => (item: unknown): Payload =>
      read({ [singular]: item }, { action, member: undefined, query: undefined, isMatched })
    return readEach(nodes, readAs(action, isMatched), {
      lineOf: reader.lineOf?.bind(reader),
      readNew: isMatched ? readAs('create', false) : undefined
    })
  }

  function findIds (entries: Entries, { action, query, ids }: RowsRequest): GivenRows | undefined {
    const node = ownMember(entries, singular)
    const beside = itemsOf(entries.id)
    // The group of a form may have a field `id` of its own, which is a mistake.
    const inside = node === undefined || reader.form ? undefined : itemsOf(reader.entries(node)?.id)
    const given = [ids, beside, inside].filter((list) => list !== undefined)
    if (given.length === 0) return undefined
    if (given.length > 1 || query !== undefined) {
      throw new MalformedBodyError('the ids are given in several places; send them once')
    }
    if (action === 'create') throw new InvalidError({ id: [say('isAssigned')] })
    const list = given[0] as readonly unknown[]
    const { id: _, ...others } = entries
    const versions = itemsOf(entries[VERSION])
    if (versions !== undefined && versions.length !== list.length) {
      throw new InvalidError({ [VERSION]: ['must be given once for each id'] })
    }
    const readAs = (body: Entries, action: WriteAction | undefined): ReadRow => (id, index) => read({
      ...body,
      ...(versions !== undefined && { [VERSION]: versions[index] }),
      ...(ids === undefined && { id })
    }, { action, member: undefined, query: ids && String(id), sharesGroup: inside !== undefined })
    // A deletion has an id and a version, and no attributes.
    return readEach(list, shareChanges(list.length, readAs({}, 'delete'), readAs(others, action)))
  }

  return (entries, requested) => singleton
    ? undefined
    : findList(entries, requested) ?? findIds(entries, requested) ??
      (reader.form && requested.action === 'create' ? findEach(entries, resource, read) : undefined)
}

/**
 * Finds the new rows of a form with several values of one attribute, each of which makes one row. They have the other
 * attributes in common.
 */
function findEach (entries: Entries, { singular, attributes }: Resource, read: ReadPayload): GivenRows | undefined {
  const group = ownMember(entries, singular) as FormNode | undefined
  const name = group && markerOf(group, 'each')
  const node = name === undefined ? undefined : group?.children.get(name)
  const boxes = node?.children.get('')?.texts
  if (name === undefined || group === undefined || boxes === undefined) return undefined
  if (attributes.get(name)?.readOnly !== false) {
    throw new MalformedBodyError(`no rows can be made of the values of "${abbreviate(name)}"`)
  }
  // A value that was chosen before stands alone.
  const values = [...new Set([...(node as FormNode).texts, ...boxes])].filter((text) => text !== '')
  return values.length === 0
    ? undefined
    : readEach(values, (value, index) => {
      const one = { ...group, children: new Map(group.children).set(name, leaf(String(value))) }
      const payload = read({ ...entries, [singular]: one }, { action: 'create', member: undefined, query: undefined })
      if (index === 0) checkTogether(payload, values.length)
      return payload
    })
}

type ReadRow = (node: unknown, index: number) => Payload

/**
 * Returns a function that reads rows with the same changes. The changes are read once, because a short body may name a
 * thousand rows, and each row gets a copy of them.
 * @param count the number of rows
 * @param readId reads the id of a row, and its version
 * @param readWhole reads a row with the changes
 */
function shareChanges (count: number, readId: ReadRow, readWhole: ReadRow): ReadRow {
  let changes: RowPayload | undefined
  return (node, index) => {
    const { id, version } = readId(node, index)
    if (changes === undefined) {
      changes = readRow(readWhole, node, index)
      if (changes.payload !== undefined) checkTogether(changes.payload, count)
    }
    const { payload, fault } = changes
    if (payload === undefined) throw fault
    const { attributes, issues, version: shared } = payload
    return {
      ...payload,
      id,
      version: version ?? shared,
      attributes: structuredClone(attributes),
      issues: issues.copy()
    }
  }
}

/**
 * Checks that the same changes of many rows cost no more than if the body spelled them out for each row. The error is
 * that of the request.
 * @throws TooManyValuesError, TooManyRowsError
 */
function checkTogether ({ attributes, issues: { faulty } }: Payload, count: number): void {
  const values = [...Object.values(attributes), ...faulty.values()]
  checkValueCount((countValues(values) - 1) * count)
  if (sizeOf({ id: '', version: '', attributes }) * count > LARGEST_TOGETHER) {
    throw new TooManyRowsError('the changes of all rows are too large together; send fewer ids in each request')
  }
}

interface RowParts {
  readonly lineOf?: ((node: unknown) => number) | undefined
  /** Reads a row as a new one. */
  readonly readNew?: ((node: unknown) => Payload) | undefined
}

function readEach (nodes: readonly unknown[], readOne: ReadRow, { lineOf, readNew }: RowParts = {}): GivenRows {
  return {
    count: nodes.length,
    async read () {
      const rows: RowPayload[] = []
      const slices = new Slices()
      for (const [index, node] of nodes.entries()) {
        rows.push({
          ...readRow(readOne, node, index),
          line: lineOf?.(node),
          readNew: readNew && (() => readNew(node))
        })
        if (slices.isOver) await slices.pause()
      }
      return rows
    }
  }
}

/** Reads a row, or finds its fault. A body that is too large is the fault of the request. */
function readRow (read: ReadRow, node: unknown, index: number): RowPayload {
  const row = { index, line: undefined }
  try {
    return { ...row, payload: read(node, index), fault: undefined }
  } catch (fault) {
    if (fault instanceof TooManyValuesError || fault instanceof TooManyRowsError) throw fault
    return { ...row, payload: undefined, fault }
  }
}

type HeadedRequest = Pick<FastifyRequest, 'headers'>

/** Returns whether a client asks for an answer without the rows (RFC 7240 §4.2). */
export function wantsNoRows ({ request: { headers: { prefer } } }: { readonly request: HeadedRequest }): boolean {
  return /(?:^|[,;\s])return=minimal(?:$|[,;\s])/i.test(String(prefer))
}

/** What the payload of a request with many rows has besides its rows. */
export interface RowsPayloadParts {
  /** Whether the form asks for the page of the next step instead of a write. */
  readonly isStep: boolean
  readonly match: Match | undefined
  /** The query of the list in which the rows were chosen. */
  readonly list: string | undefined
  /** Whether the form chooses all rows of that list. */
  readonly isOfAll: boolean
}

/** Makes the payload of a request with many rows. */
export function makeRowsPayload (
  action: WriteAction | undefined,
  rows: readonly RowPayload[],
  { isStep, ...parts }: RowsPayloadParts
): Payload {
  return {
    action,
    id: undefined,
    attributes: {},
    merged: [],
    checkMerged: () => {},
    issues: new Issues(),
    version: undefined,
    node: undefined,
    isUntouched: undefined,
    compareWith: undefined,
    isCompared: false,
    ignored: [...new Set(rows.flatMap(({ payload }) => payload?.ignored ?? []))],
    isRevised: isStep || rows.some(({ payload }) => payload?.isRevised === true),
    isAnother: false,
    back: rows[0]?.payload?.back,
    rows,
    ...parts
  }
}
