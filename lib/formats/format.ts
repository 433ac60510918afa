import type { FastifyRequest } from 'fastify'
import type { Messages, Problem } from '../errors.js'
import type { Location } from '../resource/location.js'
import type { Paths } from '../resource/path-helpers.js'
import type { Resource } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import type { Shape } from '../schema/shape.js'
import type { Attributes } from '../schema/types.js'
import type { Issues } from '../schema/validation/issues.js'
import type { Order } from '../stores/store.js'

/** A way to write resources, to read them, or both. */
export interface Format {
  /** Stands in `?format=`, as the suffix of a path and in the ETag: letters and digits. */
  readonly name: string
  /** In lower case; the first is the one written when a client does not care. */
  readonly mediaTypes: readonly string[]
  /** Whether its clients are browsers, which are redirected after a write. @default false */
  readonly browser?: boolean
  /** Makes the writer of a resource, once, at registration. Absent: a format that is only read. */
  readonly compileWriter?: (resource: Resource, surroundings: WriterContext) => Writer
  /** Makes the reader of a resource, once, at registration. Absent: a format that is only written. */
  // What a node is, is each reader's own affair.
  readonly compileReader?: (resource: Resource) => Reader<any>
}

/** What a writer may speak of besides the resource. */
export interface WriterContext {
  /** All formats that the resource is written in, this one among them. */
  readonly formats: ReadonlyArray<Pick<Format, 'name' | 'mediaTypes'>>
  /** Attributes that `?sort=` may name. */
  readonly sortable: readonly string[]
  /** Attributes that a list may be asked for by a parameter of their name. */
  readonly filterable: readonly string[]
  /** What the app lets be done beside the usual with the collection: `/posts/recent`. */
  readonly collectionActions: readonly ActionLink[]
  /** The same with a row: `/posts/1/publish`. */
  readonly memberActions: readonly ActionLink[]
  /** What belongs to a row: `comments` of a post. */
  readonly children: readonly ChildLink[]
  /** What follows the collection's path in that of the form for a new row; undefined: there is no such form. */
  readonly newSegment: string | undefined
  /** The same of the form for a row, after the row's own path. */
  readonly editSegment: string | undefined
  /** The paths of the app by name. */
  readonly paths: Paths
}

/** An action of the app's own that a page can lead to: a GET by a link, the others by a button. */
export interface ActionLink {
  /** `publish` */
  readonly name: string
  /** What the link or the button says; undefined: made of the name. */
  readonly label: string | undefined
  /** By which it is asked for; a form asks for PUT and DELETE by `_method`. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Of the path, encoded, what follows that of the collection or of the row: `publish`. */
  readonly segment: string
}

/** A resource that is nested in this one. */
export interface ChildLink {
  /** `comments`; of a singleton its singular name. */
  readonly name: string
  /** Of the path, encoded, what follows that of the row. */
  readonly segment: string
}

/**
 * How a format writes what an action's outcome holds. JSON leaves records and problems to Fastify's own way and gives
 * `document` and `serialize`; each other format gives `record` and `problem`, called in onSend.
 */
export type Writer = (JsonWriter | TextWriter) & (
  { readonly list: ListWriter, readonly page?: undefined } |
  PageWriter & { readonly list?: undefined }
)

/** A list as a page of it, for a format that people read. */
export interface PageWriter {
  /** The whole answer. */
  page (rows: readonly Row[], view: PageView): string
  /**
   * The same as a frame around its rows, so that a page of large rows can be written in chunks. `first` are some of the
   * rows. @default such a page is written whole, and ends early where its rows are too large to be held together
   */
  readonly frame?: ((first: readonly Row[], view: PageView) => ListWriter) | undefined
  /** What each page is sent with. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** What the pages refer to. @default none */
  readonly assets?: readonly Asset[]
  /** Whether a page may show more than its row tells, such as who asks for it: it is never a 304. @default false */
  readonly volatile?: boolean
}

/**
 * A file at a path of its own, `/posts/<stem>.<hash>.<extension>` (see `assetPath`). It never changes: another content
 * has another hash.
 */
export interface Asset {
  /** Letters; what they make with the rest could not be an id. */
  readonly stem: string
  /** The hash of the content, in hexadecimal digits. */
  readonly hash: string
  /** Of the path, without a dot: `css`. */
  readonly extension: string
  /** Without parameters; it is sent as UTF-8. */
  readonly mediaType: string
  /** All of it. */
  readonly body: string
}

