import { type Content, Markup, render } from '../html-tag.js'
import { renderField } from './field-view.js'
import { form } from './form-view.js'
import { makeFieldView } from './kept-markup.js'
import { layout } from './layout.js'
import { list } from './list-view.js'
import { edit, error, record, stale } from './page-views.js'
import type { ResolvedViews, Views } from './types.js'

/** The views as they are where an app replaces none. */
export const defaultViews: Views = Object.freeze({ layout, list, record, edit, stale, error, form, field: renderField })

/** The app's views, and ours where it has none. */
export function resolveViews (given: Partial<Views>): ResolvedViews {
  const views: Views = { ...defaultViews, field: makeFieldView() }
  for (const name of Object.keys(views) as Array<keyof Views>) {
    const view = given[name] as ((...parameters: unknown[]) => Content) | undefined
    if (view !== undefined) views[name] = (...parameters: unknown[]) => toMarkup(view(...parameters))
  }
  return views as ResolvedViews
}

function toMarkup (content: Content): Markup {
  return content instanceof Markup ? content : new Markup(render(content))
}
