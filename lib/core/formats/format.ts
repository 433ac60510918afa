import type { FastifyRequest } from 'fastify'
import type { Outcome } from '../actions/outcome.js'
import type { Problem } from '../errors.js'
import type { Paths } from '../routes/path-helpers.js'
import type { FindNext } from '../rules/rules.js'
import type { ReferencePlace, Resource } from '../resource/resource.js'
import type { Row } from '../resource/row.js'
import type { Shape } from '../schema/shape.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { Issues } from '../schema/validation/issues.js'
import type { Choosing, ConditionParameter } from './form/condition.js'
import type { ImportActions, Importing } from './importing.js'
import type { AddView, Prepared, PreparedProblem, RedirectedWrite, Services } from './services.js'
import type { ChoicesView, PageView, PossibleNavigation, ResourceWords, TableView, View } from './view.js'

export type { Choosing } from './form/condition.js'
export type { ConditionParameter, OpenCondition } from './form/condition.js'
export type * from './importing.js'
export type * from './services.js'
export type * from './view.js'

/** A format that writes resources, reads them, or both. */
export interface Format {
  /** The name in `?format=`, in the suffix of a path and in the ETag: lower-case letters and digits. */
  readonly name: string
  /** The media types, in lower case. A client that accepts any of them gets the first. */
  readonly mediaTypes: readonly string[]
  /** Parameters of the media type in answers, besides the charset: `header=present`. @default none */
  readonly mediaTypeParameters?: string
  /** Whether its clients are browsers, which are redirected after a write. @default false */
  readonly browser?: boolean
  /**
   * Matches the unknown query parameters that a GET may have, such as those that trackers add to the links of pages.
   * They are taken out of the query. @default none
   */
  readonly ignored?: RegExp
  /**
   * The query parameters of lists that only this format has. Other formats refuse them. A list whose rows a handler of
   * the app lists has none of them, and an attribute of such a name is filtered by a parameter with an operator only.
   * @default none
   */
  readonly parameters?: readonly string[]
  /**
   * The same format as spreadsheets need it, under another name: CSV with a byte order mark. Only `?format=` names it,
   * and pages link to it instead. @default none
   */
  readonly spreadsheet?: Format | undefined
  /**
   * What its answers depend on besides the resource and the row, such as its own options or a number that you raise.
   * An ETag changes with it, so that clients drop the copies that they keep. @default nothing
   */
  readonly settings?: unknown
  /**
   * Returns the tag of the language in which a request is answered, if there are several. `Vary` then names the header,
   * and each language has its own ETag.
   * @default one language
   */
  readonly languageOf?: (request: Pick<FastifyRequest, 'headers'>) => string
  /**
   * Whether its writer leaves out the attributes that are `writeOnly` by itself.
   * @default false: the writer gets rows without them
   */
  readonly hidesWriteOnly?: boolean
  /** The length of a page of a list, in rows, if its writer makes pages. @default 50, at most `maxLimit` */
  readonly pageSize?: number | undefined
  /**
   * Reads a form with files (`multipart/form-data`), and returns its fields as a form without files has them. A file is
   * base64. @default its forms have no files
   * @throws MalformedBodyError, FormTooLargeError
   */
  readonly parseFiles?: ((body: Buffer, contentType: string) => Promise<string>) | undefined
  /** How its pages import rows from a file. @default they do not */
  readonly importing?: Importing | undefined
  /**
   * Returns the format with the options that a resource, or a scope around it, has under the name of the format. It is
   * called once for each resource, before anything else is compiled. @default such options are refused
   * @throws InvalidOptionError, UnknownOptionError
   */
  readonly configure?: (options: object, resource: ConfiguredResource) => MaybePromise<Format>
  /** Makes the writer of a resource, once, at registration. A format without it is only read. */
  readonly compileWriter?: (resource: Resource, surroundings: WriterContext) => Writer
  /** Makes the reader of a resource, once, at registration. A format without it is only written. */
  // `any`, because each reader has its own type of node.
  readonly compileReader?: (resource: Resource) => Reader<any>
}

/** What a format knows of a resource when it gets its options. */
export interface ConfiguredResource {
  /** The plural name: `posts`. */
  readonly plural: string
  /** The singular name: `post`. */
  readonly singular: string
  /** Whether it is a singleton. */
  readonly singleton: boolean
  /** The names of the resource whose deleted rows it has, and the attribute with their time, if it has such rows. */
  readonly live?: { readonly plural: string, readonly singular: string, readonly attribute: string } | undefined
}

