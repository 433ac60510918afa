import type { Row } from '../resource/row.js'
import type { Order } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** The outcome of an action. It is independent of formats and statuses. */
export type Outcome =
  /** A row. `edit` is a found row for a form. `etag` is the entity tag that a handler gives it, or false for none. */
  | {
    readonly kind: 'found' | 'created' | 'updated' | 'stale' | 'edit'
    readonly row: Row
    readonly etag?: string | false
  }
  /** The row before its deletion. A shallow row names the list that it was in. */
  | { readonly kind: 'deleted'; readonly row?: Row }
  /** A custom action is done, and has nothing to show. */
  | { readonly kind: 'done' }
  /** A new row that has only the defaults. */
  | { readonly kind: 'blank'; readonly row: Row }
  /** A form has a row added or removed, and nothing was written. It is shown again with its stored row, if any. */
  | { readonly kind: 'revised'; readonly row: Row | undefined }
  | ListOutcome

/** A list whose first batch was already pulled, so that a store that fails does so before the first byte. */
export interface ListOutcome {
  /** Tells the outcomes apart. */
  readonly kind: 'listed'
  /** The first batch. */
  readonly rows: readonly Row[]
  /** The further batches, or `undefined` if there are none. */
  readonly more: Source | undefined
  /** The order of the rows. */
  readonly order: Order
  /** The row after which the next page begins, or `undefined` if there is no next page. */
  readonly last: Row | undefined
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
}

const document = { status: 200, body: true, etag: true, location: undefined } as const
const redirect = { status: 303, body: false, etag: false, location: 'member' } as const

/** The status, headers and body of each outcome, for documents and for browsers. */
export const OUTCOME_RESPONSES: Readonly<
  Record<Outcome['kind'], { readonly document: OutcomeResponse; readonly browser: OutcomeResponse }>
> = {
  found: { document, browser: document },
  edit: { document, browser: document },
  blank: { document: { ...document, etag: false }, browser: { ...document, etag: false } },
  done: {
    document: { status: 204, body: false, etag: false, location: undefined },
    browser: { ...redirect, location: 'here' }
  },
  listed: { document: { ...document, etag: false }, browser: { ...document, etag: false } },
  created: { document: { ...document, status: 201, location: 'member' }, browser: redirect },
  updated: { document, browser: redirect },
  deleted: {
    document: { status: 204, body: false, etag: false, location: undefined },
    browser: { ...redirect, location: 'collection' }
  },
  revised: { document: { ...document, etag: false }, browser: { ...document, etag: false } },
  stale: { document: { ...document, status: 412 }, browser: { ...document, status: 412 } }
}

/**
 * The result of an action. `sent`: a handler of the app sent its answer itself. `refused`: the client made a mistake
 * (4xx). `failed`: the server made one (5xx). `aborted`: the action failed after the client had left.
 */
export type ActionOutcome = Outcome['kind'] | 'sent' | 'refused' | 'failed' | 'aborted'
