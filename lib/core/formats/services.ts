import type { Chosen, Notice } from '../actions/outcome.js'
import type { AccessContext } from '../actions/authorize/level.js'
import type { Id, Row } from '../resource/row.js'
import type { PlacedValue } from '../resource/resource.js'
import type { Attributes } from '../schema/types.js'
import type { Batches } from '../stores/store.js'
import type { Choosing, OpenCondition } from './form/condition.js'
import type { ImportState } from './importing.js'
import type { ChoiceRow, Input, LinkedRow, RelatedList, RowSearch, Unlisted, View } from './view.js'

/** The links from an attribute that references other rows, or from a member of its objects: `lines.productId`. */
export interface RowLinks {
  readonly attribute: string
  /** Returns the values in the attributes of a row. */
  readonly valuesIn: (attributes: Attributes) => readonly PlacedValue[]
  readonly find: FindLinks
}

/** Finds the links to the rows that these values reference, without those that the request may not see. */
export type FindLinks = (values: readonly Id[], context: AccessContext) => AsyncIterable<readonly [Id, LinkedRow]>

/** The rows that an attribute of a form can reference. Its functions return `undefined` if they may not be listed. */
export interface RowChoices extends Pick<RowLinks, 'attribute' | 'valuesIn'> {
  /** The default of the attribute, or `undefined`. */
  readonly byDefault: unknown
  readonly findLinks: FindLinks
  /** Lists all rows, or returns `rows: undefined` if there are more than 50. */
  list (context: AccessContext): Promise<ListedChoices | undefined>
  /** Lists the rows of a query, as their own list has it. */
  search (query: Choosing['query'], context: AccessContext): Promise<RowSearch | undefined>
}

/** The details of a request for the form that adds a row to those of a table. */
export interface AddView extends AccessContext, Pick<View, 'location' | 'prefilled'> {
  /** The attribute that references the row of the page. */
  readonly by: string
  /** The rows that the other attributes can reference. */
  readonly choices: readonly RowChoices[]
}

/** The rows that a form lists, or `undefined` if there are too many. */
export interface ListedChoices {
  readonly rows: readonly ChoiceRow[] | undefined
}

/**
 * Finds the list of the rows that belong to a row, or `undefined` if the request may not list them. With `others`, it
 * only counts the rows that belong to the row or to any of those.
 */
export type FindRelatedList =
  (row: Row, context: AccessContext, others?: readonly Row[]) => Promise<RelatedList | undefined>

/** All rows of a list that the request may read, on all its pages. */
export interface ListedRows {
  /** The query of the list, without the place of a page. */
  readonly parameters: Readonly<Record<string, string>>
  /** Reads the rows in batches, in no particular order, and at most `limit` of them. */
  read (limit: number): Promise<Batches>
  /** Counts the rows that the list has with another query, up to 10,001; `undefined` if the store cannot count. */
  count (parameters: ListedRows['parameters']): Promise<number | undefined>
}

/** The names of actions that `authorize` refuses. */
export type Refused = ReadonlySet<string>

/**
 * What a writer may ask about a request and about other resources while it prepares an answer. The answers leave out
 * what `authorize`, `scope`, a handler of the app or the hooks of another resource would hide from the request.
 */
export interface Services extends AccessContext {
  /** The action; `undefined` if the request has failed before it is known. */
  readonly action: string | undefined
  /** Whether it is a custom action. */
  readonly isCustom: boolean
  /** The content of the form that the request has sent, as its reader has parsed it; `undefined` without a form. */
  readonly form: unknown
  /** The choice of a row that the form asks for, if it is shown again for that. */
  readonly choosing: Choosing | undefined
  /** The condition whose fields the page of a list shows. */
  readonly openCondition: OpenCondition | undefined
  /** The attributes with which the form for a new row begins. */
  readonly prefilled: Attributes
  /** All rows of the list that the answer is a page of; `undefined` for other answers, and if a handler lists rows. */
  readonly listed: ListedRows | undefined
  /** The links from the rows of the resource to others. */
  readonly links: readonly RowLinks[]
  /** The rows that forms of the resource can reference. None before the request has passed the hooks of the app. */
  readonly choices: readonly RowChoices[]
  /** The lists of the rows that belong to a row. */
  readonly lists: readonly FindRelatedList[]
  /** The names of the rows above the page, from the nearest to the outermost, as far as they are known. */
  readonly parents: readonly string[]
  /** Whether the answers to `refused` and `unlisted` may change while the row does not. */
  readonly isGuarded: boolean
  /**
   * Finds the actions that `authorize` refuses: of those about the collection, about several of its rows, about a row,
   * or about a missing row.
   */
  refused (about: 'collection' | 'rows' | 'nothing' | Row): Promise<Refused>
  /** Finds the resources whose lists the request may not open: of those of the bar, or of all that a page links to. */
  unlisted (of: 'bar' | 'page'): Promise<Unlisted>
  /** Finds the stored row of the form that was sent, as far as the request may see it. */
  formRow (): Promise<Row | undefined>
  /** Finds the way back to the page of another row on which the form stood, as far as the request may see that row. */
  back (): Promise<string | undefined>
  /** The file that the form imports, or `undefined` if the page imports no rows. */
  readonly importing: Pick<ImportState, 'file'> | undefined
  /** The payloads of the rows that a form creates at once; `undefined` before they have passed the hooks of the app. */
  readonly newRows: ReadonlyArray<Pick<Input, 'node' | 'attributes'> | undefined> | undefined
  /** Finds the rows that the form has chosen, as far as the request may see them; `undefined` if it has chosen none. */
  chosen (): Promise<Chosen | undefined>
}

/** A write after which a browser is redirected. */
export interface RedirectedWrite {
  /** What was done. `added`: a row was created, and the page has the form for another one beneath its list. */
  readonly notice: Notice | 'added'
  /** The number of rows that were written, or `undefined` if the request was about one row or none. */
  readonly rows: number | undefined
  /** The `Location`. */
  readonly location: string
}

/** What a writer shows besides the row, or the rows. */
export interface Prepared {
  /** What the view has as `content`. */
  readonly content: unknown
  /** Whether it may change while the version of the row does not. Such an answer is never a 304. @default false */
  readonly isVolatile?: boolean
  /** Headers of this answer alone, which then has no ETag. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Finds the same for further rows, before they are written. @default nothing */
  addRows? (rows: readonly Row[]): Promise<void>
}

/** The same for an error. */
export interface PreparedProblem extends Prepared {
  /** The stored row of a form that is shown again. */
  readonly row?: Row | undefined
}
