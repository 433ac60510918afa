import type { Attributes } from '../../../schema/types.js'
import type { Content, Markup } from '../html-tag.js'
import type { EditPage, ErrorPage, Field, Form, ListPage, Page, RecordPage, StalePage } from './model.js'

/**
 * What each page and each part of one looks like. A view is a plain function of what is to be shown; what it returns as
 * a plain string is escaped. `views` are all of them, with those that the app has replaced.
 */
export interface Views<A = Attributes> {
  /** The document around the content of every page. */
  layout: (page: Page<A>, content: Markup, views: ResolvedViews) => Content
  /** The content of a list. */
  list: (page: ListPage<A>, views: ResolvedViews) => Content
  /** The content of one row, with its forms. */
  record: (page: RecordPage, views: ResolvedViews) => Content
  /** A form for itself, with what is wrong with it. */
  edit: (page: EditPage, views: ResolvedViews) => Content
  /** Yours beside theirs, where somebody else has written meanwhile. */
  stale: (page: StalePage, views: ResolvedViews) => Content
  /** The content of a page about whatever else is refused or has failed. */
  error: (page: ErrorPage, views: ResolvedViews) => Content
  /** A form, wherever it stands. */
  form: (form: Form, page: Page<A>, views: ResolvedViews) => Content
  /** A field with its label and what is wrong with it; also of the fields inside another. */
  field: (field: Field, page: Page<A>, views: ResolvedViews) => Content
}

/** The views of a resource; what they return is markup. */
export type ResolvedViews = { readonly [K in keyof Views]: (...parameters: Parameters<Views<any>[K]>) => Markup }
