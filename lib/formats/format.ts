import type { Messages, Problem } from '../errors.js'
import type { Issues } from '../issues.js'
import type { Resource } from '../resource.js'
import type { Shape } from '../shape.js'
import type { Attributes, Id, Order, Stored } from '../stores/store.js'

/** A way to write resources, to read them, or both. */
export interface Format {
  /** Stands in `?format=`, as the suffix of a path and in the ETag: letters and digits. */
  readonly name: string
  /** In lower case; the first is the one written when a client does not care. */
  readonly mediaTypes: readonly string[]
  /** Whether its clients are browsers, which are redirected after a write. @default false */
  readonly browser?: boolean
  /** Makes the writer of a resource, once, at registration. Absent: a format that is only read. */
  readonly compileWriter?: (resource: Resource, surroundings: Surroundings) => Writer
  /** Makes the reader of a resource, once, at registration. Absent: a format that is only written. */
  // What a node is, is each reader's own affair.
  readonly compileReader?: (resource: Resource) => Reader<any>
}

/** What a writer may speak of besides the resource. */
export interface Surroundings {
  /** All formats that the resource is written in, this one among them. */
  readonly formats: ReadonlyArray<Pick<Format, 'name' | 'mediaTypes'>>
  /** Attributes that `?sort=` may name. */
  readonly sortable: readonly string[]
  /** Attributes that a list may be asked for by a parameter of their name. */
  readonly filterable: readonly string[]
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
  page (rows: readonly Stored[], view: PageView): string
  /** What each page is sent with. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** What the pages refer to. @default none */
  readonly assets?: readonly Asset[]
}

/** A file at a path of its own, `/posts/<stem>.<hash>.<extension>`, that never changes: another content has another hash. */
export interface Asset {
  /** Letters; what they make with the rest could not be an id. */
  readonly stem: string
  /** Of the content, in hexadecimal digits. */
  readonly hash: string
  readonly extension: string
  readonly mediaType: string
  readonly body: string
}

export interface JsonWriter {
  /** What is sent for a row, and what the app's preSerialization hooks see. */
  document (row: Stored): object
  /** The text of such a document, or of what the app has put into its place. */
  serialize (document: object): string
  /** The media type of an error. */
  readonly problemType: string
}

export interface TextWriter {
  readonly document?: undefined
  record (row: Stored, view: View): string
  /** The answer to a write whose `If-Match` is stale. @default `record` of the current row */
  stale? (current: Stored, view: View): string
  /** A form that has been given other rows, and has written nothing. @default such a form is refused */
  revised? (view: View): string
  problem (problem: Problem, view: View): string
}

/** A list as a frame around its rows, so that it can be written in chunks as they come. */
export interface ListWriter {
  readonly open: string
  row (row: Stored): string
  readonly separator: string
  readonly close: string
}

/** What an answer may show besides its rows. */
export interface View {
  /** The media type of the answer, without parameters. */
  readonly mediaType: string
  /** What the client supplied, for a form that comes back. */
  readonly input: Input | undefined
}

export interface PageView extends View {
  /** Path and query of the page that follows, or undefined where there is none. */
  readonly next: string | undefined
  /** The path that was asked for: `/posts` or `/posts.html`. */
  readonly path: string
  /** The parameters that were asked for, without those that ask for nothing. */
  readonly parameters: Readonly<Record<string, string>>
  readonly order: Order
  /** The place after which the page begins, as it was asked for; undefined: it is the first. */
  readonly after: string | undefined
}

/** A write as a form sent it. */
export interface Input {
  readonly id: Id | undefined
  readonly version: string | undefined
  /** The group as the form's reader knows it. */
  readonly node: unknown
  /** What the group came to, attribute by attribute, as far as it could be read. */
  readonly attributes: Attributes
  /** The row as it is kept, where the write is an update of one. */
  readonly row: Stored | undefined
  readonly errors: Messages
}

/** Named parts of what was read. */
export type Entries<Node = unknown> = Readonly<Record<string, Node>>

/** From a node to a value; undefined: not supplied. What does not convert is noted. */
export type Convert<Node = unknown> = (node: Node, path: string, issues: Issues) => unknown

export interface Reader<Node = unknown> {
  /** Whether bodies come from a browser's forms, where `_method`, `_version` and `commit` may stand beside the group. */
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
  revise? (group: Node): Node | undefined
}
