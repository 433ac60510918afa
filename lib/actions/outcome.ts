import type { Row } from '../resource/row.js'
import type { Order } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** What an action came to. It knows neither formats nor statuses. */
export type Outcome =
  /** `edit`: as it is found, for a form. `etag`: the entity tag that a handler gives it; false: none. */
  | {
    readonly kind: 'found' | 'created' | 'updated' | 'stale' | 'edit'
    readonly row: Row
    readonly etag?: string | false
  }
  /** `row`: as it was, which of a shallow one tells the list that it was in. */
  | { readonly kind: 'deleted'; readonly row?: Row }
  /** What an action of the app's own has done, of which there is nothing to show. */
  | { readonly kind: 'done' }
  /** A row as it would be made of nothing but the defaults. */
  | { readonly kind: 'blank'; readonly row: Row }
  /** A form has been given other rows, and nothing has been written: it goes back, with the row that it is about. */
  | { readonly kind: 'revised'; readonly row: Row | undefined }
  | Listed

/** Rows whose first batch has been pulled already, so that a store that fails does so before the first byte. */
export interface Listed {
  /** Tells the outcomes apart. */
  readonly kind: 'listed'
  /** The first batch. */
  readonly rows: readonly Row[]
  /** The batches that follow; undefined: there are no more. */
  readonly more: Source | undefined
  /** What the rows are put in order by. */
  readonly order: Order
  /** The row after which the next page begins; undefined: there is none. */
  readonly last: Row | undefined
}

/** Batches that are pulled one by one, at once or by promises. */
export interface Source {
  /** Pulls the next batch. */
  next (): MaybePromise<Pulled>
  /** Frees what the source holds. */
  return? (): MaybePromise<unknown>
}

export type Pulled = IteratorResult<readonly Row[], unknown>

/** How an outcome is answered: as a document, or, to a browser that has written, as a redirect. */
export interface OutcomeResponse {
  readonly status: number
  readonly body: boolean
  readonly etag: boolean
  /** `here`: the member that the request was about, else the collection. */
  readonly location: 'member' | 'collection' | 'here' | undefined
}

const document = { status: 200, body: true, etag: true, location: undefined } as const
const redirect = { status: 303, body: false, etag: false, location: 'member' } as const

/** Status, headers and body of each outcome, for documents and for browsers. */
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
 * (4xx). `failed`: the server did (5xx). `aborted`: the same after the client left.
 */
export type ActionOutcome = Outcome['kind'] | 'sent' | 'refused' | 'failed' | 'aborted'