/** The context of a writer: the formats, the links and the paths that it may show besides the resource. */
export interface WriterContext {
  /** All formats that the resource is written in, including this one. */
  readonly formats: ReadonlyArray<Pick<Format, 'name' | 'mediaTypes' | 'spreadsheet'>>
  /** The selection of attributes and relations that answers show; `undefined` for all attributes and no relation. */
  readonly selection: Selection | undefined
  /** Attributes that `?sort=` may name. */
  readonly sortable: readonly string[]
  /** Attributes that a list can be filtered by, with a query parameter of the same name. */
  readonly filterable: readonly string[]
  /** The parameters that filter a list by an operator: `rating[gte]`. */
  readonly conditions: readonly ConditionParameter[]
  /** Attributes in which the parameter `q` of lists searches. Empty if lists have no such parameter. */
  readonly searchable: readonly string[]
  /** Whether `?before=` leads to the last page of a list. */
  readonly hasLast: boolean
  /** The default actions that a request can ask for with many rows. */
  readonly manyActions: ReadonlySet<'create' | 'update' | 'delete'>
  /** The default actions that a file of rows can ask for. None if pages import no rows. */
  readonly importActions: ImportActions
  /** The unique attributes by which a file can find its rows, instead of by their ids. */
  readonly importMatches: ReadonlyArray<readonly string[]>
  /** The custom actions on the collection that a link or a button can ask for: `/posts/recent`. */
  readonly collectionActions: readonly ActionLink[]
  /** The custom actions on a row that a link or a button can ask for: `/posts/1/publish`. */
  readonly memberActions: readonly ActionLink[]
  /** The nested singletons that the page of a row links to: the `profile` of a person. A view has nested lists. */
  readonly children: readonly ChildLink[]
  /** The attributes that have ids of other resources. It is complete once the app is ready. */
  readonly references: ReadonlyMap<string, ReferencePlace>
  /** The attributes whose values are unique, each by itself, and those of the key of the store. */
  readonly unique: ReadonlySet<string>
  /** The values that may follow the stored one, by the attributes that the option `transitions` names. */
  readonly transitions: ReadonlyMap<string, FindNext>
  /** The rows that the resource has, by the option `softDelete`; `undefined` if deletions remove rows. */
  readonly softDelete: 'live' | 'deleted' | undefined
  /** The segment of the list of deleted rows, after the collection's path; `undefined` if there is no such list. */
  readonly deletedSegment: string | undefined
  /** Whether the form for a new row has a key in the field `_key`, so that it creates one row only. */
  readonly hasKeys: boolean
  /** The segment of the form for a new row, after the collection's path; `undefined` if there is no such form. */
  readonly newSegment: string | undefined
  /** The same with a query that ends before the id of the row with whose values the form begins. */
  readonly copySegment: string | undefined
  /** The segment of the form for a row, after the row's path; `undefined` if there is no such form. */
  readonly editSegment: string | undefined
  /** The path helpers of the app, by name. */
  readonly paths: Paths
  /**
   * Returns the path of the resource that serves a file: of the first one of the same registration with a file of this
   * name, the same hooks and the same constraints.
   */
  readonly assetOwner: (file: string) => string
  /**
   * Returns the bar of all pages in a language, with the links that it may have, once the app is ready; `undefined` if
   * no home page is above them.
   */
  readonly navigation: (lang: string) => PossibleNavigation | undefined
}

/** The attributes and relations that a request has selected for its answer. */
export interface Selection {
  /** The resource as the answer shows it. Its attributes are those that are selected, and the included relations. */
  readonly resource: Resource
  /** The names of the attributes that `?only=` names, in the order of the schema; `undefined` for all. */
  readonly only: readonly string[] | undefined
  /** The names of the relations that `?include=` names. */
  readonly include: readonly string[]
}

/** A custom action that a page offers: a GET as a link, another method as a button. */
export interface ActionLink {
  /** The name of the action: `publish`. */
  readonly name: string
  /** The text of the link or the button; if `undefined`, it is made from the name. */
  readonly label: string | undefined
  /** The method of the action. A form asks for PUT and DELETE by `_method`. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The rest of the path, encoded, after the path of the collection or of the row: `publish`. */
  readonly segment: string
  /** Whether it is also performed on several rows, from their list: `/posts/publish`. @default false */
  readonly many?: boolean
}