/** Writes records by a response schema of Fastify, or what serializes in the place of one. */
export interface JsonWriter {
  /** What is sent for a row, and what the app's preSerialization hooks see. */
  document (row: Row): object
  /** The text of such a document, or of what the app has put into its place. */
  serialize (document: object): string
  /** The media type of an error. */
  readonly problemType: string
}

/** Writes whole answers as text, in onSend. */
export interface TextWriter {
  /** That of a `JsonWriter`. */
  readonly document?: undefined
  /** One row. */
  record (row: Row, view: View): string
  /** The answer to a write whose `If-Match` is stale. @default `record` of the current row */
  stale? (current: Row, view: View): string
  /** A form that has been given other rows, and has written nothing. @default such a form is refused */
  revised? (view: View): string
  /** A form for a new row. @default `record` of a row that has the defaults of the schema, and no id */
  blank? (view: View): string
  /** A form for a row. @default `record` */
  edit? (row: Row, view: View): string
  /** An error. */
  problem (problem: Problem, view: View): string
}

/** A list as a frame around its rows, so that it can be written in chunks as they come. */
export interface ListWriter {
  /** What stands before the rows. */
  readonly open: string
  /** One row. */
  row (row: Row): string
  /** What stands between two rows. */
  readonly separator: string
  /** What stands after the rows. */
  readonly close: string
}

/** What an answer may show besides its rows. */
export interface View {
  /** The media type of the answer, without parameters. */
  readonly mediaType: string
  /** What the client supplied, for a form that comes back. */
  readonly input: Input | undefined
  /** The action, `update` or the name of a custom action; undefined as long as it is not known. */
  readonly action: string | undefined
  /** Where the resource stands for this request. */
  readonly location: Location
  /** The request that is answered. */
  readonly request: FastifyRequest
  /** Actions that `authorize` refuses to this request, as far as it can tell without the row. */
  readonly refused: ReadonlySet<string>
}

/** What a page of a list may show besides its rows. */
export interface PageView extends View {
  /** Path and query of the page that follows, or undefined where there is none. */
  readonly next: string | undefined
  /** The path that was asked for: `/posts` or `/posts.html`. */
  readonly path: string
  /** The same without a suffix: of an action of the app's own that answers with rows it is not the collection's. */
  readonly list: string
  /** That action's name: what it lists cannot be sorted, filtered or paged by the query. Undefined: it is the list. */
  readonly own: string | undefined
  /** The parameters that were asked for, without those that ask for nothing. */
  readonly parameters: Readonly<Record<string, string>>
  /** What the rows are put in order by. */
  readonly order: Order
  /** The place after which the page begins, as it was asked for; undefined: it is the first. */
  readonly after: string | undefined
}

/** A write as a form sent it. */
export interface Input {
  /** Of the row that the write is about; undefined: of none. */
  readonly id: Id | undefined
  /** The version of that row that the form had, or else that it has. */
  readonly version: string | undefined
  /** The group as the form's reader knows it. */
  readonly node: unknown
  /** What the group came to, attribute by attribute, as far as it could be read. */
  readonly attributes: Attributes
  /** The row as it is kept, where the write is an update of one. */
  readonly row: Row | undefined
  /** What is wrong with which attribute; empty where nothing is. */
  readonly errors: Messages
}

/** Named parts of what was read. */
export type Entries<Node = unknown> = Readonly<Record<string, Node>>

/** From a node to a value; undefined: not supplied. What does not convert is noted. */
export type Convert<Node = unknown> = (node: Node, path: string, issues: Issues) => unknown

/** How a format reads bodies. A node is whatever its parser makes of a part of one. */
export interface Reader<Node = unknown> {
  /** Whether bodies are forms, where `_method`, `_version` and `commit` may stand beside the group. */
  readonly form: boolean
  /** Whether values have types of their own, as in JSON; else they are text. */
  readonly typed: boolean
  /**
   * The top level of a body.
   * @throws MalformedBodyError
   */
  parse (body: Buffer): Entries<Node>
  /** The members of a group, or undefined where the node is none. */
  entries (node: Node): Entries<Node> | undefined
  /** What stands for an id or a version: a JSON value, or the text; several texts that differ are a list. */
  scalar (node: Node): unknown
  /** The conversion of an attribute's node by its shape. */
  compile (shape: Shape): Convert<Node>
  /** The group with other rows in it, where the form asks for that instead of a write. @default never */
  redisplay? (group: Node): Node | undefined
}
