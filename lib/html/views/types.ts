import type { Attributes } from '../../core/schema/types.js'
import type { Content, Markup } from '../html-tag.js'
import type {
  ChoosePage, ChosenPage, EditPage, ErrorPage, Field, Form, ImportPage, ListPage, Page, RecordPage, StalePage
} from './model.js'

/**
 * Functions that render each page and its parts. A view is a plain function of a model. A string that it returns is
 * escaped. Its argument `views` has all views, with those that the app has replaced.
 */
export interface Views<A = Attributes> {
  /** Renders the document around the content of every page. */
  layout: (page: Page<A>, content: Markup, views: ResolvedViews) => Content
  /** Renders the content of a list. */
  list: (page: ListPage<A>, views: ResolvedViews) => Content
  /** Renders the content of one row, with its forms. */
  record: (page: RecordPage, views: ResolvedViews) => Content
  /** Renders a page that only has a form, with its errors. */
  edit: (page: EditPage, views: ResolvedViews) => Content
  /** Renders the rows that an attribute of a form can reference, to choose one. */
  choose: (page: ChoosePage, views: ResolvedViews) => Content
  /** Renders the next step for rows that were chosen in a list: their deletion, or their changes. */
  chosen: (page: ChosenPage, views: ResolvedViews) => Content
  /** Renders the page that imports rows from a file. */
  import: (page: ImportPage, views: ResolvedViews) => Content
  /** Renders a conflict: the user's values beside those that somebody else has saved. */
  stale: (page: StalePage, views: ResolvedViews) => Content
  /** Renders the content of any other error page. */
  error: (page: ErrorPage, views: ResolvedViews) => Content
  /** Renders a form on any page. */
  form: (form: Form, page: Page<A>, views: ResolvedViews) => Content
  /** Renders a field with its label and errors, also if it is inside another field. */
  field: (field: Field, page: Page<A>, views: ResolvedViews) => Content
}

/** All views of a resource. Each returns markup. */
export type ResolvedViews = { readonly [K in keyof Views]: (...parameters: Parameters<Views<unknown>[K]>) => Markup }