/** A singleton that is nested in this resource. */
export interface ChildLink {
  /** The singular name: `profile`. */
  readonly name: string
  /** The rest of the path, encoded, after the path of the row. */
  readonly segment: string
}

/**
 * Writes the answers of one resource. A JSON format has `document` and `serialize`, because Fastify sends its records
 * and errors as objects. Another format has `record` and `problem`, which an onSend hook calls.
 */
export type Writer =
  (JsonWriter & Without<TextWriter, JsonWriter> | TextWriter & { readonly document?: undefined }) &
  ({ readonly list: ListWriter } & Without<PageWriter> | PageWriter & { readonly list?: undefined })

/** The members that only the other kind of writer has. */
type Without<Members, Own = unknown> = { readonly [Name in Exclude<keyof Members, keyof Own>]?: undefined }

/** Writes a list in pages, for a format that people read. Its lists have pages even without the parameter `limit`. */
export interface PageWriter {
  /** Writes the whole answer. */
  page (rows: readonly Row[], view: PageView): string
  /**
   * Makes a frame around the rows of a page, so that a page of large rows can be written in chunks. `first` has the
   * first rows. @default such a page is written whole, and ends early if its rows are too large to be held together
   */
  readonly frame?: ((first: readonly Row[], view: PageView) => ListWriter) | undefined
  /** Headers of each answer. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** Files that the pages refer to, such as a style sheet. @default none */
  readonly assets?: readonly Asset[]
  /** Whether a list shows the error of a refused condition at its field. @default false: the error has its own page */
  readonly showsRefusedConditions?: boolean
}

/**
 * A file with its own path, `/posts/<stem>.<hash>.<extension>` (see `assetPath`). A file at one path never changes,
 * because other content has another hash.
 */
export interface Asset {
  /** The first part of the file's name: letters. The whole name must not be a possible id. */
  readonly stem: string
  /** The hash of the content, in hexadecimal digits. */
  readonly hash: string
  /** The extension, without a dot: `css`. */
  readonly extension: string
  /** The media type, without parameters. The file is sent as UTF-8. */
  readonly mediaType: string
  /** The whole content. */
  readonly body: string
}

/** Writes records as objects, with the serializer that Fastify calls for them. */
export interface JsonWriter {
  /** Returns the object that is sent for a row. The app's preSerialization hooks see it. */
  document (row: Row): object
  /** Serializes such a document, or an object that the app has put into its place. */
  serialize (document: object): string
  /** The media type of an error. */
  readonly problemType: string
}

/** Writes whole answers as text, in an onSend hook. */
export interface TextWriter {
  /**
   * Finds what the answer to an outcome shows besides its rows, after the request has passed the hooks of the app. The
   * view has it as `content`. @default nothing
   */
  prepare? (outcome: Outcome, services: Services): Promise<Prepared>
  /** Finds the same for an error. @default nothing */
  prepareProblem? (problem: Problem, services: Services): Promise<PreparedProblem>
  /** Returns the headers of a redirect after a write, by which the page there can say what was done. @default none */
  redirected? (write: RedirectedWrite, request: View['request']): Readonly<Record<string, string>>
  /** Writes one row. */
  record (row: Row, view: View): string
  /** Writes the answer to a write whose preconditions the row does not meet. @default `record` of the current row */
  stale? (current: Row, view: View): string
  /** Writes a form again with a row of it added or removed, and nothing stored. @default such a form is refused */
  revised? (view: View): string
  /**
   * Writes the page of the next step for rows that a form has chosen, to delete or change them. `prepare` was given
   * the rows. @default such a form is refused
   */
  selected? (view: View): string
  /**
   * Writes the page that imports rows: the form that asks for a file, or what a file would do. An outcome with faults
   * is written as a file of the rows at fault. `prepare` and `prepareProblem` were given the file.
   * @default such a page is not served
   */
  imported? (view: View): string
  /** Writes the form for a new row. @default `record` of a row that has the defaults of the schema, and no id */
  blank? (view: View): string
  /** Writes the form for a row. @default `record` */
  edit? (row: Row, view: View): string
  /** Writes an error. */
  problem (problem: Problem, view: View): string
  /** Returns the name of a row, by which the page of a request refers to it. @default its id */
  title? (row: Row, page: Pick<View, 'request'>): string
  /** Returns the names of the resource in a language. @default its names in words */
  words? (lang: string): ResourceWords
  /** Writes rows as a table, for the page of a row that they belong to. @default none */
  table? (rows: readonly Row[], view: TableView): string
  /** Makes the form that adds a row below that table, or `undefined` if it would be too large. @default none */
  add? (view: AddView): Promise<unknown>
  /**
   * Writes rows with a button each, below their search and their filter, for the page of a form that references one of
   * them. @default its rows cannot be chosen
   */
  choices? (rows: readonly Row[], view: ChoicesView): string
  /** The media type of an error. @default that of the answer */
  readonly problemType?: string
}

