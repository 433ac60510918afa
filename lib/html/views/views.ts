import { type Content, Markup, render } from '../html-tag.js'
import { field, form } from './form-view.js'
import { importView } from './import-view.js'
import { choose, chosen, edit, error, layout, list, record, stale } from './page-views.js'
import type { ResolvedViews, Views } from './types.js'

/** The default views, which apply if an app replaces none. */
export const defaultViews: Views =
  Object.freeze({ layout, list, record, edit, choose, chosen, import: importView, stale, error, form, field })

/** Returns the app's views, and the default for each other view. */
export function resolveViews (given: Partial<Views>): ResolvedViews {
  const views: Views = { ...defaultViews }
  for (const name of Object.keys(views) as Array<keyof Views>) {
    const view = given[name] as ((...parameters: unknown[]) => Content) | undefined
    if (view !== undefined) views[name] = (...parameters: unknown[]) => toMarkup(view(...parameters))
  }
  return views as ResolvedViews
}

function toMarkup (content: Content): Markup {
  return content instanceof Markup ? content : new Markup(render(content))
}
