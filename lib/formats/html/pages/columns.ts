import type { Resource } from '../../../resource/resource.js'
import type { Row } from '../../../resource/row.js'
import type { PageView, WriterContext } from '../../format.js'
import type { ReadContext } from '../html-tag.js'
import type { ShownAttribute, ShownAttributes } from '../values/shown-attributes.js'
import type { Column } from '../views/model.js'
import { linkTo } from './links.js'

/** The maximum number of default columns. A table of all attributes would be too wide to read. */
export const COLUMNS = 8
const OPEN_COLUMNS = 20

/** The columns of a list. */
export class Columns {
  /** The columns, or `undefined` if they depend on the rows. */
  readonly fixed: readonly ShownAttribute[] | undefined
  readonly #shown: ShownAttributes
  readonly #sortable: ReadonlySet<string>

  /** @param names the columns that the app has chosen */
  constructor (
    { open }: Resource,
    shown: ShownAttributes,
    { sortable }: WriterContext,
    names: readonly string[] | undefined
  ) {
    const chosen = names && [...new Set(names)].map((name) => shown.find(name) as ShownAttribute)
    this.fixed = chosen ?? (open ? undefined : shown.of([]).slice(0, COLUMNS))
    this.#shown = shown
    this.#sortable = new Set(sortable.length > 0 ? [...sortable, 'id'] : [])
  }

  of (rows: readonly Row[]): readonly ShownAttribute[] {
    return this.fixed ?? this.#shown.of(rows).slice(0, OPEN_COLUMNS)
  }

  /** Makes the heading of a column, with the link that sorts the list by it. */
  heading (
    of: ReadContext<{ readonly view: PageView }>,
    { name, label, numeric }: Pick<Column, 'name' | 'label' | 'numeric'>,
    view: PageView
  ): Column {
    const [first] = view.order
    const isFirst = first?.by === name
    const isUsual = name === 'id' && view.parameters.sort === undefined
    const sorted = !isFirst || isUsual ? undefined : first.descending ? 'descending' : 'ascending'
    const isAscending = sorted === 'ascending' || (isFirst && isUsual)
    const sort = isAscending ? `-${name}` : name === 'id' ? undefined : name
    const isSortable = this.#sortable.has(name) && view.own === undefined
    const link = isSortable ? { label, href: of(({ view }) => linkTo(view, { sort })) } : undefined
    return { name, label, numeric, sorted, sort: link }
  }
}
