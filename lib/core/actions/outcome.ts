import type { RowsError } from '../errors.js'
import type { ImportPreview } from '../formats/importing.js'
import type { Id, Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { Count, CountQuery, Order, Position, Query } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** The outcome of an action. It is independent of formats and statuses. */
export type Outcome =
  /** A row. `edit` is a found row for a form. `etag` is the entity tag that a handler gives it, or false for none. */
  | {
    readonly kind: 'found' | 'created' | 'updated' | 'stale' | 'edit'
    readonly row: Row
    readonly etag?: string | false
    /** Whether an update has found nothing to change. @default false */
    readonly isUnchanged?: boolean
  }
  /** A row of which a client asks for one file: an attribute that has bytes. */
  | { readonly kind: 'file', readonly row: Row, readonly attribute: string, readonly etag?: string | false }
  /** The row before its deletion. A shallow row names the list that it was in. */
  | { readonly kind: 'deleted'; readonly row?: Row }
  /** A custom action is done, and has nothing to show. */
  | { readonly kind: 'done' }
  /** A new row that has only the defaults. */
  | { readonly kind: 'blank'; readonly row: Row }
  /** A form has a row added or removed, and nothing was written. It is shown again with its stored row, if any. */
  | { readonly kind: 'revised'; readonly row: Row | undefined }
  /** A form has chosen rows for the next step, and nothing was written. */
  | { readonly kind: 'selected'; readonly chosen: Chosen }
  /** A page that imports rows: its form, or what a file would do. With faults, it is a file with the faulty rows. */
  | { readonly kind: 'importing', readonly preview?: ImportPreview, readonly faults?: RowsError }
  | RowsOutcome
  | ListOutcome

/** The rows that a form has chosen, to delete or change them. */
export interface Chosen {
  /** The rows in the order of the request. */
  readonly rows: readonly ChosenRow[]
  /** The group of attributes that the form has sent, as a node of its reader; `undefined` without one. */
  readonly node: unknown
  /** The values of these attributes, as far as they could be read. */
  readonly attributes: Attributes
  /** The query of the list in which they were chosen. @default unknown */
  readonly list?: string | undefined
  /** The number of all rows of that list, if the form may choose these too. @default it may not */
  readonly all?: number | undefined
}

/** A row that a form has chosen. */
export interface ChosenRow {
  /** The id, or `undefined` if no row can have what was sent. */
  readonly id: Id | undefined
  /** The row as the request may see it, or `undefined` if it does not exist or is hidden. */
  readonly row: Row | undefined
  /** The version that the form has sent. */
  readonly version: string | undefined
}

/**
 * The rows of a request with many rows, in its order. A deletion has those that were deleted; a custom action has those
 * that its handler has returned.
 */
export interface RowsOutcome {
  readonly kind: 'createdMany' | 'updatedMany' | 'deletedMany' | 'doneMany'
  readonly rows: readonly Row[]
  /** How many rows were created, changed, and left as they were. */
  readonly counts: RowCounts
  /** Whether it is a dry run, which has written nothing: of a request with many rows, or with one row. */
  readonly dryRun?: 'many' | 'one'
}

/** The numbers of the rows of a request, by what was done with them. */
export interface RowCounts {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
}

/** The query of a list. The scope comes from the target. */
export type ListQuery = Omit<Query, 'scope'> & {
  /**
   * The position before which a page ends, `end` for the last page, or `undefined`. If it is given, `after` is
   * `undefined`. A store has no such member: a page before a position is read in the reversed order.
   */
  readonly before: Position | 'end' | undefined
  /** How the rows of all pages are counted, or `undefined` if they are not. The query of a store has no such member. */
  readonly count: ListCount | undefined
}

/** How a list counts its rows. */
export type ListCount = Pick<CountQuery, 'most' | 'estimate'>

/** The number of all rows of a list, and the place of a page among them. */
export interface Total extends Count {
  /** The number at which counting ended, or `undefined` if all rows are counted. */
  readonly most?: number | undefined
  /** The number of rows before the page, or `undefined` if the page is empty or the number is unknown. */
  readonly offset: number | undefined
  /** The number of rows on the page, or `undefined` if it is unknown because the page is written as it is read. */
  readonly size: number | undefined
}

/** A list whose first batch was already pulled, so that a store that fails does so before the first byte. */
export interface ListOutcome {
  /** Tells the outcomes apart. */
  readonly kind: 'listed'
  /** The first batch. */
  readonly rows: readonly Row[]
  /** The further batches, or `undefined` if there are none. */
  readonly more: Source | undefined
  /** Whether it may take long to find the next rows, as in a filtered list. @default false */
  readonly isSparse?: boolean
  /** The order of the rows. */
  readonly order: Order
  /**
   * The row before which the previous page ends, or `undefined` if there is no previous page. An empty page after a
   * position has `end`: its previous page is the last one of the list.
   */
  readonly first: Row | 'end' | undefined
  /** The row after which the next page begins, or `undefined` if there is no next page. */
  readonly last: Row | undefined
  /** The number of all rows, or `undefined` if they were not counted. */
  readonly total?: Total | undefined
}

/** Batches that are pulled one by one, synchronously or by promises. */
export interface Source {
  /** Pulls the next batch. */
  next (): MaybePromise<PulledBatch>
  /** Frees what the source holds. */
  return? (): MaybePromise<unknown>
}

export type PulledBatch = IteratorResult<readonly Row[], unknown>

/** The answer to an outcome: a document, or a redirect for a browser after a write. */
export interface OutcomeResponse {
  readonly status: number
  readonly body: boolean
  readonly etag: boolean
  /** The path in `Location`. `here` is the member that the request is about, or else the collection. */
  readonly location: 'member' | 'collection' | 'here' | undefined
  /** What the write has done, as the page at that path can say it. @default nothing */
  readonly notice?: Notice
}

/** What a write has done. */
export type Notice = 'saved' | 'created' | 'deleted' | 'done'

const document = { status: 200, body: true, etag: true, location: undefined } as const
const rows = { status: 200, body: true, etag: false, location: undefined } as const
const redirectToList = { status: 303, body: false, etag: false, location: 'collection' } as const
const redirect = { status: 303, body: false, etag: false, location: 'member' } as const

/** The status, headers and body of each outcome, for documents and for browsers. */
export const OUTCOME_RESPONSES: Readonly<
  Record<Outcome['kind'], { readonly document: OutcomeResponse; readonly browser: OutcomeResponse }>
> = {
  found: { document, browser: document },
  edit: { document, browser: document },
  file: { document, browser: document },
  blank: { document: { ...document, etag: false }, browser: { ...document, etag: false } },
  done: {
    document: { status: 204, body: false, etag: false, location: undefined },
    browser: { ...redirect, location: 'here', notice: 'done' }
  },
  listed: { document: { ...document, etag: false }, browser: { ...document, etag: false } },
  created: { document: { ...document, status: 201, location: 'member' }, browser: { ...redirect, notice: 'created' } },
  updated: { document, browser: { ...redirect, notice: 'saved' } },
  deleted: {
    document: { status: 204, body: false, etag: false, location: undefined },
    browser: { ...redirect, location: 'collection', notice: 'deleted' }
  },
  createdMany: { document: { ...rows, status: 201 }, browser: { ...redirectToList, notice: 'created' } },
  updatedMany: { document: rows, browser: { ...redirectToList, notice: 'saved' } },
  doneMany: { document: rows, browser: { ...redirectToList, notice: 'done' } },
  deletedMany: {
    document: { ...rows, status: 204, body: false },
    browser: { ...redirectToList, notice: 'deleted' }
  },
  // Turbo shows an answer to a form only if it is a redirect or an error.
  revised: { document: { ...document, etag: false }, browser: { ...document, status: 422, etag: false } },
  selected: { document: { ...document, etag: false }, browser: { ...document, status: 422, etag: false } },
  importing: { document: { ...document, etag: false }, browser: { ...document, etag: false } },
  stale: { document: { ...document, status: 412 }, browser: { ...document, status: 412 } }
}

/**
 * The result of an action. `sent`: a handler of the app sent its answer itself. `refused`: the client made a mistake
 * (4xx). `failed`: the server made one (5xx). `aborted`: the action failed after the client had left.
 */
export type ActionOutcome = Outcome['kind'] | 'sent' | 'refused' | 'failed' | 'aborted'
