// The entry `fastify-resources/html`: the format of pages, and what its options are made of.
export { html, type HtmlFormat } from './html.js'
export { Markup, markup, raw } from './html-tag.js'
export { defaultViews } from './views/views.js'
export type { HtmlOptions } from './options.js'
export type { Navigation, NavigationLink } from '../core/formats/view.js'
export type { Content } from './html-tag.js'
export type { PageMessages, Phrases } from './messages.js'
export type { Brand, BrandContext, BrandPart, PageBrand } from './style/brand.js'
export type {
  Alternate, Button, CheckField, CheckboxesField, ChoosePage, Column, Conflict, Constraints, EditPage, ErrorPage,
  Field, FieldFrame, FilterCondition, FilterForm, Form, FormError, FreeRows, GroupField, HiddenField, InputField,
  Link, ListPage, ListRow, MomentField, Option, Page, PageAction, PageFrame, RadiosField, RecordPage, ReferenceField,
  RelatedRows, Removal, RowsField, SearchField, SelectField, StalePage, TextField, UnchangedField, Value
} from './views/model.js'
export type { RowTitle } from './values/row-names.js'
export type { ResolvedViews, Views } from './views/types.js'
export type {
  ActionLink, Asset, ChildLink, ChoiceRow, Choosing, ConditionParameter, LinkedRow,
  LinkedRows, PageView, PageWriter, ReferenceChoices, RelatedList, RowSearch, TableView
} from '../core/formats/format.js'
