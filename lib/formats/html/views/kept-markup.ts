import { randomUUID } from 'node:crypto'
import { escapeAttribute } from '../../escape.js'
import { flatten } from '../../row-template.js'
import { type Markup, raw } from '../html-tag.js'
import { renderField } from './field-view.js'
import type { Field, InputField, Page, TextField } from './model.js'
import type { ResolvedViews } from './types.js'

/** Keeps what a model is rendered as that is frozen: it is the same on many pages. */
export function keepMarkup<T extends object> (render: (model: T) => Markup): (model: T) => Markup {
  const kept = new WeakMap<T, Markup>()
  return (model) => {
    if (!Object.isFrozen(model)) return render(model)
    const markup = kept.get(model) ?? render(model)
    kept.set(model, markup)
    return markup
  }
}

/** The markup of a field before and after its value, and what else it was made of. */
interface Kept {
  readonly field: Field
  readonly messages: Page['messages']
  readonly xhtml: boolean
  readonly views: ResolvedViews
  readonly before: string
  readonly after: string
}

/**
 * Renders fields as `renderField` does. A field that is frozen is the same on each page, so that all of its markup is
 * kept; where only the hidden fields of a text are frozen, the texts differ and the rest is kept.
 */
export function makeFieldView (): ResolvedViews['field'] {
  const kept = new WeakMap<object, Kept>()
  const find = (key: object, field: Field, page: Page, views: ResolvedViews): Kept => {
    const known = kept.get(key)
    if (known !== undefined && isFor(known, field, page, views)) return known
    const made = make(field, key !== field, page, views)
    kept.set(key, made)
    return made
  }
  return (field, page, views) => {
    if (Object.isFrozen(field)) return raw(find(field, field, page, views).before)
    if (!isPlainText(field) || !Object.isFrozen(field.hidden)) return renderField(field, page, views)
    const { before, after } = find(field.hidden, field, page, views)
    return raw(before + escapeAttribute(field.value) + after)
  }
}

/** Whether the value alone stands where a value does: a browser drops a line feed at the beginning of a text. */
function isPlainText (field: Field): field is InputField | TextField {
  return field.control === 'input' || (field.control === 'textarea' && !field.value.startsWith('\n'))
}

function make (field: Field, isText: boolean, page: Page, views: ResolvedViews): Kept {
  const mark = randomUUID()
  const text = renderField(isText ? { ...field, value: mark } as Field : field, page, views).toString()
  const [before = '', after = ''] = text.split(mark).map(flatten)
  return { field, messages: page.messages, xhtml: page.xhtml, views, before, after }
}

/** Whether a field that is rendered so has the same markup, but for its value. */
function isFor (known: Kept, field: Field, page: Page, views: ResolvedViews): boolean {
  if (known.messages !== page.messages || known.xhtml !== page.xhtml || known.views !== views) return false
  if (known.field === field) return true
  for (const name in field) {
    if (name !== 'value' && field[name as keyof Field] !== known.field[name as keyof Field]) return false
  }
  return true
}
