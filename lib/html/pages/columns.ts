import type { Resource } from '../../core/resource/resource.js'
import type { Row } from '../../core/resource/row.js'
import { OWN_PATH } from '../../core/resource/visible.js'
import type { ConfiguredResource, Selection, WriterContext } from '../../core/formats/format.js'
import type { HtmlListView } from '../content.js'
import type { RowNames } from '../values/row-names.js'
import type { ShownAttribute, ShownAttributes } from '../values/shown-attributes.js'
import type { Column, ColumnLink } from '../views/model.js'
import { linkTo } from './links.js'
import { changeSum } from './sums.js'

/** The maximum number of default columns. A table of all attributes would be too wide to read. */
const COLUMNS = 8
const OPEN_COLUMNS = 20

/** The dependencies of `Columns`. */
export interface ColumnSource {
  readonly resource: Resource
  readonly shown: ShownAttributes
  /** The attributes that a request may choose. @default a table without such a choice */
  readonly all?: ShownAttributes
  readonly context: WriterContext
  /** The names of the columns that the app has chosen. */
  readonly chosen: readonly string[] | undefined
  readonly names: Pick<RowNames, 'label' | 'parts' | 'isById' | 'isJoin'>
}

/** The formats whose cells are links. */
const LINKS: ReadonlySet<string | undefined> = new Set(['uri', 'url', 'email', OWN_PATH])

/** The columns of a list after the name of the row, if it has a title, and its id, unless they show that as well. */
export class ListColumns {
  /** The columns, or `undefined` if they depend on the rows. */
  readonly fixed: readonly ShownAttribute[] | undefined
  /** Whether the id has a column after the title of the row. */
  readonly hasId: boolean
  /** The attribute that leads to the row in place of its id, because all that the id is made of has columns. */
  readonly head: ShownAttribute | undefined
  readonly #shown: ShownAttributes
  readonly #sortable: ReadonlySet<string>
  /** The attributes that users choose from. `[]` if all have columns by default. */
  readonly #offered: readonly ShownAttribute[]
  readonly #names: ColumnSource['names']

  constructor ({ resource, shown, all, context: { sortable, references }, chosen, names }: ColumnSource) {
    const { open, key, attributes } = resource
    this.#names = names
    this.#shown = shown
    const columns = chosen === undefined && open
      ? undefined
      : chosen?.map((name) => shown.find(name) as ShownAttribute) ?? this.#first([], COLUMNS)
    const [first] = columns ?? []
    const seen = new Set([...names.parts, ...columns?.map(({ name }) => name) ?? []])
    const isIdSeen = key.length > 0 && key.every((name) => seen.has(name))
    const { name = '' } = first ?? {}
    const isLink = references.has(name) || LINKS.has(attributes.get(name)?.shape.format)
    this.hasId = names.label !== undefined && !names.isJoin && !isIdSeen
    const canLead = names.label === undefined && !names.isById && isIdSeen && !isLink
    this.head = canLead ? first : undefined
    this.fixed = columns && this.#withoutTitle([...new Set(columns)])
    const known = open ? [] : all?.of([]) ?? []
    this.#offered = known.length > COLUMNS ? known : []
    this.#sortable = new Set(sortable.length > 0 ? [...sortable, 'id'] : [])
  }

  of (rows: readonly Row[]): readonly ShownAttribute[] {
    return this.fixed ?? this.#withoutTitle(this.#first(rows, OPEN_COLUMNS))
  }

  /** The number of links that show or hide a column. */
  get choices (): number {
    return this.#offered.length
  }

  /**
   * Makes the links that show or hide a column, in the order of the schema. One column stays, and so does the name of
   * the row.
   */
  choose (view: HtmlListView): ColumnLink[] {
    const shown = new Set(this.of([]).map(({ name }) => name))
    const isKept = (name: string): boolean =>
      shown.has(name) || this.#names.parts.includes(name) || name === this.head?.name
    const offered = this.#withoutTitle(this.#offered)
    const isLast = offered.filter(({ name }) => shown.has(name)).length < 2
    return offered.map(({ name, label }) => {
      const only = this.#offered.filter((other) => other.name === name ? !shown.has(name) : isKept(other.name))
      const href = linkTo(view, { ...changeSum(view, name, false), only: only.map(({ name }) => name).join() })
      return { label, isShown: shown.has(name), href }
    }).filter(({ isShown }) => !isShown || !isLast)
  }

  #first (rows: readonly Row[], most: number): readonly ShownAttribute[] {
    return this.#shown.of(rows).slice(0, most)
  }

  #withoutTitle (columns: readonly ShownAttribute[]): readonly ShownAttribute[] {
    const { parts, isJoin } = this.#names
    return isJoin ? columns : columns.filter(({ name }) => name !== this.head?.name && !parts.includes(name))
  }

  /**
   * Returns the headings of all columns: the name of the row, if it has a title, the id, and the others. There is no id
   * if the others show all that it is made of. A list of a join table has names that stand for them.
   */
  headings (
    rows: readonly Row[],
    { label: title, parts, isJoin }: Pick<RowNames, 'label' | 'parts' | 'isJoin'>,
    label: string
  ): ReadonlyArray<Pick<Column, 'name' | 'label' | 'numeric'>> {
    const id = { name: 'id', label, numeric: false }
    const others = this.of(rows).map(({ name, label, show, read }) => {
      const seen = show.numeric === undefined ? rows : []
      const given = seen.flatMap(({ attributes }) => read(attributes) ?? [])
      return { name, label, numeric: show.numeric ?? (given.length > 0 && given.every((it) => typeof it === 'number')) }
    })
    const first = title === undefined ? this.head ?? id : { name: isJoin ? 'id' : parts.at(-1) ?? '', label: title }
    return [{ name: first.name, label: first.label, numeric: false }, ...(this.hasId ? [id] : []), ...others]
  }

  /** Makes the heading of a column, with the link that sorts the list by it. */
  heading (
    { name, label, numeric }: Pick<Column, 'name' | 'label' | 'numeric'>,
    view: HtmlListView
  ): Column {
    const [first] = view.order
    const isFirst = first?.by === name
    const isUsual = name === 'id' && view.parameters.sort === undefined
    const sorted = !isFirst || isUsual ? undefined : first.descending ? 'descending' : 'ascending'
    const isAscending = sorted === 'ascending' || (isFirst && isUsual)
    const sort = isAscending ? `-${name}` : name === 'id' ? undefined : name
    const isSortable = this.#sortable.has(name) && view.own === undefined
    const link = isSortable ? { label, href: linkTo(view, { sort }) } : undefined
    return { name, label, numeric, sorted, sort: link }
  }
}

/** Adds the time of the deletion to the columns that the app has chosen, if the rows are deleted ones. */
export function withTime (
  columns: readonly string[] | undefined,
  { live }: ConfiguredResource,
  { attributes }: Resource
): readonly string[] | undefined {
  if (live === undefined || columns === undefined || !attributes.has(live.attribute)) return columns
  return [...new Set([live.attribute, ...columns])]
}

/** Returns the names of the columns that are chosen, or `undefined` for the default ones. */
export function columnsOf (
  { open, attributes }: Resource,
  columns: readonly string[] | undefined,
  selection: Selection | undefined
): readonly string[] | undefined {
  if (selection === undefined || open) return columns
  const visible = [...attributes.values()].flatMap(({ name, writeOnly }) => (writeOnly ? [] : [name]))
  return [...selection.only ?? columns ?? visible.slice(0, COLUMNS), ...selection.include]
}
