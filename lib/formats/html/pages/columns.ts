import type { Resource } from '../../../resource/resource.js'
import type { Row } from '../../../resource/row.js'
import type { PageView, WriterContext } from '../../format.js'
import type { Shown, ShownAttributes } from '../values/shown-attributes.js'
import type { Column } from '../views/model.js'
import { linkTo } from './links.js'

/** So many columns a list has where the app chooses none: a table of all attributes would be too wide to read. */
export const COLUMNS = 8
const OPEN_COLUMNS = 20

/** The attributes that a list has columns for. */
export class Columns {
  /** Undefined: they depend on the rows. */
  readonly fixed: readonly Shown[] | undefined
  readonly #shown: ShownAttributes
  readonly #sortable: ReadonlySet<string>

  /** @param names those that the app has chosen */
  constructor (
    { open }: Resource,
    shown: ShownAttributes,
    { sortable }: WriterContext,
    names: readonly string[] | undefined
  ) {
    const chosen = names && [...new Set(names)].map((name) => shown.find(name) as Shown)
    this.fixed = chosen ?? (open ? undefined : shown.of([]).slice(0, COLUMNS))
    this.#shown = shown
    this.#sortable = new Set(sortable.length > 0 ? [...sortable, 'id'] : [])
  }

  of (rows: readonly Row[]): readonly Shown[] {
    return this.fixed ?? this.#shown.of(rows).slice(0, OPEN_COLUMNS)
  }

  /** The heading of a column, with the link that sorts the list by it. */
  heading (name: string, label: string, numeric: boolean, view: PageView): Column {
    const [first] = view.order
    const isFirst = first?.by === name
    const isUsual = name === 'id' && view.parameters.sort === undefined
    const sorted = !isFirst || isUsual ? undefined : first.descending ? 'descending' : 'ascending'
    const isAscending = sorted === 'ascending' || (isFirst && isUsual)
    const sort = isAscending ? `-${name}` : name === 'id' ? undefined : name
    const isSortable = this.#sortable.has(name) && view.own === undefined
    return { name, label, numeric, sorted, sort: isSortable ? { label, href: linkTo(view, { sort }) } : undefined }
  }
}