/**
 * Writes a list in parts, so that it can be sent in chunks as its rows come. The texts before and after the rows are
 * the same if there are none, so that together they must be an empty list.
 */
export interface ListWriter {
  /** The text before the rows. */
  readonly open: string
  /** Writes one row. */
  row (row: Row): string
  /** Writes several rows, and the text between them, if that is faster. @default each row is written by `row` */
  rows? (rows: readonly Row[]): string
  /** The text between two rows. */
  readonly separator: string
  /** The text after the rows. */
  readonly close: string
}

/** The named parts of a body, or of a group in it. */
export type Entries<Node = unknown> = Readonly<Record<string, Node>>

/** Converts a node to a value, or to `undefined` if none is supplied. A node that does not convert adds an issue. */
export type Convert<Node = unknown> = (node: Node, path: string, issues: Issues) => unknown

/** Reads bodies of a format. A node is the parser's own type for a part of a body. */
export interface Reader<Node = unknown> {
  /** Whether bodies are forms, which may have `_method`, `_version` and `commit` beside the group. */
  readonly form: boolean
  /** Whether values have types of their own, as in JSON. Otherwise they are text. */
  readonly typed: boolean
  /** Whether each body is a list of rows, which only writes to a collection can have. @default false */
  readonly onlyLists?: boolean
  /**
   * Parses a body, and returns its top level. The size of the body is limited before. If a short text can stand for a
   * large value, as an alias of YAML does, the reader limits that itself.
   * @throws MalformedBodyError
   */
  parse (body: Buffer): Entries<Node>
  /** Returns the members of a group, or `undefined` if the node is not a group. */
  entries (node: Node): Entries<Node> | undefined
  /** Returns the value of an id or a version: a JSON value, or a text, or a list if several texts are given. */
  scalar (node: Node): unknown
  /**
   * Returns the items of a node that is a list: of rows (`{"posts":[…]}`) or of ids (`id[]=1`). Returns `undefined` for
   * every other node. @default no node is a list, so that a body has one row
   */
  items? (node: Node): readonly Node[] | undefined
  /** Returns the line of the body in which the node of a row begins, from 1. @default unknown */
  lineOf? (node: Node): number
  /** Compiles the conversion of an attribute's node by its shape. */
  compile (shape: Shape): Convert<Node>
  /** Returns whether a create takes the attribute of the node for absent. @default never */
  isAbsent? (node: Node): boolean
  /** Returns whether the node of an attribute of this shape asks an update to remove the attribute. @default never */
  removes? (node: Node, shape: Shape): boolean
  /** Returns whether an update merges the value of an attribute with the stored one (RFC 7396). @default never */
  merges? (value: unknown): boolean
  /**
   * Returns the group as the form shows it again, if it asks for that instead of a write: with a row added or removed,
   * or with a choice made. @default never
   */
  redisplay? (group: Node): Node | undefined
  /** Returns the choice of a row that a form asks for, if it is shown again for that. @default never */
  choosing? (group: Node): Choosing | undefined
  /**
   * Returns whether an update sends an attribute back as the form of the group showed it. `value` is `undefined` if the
   * attribute's node could not be converted. @default never
   */
  isUntouched? (group: Node, name: string, value: unknown): boolean
  /**
   * Returns whether a node is what the format shows for a stored value, also after a client has read and written it. A
   * format that has this method, and not `isUntouched`, makes an update compare what was sent with the row.
   * @default an update writes what it names
   */
  isShown? (node: Node, value: unknown, shape: Shape): boolean
}
