import { randomUUID } from 'node:crypto'
import { hasParameters } from '../../../resource/asset-path.js'
import type { Location } from '../../../resource/location.js'
import type { Resource } from '../../../resource/resource.js'
import { memberSegment } from '../../../resource/row-path.js'
import type { Row } from '../../../resource/row.js'
import { isLegalText } from '../../../schema/legal-text.js'
import { lazy } from '../../../util/lazy.js'
import { escapeAttribute, isClean } from '../../escape.js'
import type { ListWriter, PageView, View } from '../../format.js'
import { flatten } from '../../row-template.js'
import type { FieldBuilder } from '../forms/field-builder.js'
import { LINE, mayHaveRows, type FieldPlan } from '../forms/field-plan.js'
import type { Forms } from '../forms/forms.js'
import { type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { MOST_SHOWN } from '../values/beginning.js'
import type { Shown, ShownAttributes } from '../values/shown-attributes.js'
import type { HiddenField, Link, ListPage, Page, RecordPage } from '../views/model.js'
import type { ResolvedViews } from '../views/types.js'
import type { PagePaths } from './links.js'
import type { List } from './list.js'

/** From a value to the markup of its field. */
export interface FieldWriter {
  write (value: unknown): string
  /** The same of a text that needs no escape; undefined where it is edited in another way than usual, or is no text. */
  writeClean? (text: string): string | undefined
}

/** The same, or undefined for a value that is not of the usual kind. */
type WriteUsual = (value: unknown) => string | undefined
type Render = (value: unknown) => string

/**
 * The same as `render`, which makes a field from its model: what is constant of it is kept, once it has been made, so that
 * a usual value costs an escape and two joins. What is edited in another way than usual is rendered.
 */
export function compileFieldWriter (plan: FieldPlan, render: Render): FieldWriter {
  // Whether there is room for rows depends on what else is in the form.
  const writeBlank = mayHaveRows(plan) ? render : remember(render)
  const or = (writeUsual: WriteUsual): FieldWriter['write'] => (value) =>
    value === undefined || value === null || value === '' ? writeBlank(value) : writeUsual(value) ?? render(value)
  const longest = longestText(plan)
  if (longest === undefined) return { write: or(compileUsual(plan, render)) }
  const { writeText, writeClean } = compileText(plan.mode === 'line', longest, render)
  return { write: or(writeText), writeClean }
}

/** For the few values that there are. */
function remember (render: Render): Render {
  const written = new Map<unknown, string>()
  return (value) => {
    const known = written.get(value)
    if (known !== undefined) return known
    const text = render(value)
    written.set(value, text)
    return text
  }
}

/** Of a text that is edited as it stands; undefined for what is edited otherwise. */
function longestText ({ mode, property: { shape } }: FieldPlan): number | undefined {
  if (shape.only !== 'string') return undefined
  if (mode === 'text') return MOST_SHOWN
  // Each of the formats has a control that shows only what is of the format.
  return mode === 'line' && shape.format === undefined ? LINE : undefined
}

function compileUsual ({ mode, property: { shape } }: FieldPlan, render: Render): WriteUsual {
  if (mode === 'choice') return compileChoice(new Set(shape.choices ?? [true, false]), render)
  if (shape.only === 'integer' || shape.only === 'number') return compileNumber(shape.only === 'integer', render)
  return () => undefined
}

function compileChoice (choices: ReadonlySet<unknown>, render: Render): WriteUsual {
  const write = remember(render)
  return (value) => choices.has(value) ? write(value) : undefined
}

/** A number that no schema names, by which its place is found. */
const NUMBER = 8.76543219871e123

function compileNumber (isInteger: boolean, render: Render): WriteUsual {
  const around = lazy(() => makeAround((mark) => render(NUMBER).replace(String(NUMBER), mark)))
  const isUsual = isInteger ? Number.isInteger : Number.isFinite
  return (value) => isUsual(value) ? around().before + String(value) + around().after : undefined
}

/** A text without what would have it edited otherwise. */
function compileText (
  isLine: boolean,
  longest: number,
  render: Render
): { readonly writeText: WriteUsual; readonly writeClean: (text: string) => string | undefined } {
  const around = lazy(() => makeAround(render))
  const odd = isLine ? /[\r\n]/ : /^\n|\r/
  const join = (escaped: string): string => around().before + escaped + around().after
  return {
    writeText (value) {
      if (typeof value !== 'string' || value.length > longest || odd.test(value)) return undefined
      const escaped = escapeAttribute(value)
      return escaped === value || isLegalText(value) ? join(escaped) : undefined
    },
    writeClean: (text) => (text !== '' && text.length <= longest ? join(text) : undefined)
  }
}

/** What the two writers work with. */
export interface PageParts {
  readonly resource: Resource
  readonly forms: Forms
  readonly shown: ShownAttributes
  readonly list: List
  readonly messages: PageMessages
  /** Those of them that are the app's own. */
  readonly given: Partial<PageMessages>
  readonly views: ResolvedViews
  /** The names of all formats. */
  readonly suffixes: readonly string[]
  render (page: Page, views: ResolvedViews): string
  pathsOf (location: Location): PagePaths
}

/** Whether the resource stands in one place for all requests: then the paths in its pages are constant, too. */
function isFixed ({ resource }: PageParts, { parent }: Location): boolean {
  return parent === undefined && !hasParameters(resource.path)
}

/** What varies with the place otherwise, by the name of its mark. */
const TEXTS_OF_PATHS: ReadonlyArray<readonly [name: string, write: (paths: PagePaths) => string]> = [
  ['collection', ({ collection }) => collection],
  ['members', ({ members }) => members],
  ['parent', ({ parent }) => (parent as Link).label],
  ['parent path', ({ parent }) => (parent as Link).href]
]

/** Links are made of paths as they are, encoded already, so that marks in them stay what they are. */
function markPaths ({ isListed, parent }: PagePaths, mark: Mark): PagePaths {
  return {
    collection: mark('collection'),
    isListed,
    members: mark('members'),
    parent: parent && { label: mark('parent'), href: mark('parent path') }
  }
}

/** Fills in what varies with the place, in places of the skeleton's texts. */
type FillPaths = (location: Location, texts: string[]) => void

function compilePaths (names: readonly string[], pathsOf: PageParts['pathsOf']): FillPaths {
  const steps = TEXTS_OF_PATHS.map(([name, write]) => ({ index: names.indexOf(name), write })).filter(
    ({ index }) => index !== -1
  )
  if (steps.length === 0) return () => {}
  return (location, texts) => {
    const paths = pathsOf(location)
    for (const { index, write } of steps) texts[index] = escapeAttribute(write(paths))
  }
}

type WriteRecord = (row: Row, view: View) => string

/** A writer of the pages that have the same constant texts; there are few. */
interface KeptRecord {
  readonly mediaType: string
  readonly hasVersion: boolean
  readonly isNested: boolean
  readonly refused: View['refused']
  readonly write: WriteRecord
}

/** What kept pages have in place of a request, which our own views do not look at: a request must not be kept. */
const NO_REQUEST = Object.freeze({}) as View['request']

/**
 * The same as the page's views make of the row's model, of which all but what varies is kept.
 * @param make gives the model, with the links that such paths make; `member` is that of the row
 */
export function compileRecordWriter (
  parts: PageParts,
  make: (row: Row, view: View, paths: PagePaths, member: string) => RecordPage
): WriteRecord {
  const kept: KeptRecord[] = []

  function find ({ mediaType, refused }: View, hasVersion: boolean, isNested: boolean): KeptRecord | undefined {
    for (const other of kept) {
      if (
        other.mediaType === mediaType &&
        other.hasVersion === hasVersion &&
        other.isNested === isNested &&
        other.refused === refused
      ) { return other }
    }
    return undefined
  }

  function keep (row: Row, { mediaType, refused, ...view }: View, hasVersion: boolean, isNested: boolean): KeptRecord {
    const lasting = { ...view, mediaType, refused, request: NO_REQUEST }
    const write = compileRecord(parts, view.location, (paths, member) => make(row, lasting, paths, member))
    const added = { mediaType, hasVersion, isNested, refused, write }
    // What is refused depends on the app, so the number of such pages is bounded.
    if (kept.length >= KEPT) kept.length = 0
    kept.push(added)
    return added
  }

  return (row, view) => {
    const hasVersion = row.version !== ''
    const isNested = view.location.parent !== undefined
    return (find(view, hasVersion, isNested) ?? keep(row, view, hasVersion, isNested)).write(row, view)
  }
}

/** Fills in what varies with a row, in places of the skeleton's texts. */
type Step = (row: Row, texts: string[]) => void

function compileRecord (
  parts: PageParts,
  location: Location,
  make: (paths: PagePaths, member: string) => RecordPage
): WriteRecord {
  const {
    resource: { singleton },
    forms,
    shown,
    messages,
    given,
    views,
    suffixes,
    render,
    pathsOf
  } = parts
  const { singular } = messages
  const paths = pathsOf(location)
  // As the view of a field sees it, which makes no links.
  const page = make(paths, '')
  const { names, fill } = makeSkeleton((mark) => {
    const marked = isFixed(parts, location) ? paths : markPaths(paths, mark)
    const model = make(marked, singleton ? marked.collection : `${marked.members}/${mark('segment')}`)
    const fields = new Map(model.edit?.fields.map((field, index) => [field, raw(mark(`field ${index}`))]))
    return render(markRecord(model, mark), { ...views, field: (field) => fields.get(field) as Markup })
  })
  const fillPaths = compilePaths(names, pathsOf)
  // One for each page: its fields share what a form may have of them.
  let builder: FieldBuilder | undefined
  const steps = [...makeSteps()]
  return (row, view) => {
    builder = undefined
    const texts = new Array<string>(names.length)
    fillPaths(view.location, texts)
    for (const step of steps) step(row, texts)
    return fill(texts)
  }

  function * makeSteps (): Iterable<Step> {
    const texts: ReadonlyArray<readonly [string, (row: Row) => string]> = [
      ['id', ({ id }) => (typeof id === 'number' ? String(id) : escapeAttribute(id))],
      // Which needs no escape.
      ['segment', ({ id }) => memberSegment(id, suffixes)],
      ['version', ({ version }) => escapeAttribute(version)],
      ['title', ({ id }) => escapeAttribute(messages.record(singular, id))],
      ['heading', ({ id }) => escapeAttribute(messages.edit(singular, id))],
      ['warning', ({ id }) => escapeAttribute(messages.deleteWarning(singular, id))],
      // Names and digits.
      ['was', ({ attributes }) => forms.digests(attributes)]
    ]
    for (const [name, write] of texts) {
      const location = names.indexOf(name)
      if (location !== -1) {
        yield (row, texts) => {
          texts[location] = write(row)
        }
      }
    }
    const plans = page.edit === undefined ? [] : forms.plans
    const fields = new Map(
      plans.map((plan, index) => [plan.property.name, { plan, location: names.indexOf(`field ${index}`) }])
    )
    for (const [index, attribute] of shown.of([]).entries()) {
      yield compileAttribute(attribute, names.indexOf(`value ${index}`), fields.get(attribute.name))
      fields.delete(attribute.name)
    }
    for (const { plan, location } of fields.values()) yield compileField(plan, location)
  }

  function makeFieldWriter (plan: FieldPlan): FieldWriter {
    return compileFieldWriter(plan, (value) => {
      builder ??= forms.open()
      return views.field(forms.field(builder, plan, value), page, views).toString()
    })
  }

  function compileField (plan: FieldPlan, location: number): Step {
    const read = forms.reader(plan.property.name)
    const { write } = makeFieldWriter(plan)
    return ({ attributes }, texts) => {
      texts[location] = write(read(attributes))
    }
  }

  /** As it is read, and as it is edited: a text that needs no escape is looked through once for both. */
  function compileAttribute (
    { show, read }: Shown,
    location: number,
    field: { readonly plan: FieldPlan; readonly location: number } | undefined
  ): Step {
    if (field === undefined) {
      return ({ attributes }, texts) => {
        texts[location] = show.whole(read(attributes))
      }
    }
    const { write, writeClean } = makeFieldWriter(field.plan)
    const readField = forms.reader(field.plan.property.name)
    return ({ attributes }, texts) => {
      const value = read(attributes)
      const edited =
        writeClean !== undefined && show.isPlain && typeof value === 'string' && isClean(value)
          ? writeClean(value)
          : undefined
      texts[location] = edited === undefined ? show.whole(value) : (value as string)
      texts[field.location] = edited ?? write(readField(attributes))
    }
  }

  /** Our own words only join the id, so that they are constant; what an app's make of it is not known. */
  function wordsWith (mark: Mark, name: 'record' | 'edit' | 'deleteWarning', location: string): string {
    return given[name] === undefined ? messages[name](singular, mark('id')) : mark(location)
  }

  function markRecord (page: RecordPage, mark: Mark): RecordPage {
    const { title, values, actions, edit, editLink } = page
    return {
      ...page,
      title: singleton ? title : wordsWith(mark, 'record', 'title'),
      id: mark('id'),
      version: mark('version'),
      values: values.map((value, index) => ({ ...value, markup: raw(mark(`value ${index}`)) })),
      actions: actions.map((action) => ({ ...action, hidden: markHidden(action.hidden, mark) })),
      edit: edit && { ...edit, hidden: markHidden(edit.hidden, mark), heading: wordsWith(mark, 'edit', 'heading') },
      editLink: editLink && { ...editLink, label: wordsWith(mark, 'edit', 'heading') },
      delete: page.delete && {
        ...page.delete,
        hidden: markHidden(page.delete.hidden, mark),
        warning: wordsWith(mark, 'deleteWarning', 'warning')
      }
    }
  }

  function markHidden (hidden: readonly HiddenField[], mark: Mark): HiddenField[] {
    const marks: Readonly<Record<string, string>> = {
      id: mark('id'),
      _version: mark('version'),
      [forms.was]: mark('was')
    }
    return hidden.map(({ name, value }) => ({ name, value: marks[name] ?? value }))
  }
}

/** Queries come from clients, so what is kept of their pages is bounded. */
const KEPT = 20
const LONGEST = 512

/** Writes a page; `content`: in the place of the rows. */
type WriteList = (rows: readonly Row[], view: PageView, content?: string) => string

interface KeptList {
  readonly isEmpty: boolean
  readonly view: PageView
  readonly write: WriteList
}

/**
 * The same as the page's views make of the list's model, of which all but the rows, the next place, and what varies with
 * the place is kept.
 * @param make gives the model, with the links that such paths make
 */
export function compileListWriter (
  parts: PageParts,
  make: (rows: readonly Row[], view: PageView, paths: PagePaths, writeRows: () => string) => ListPage
): WriteList {
  const kept: KeptList[] = []

  return (rows, view, content) => {
    const isEmpty = rows.length === 0
    const fixed = isFixed(parts, view.location)
    const known = kept.find((other) => other.isEmpty === isEmpty && isAlike(other.view, view, fixed))
    const write =
      known?.write ??
      compileList(parts, fixed, { ...view, request: NO_REQUEST }, (view, paths, writeRows) =>
        make(rows, view, paths, writeRows)
      )
    if (known === undefined && isShort(view)) {
      if (kept.length >= KEPT) kept.length = 0
      // A copy: the request's own query is the app's to change.
      kept.push({ isEmpty, view: { ...view, request: NO_REQUEST, parameters: { ...view.parameters } }, write })
    }
    return write(rows, view, content)
  }
}

/** The page as a frame around its rows, which are written one by one. */
export function compileFrame (
  { list }: PageParts,
  write: WriteList
): (first: readonly Row[], view: PageView) => ListWriter {
  return (first, view) => {
    const { before, after } = makeAround((mark) => write(first, view, mark))
    return { open: before, row: (row) => list.writeRows([row], view.location.members), separator: '', close: after }
  }
}

function compileList (
  { list, views, render, pathsOf }: PageParts,
  isFixed: boolean,
  view: PageView,
  make: (view: PageView, paths: PagePaths, writeRows: () => string) => ListPage
): WriteList {
  const paths = pathsOf(view.location)
  const { names, fill } = makeSkeleton((mark) => {
    const marked = {
      ...view,
      path: isFixed ? view.path : mark('path'),
      list: isFixed ? view.list : mark('list'),
      next: view.next === undefined ? undefined : mark('next')
    }
    return render(
      make(marked, isFixed ? paths : markPaths(paths, mark), () => mark('rows')),
      views
    )
  })
  const fillPaths = compilePaths(names, pathsOf)
  const [rowsAt, nextAt, pathAt, listAt] = ['rows', 'next', 'path', 'list'].map((name) => names.indexOf(name)) as [
    number,
    number,
    number,
    number
  ]
  return (rows, view, content = list.writeRows(rows, view.location.members)) => {
    const texts = new Array<string>(names.length)
    fillPaths(view.location, texts)
    if (rowsAt !== -1) texts[rowsAt] = content
    if (nextAt !== -1) texts[nextAt] = escapeAttribute(view.next as string)
    if (pathAt !== -1) texts[pathAt] = escapeAttribute(view.path)
    if (listAt !== -1) texts[listAt] = escapeAttribute(view.list)
    return fill(texts)
  }
}

/** Whether two pages differ in nothing but their rows, the link to the next, and, if it varies, the place. */
function isAlike (one: PageView, other: PageView, isFixed: boolean): boolean {
  return (
    one.mediaType === other.mediaType &&
    one.refused === other.refused &&
    one.own === other.own &&
    (one.location.parent === undefined) === (other.location.parent === undefined) &&
    (!isFixed || one.path === other.path) &&
    startOf(one) === startOf(other) &&
    (one.next === undefined) === (other.next === undefined) &&
    haveSame(one.parameters, other.parameters)
  )
}

/** Of a page without a limit no more is said than whether it is the first. */
function startOf ({ after, parameters }: PageView): string | boolean | undefined {
  return parameters.limit === undefined ? after !== undefined : after
}

function haveSame (one: PageView['parameters'], other: PageView['parameters']): boolean {
  for (const name in one) if (one[name] !== other[name]) return false
  for (const name in other) if (one[name] === undefined) return false
  return true
}

function isShort ({ after = '', parameters }: PageView): boolean {
  let length = after.length
  for (const name in parameters) length += name.length + (parameters[name] as string).length
  return length <= LONGEST
}

/** Gives the mark of a place, which stands in what is rendered where a text belongs. */
export type Mark = (location: string) => string

/** Constant texts with places between them; the texts of the places are given in the order of `names`. */
export interface Skeleton {
  /** Of the places that there are, each once, though it may stand in many. */
  readonly names: readonly string[]
  fill (texts: readonly string[]): string
}

/** What stands around the one place of a text that is rendered with a mark in it. */
export function makeAround (render: (mark: string) => string): { readonly before: string, readonly after: string } {
  const mark = randomUUID()
  const [before = '', after = ''] = render(mark).split(mark).map(flatten)
  return { before, after }
}

/**
 * Renders once, with marks in place of what varies; the function that it gives only joins texts: a page costs what varies
 * in it. The marks are of characters that no escape changes, and of a number that nobody knows: what a client has sent
 * may stand in what is rendered.
 */
export function makeSkeleton (render: (mark: Mark) => string): Skeleton {
  const marked: string[] = []
  const nonce = randomUUID()
  const skeleton = render((name) => {
    if (!marked.includes(name)) marked.push(name)
    return `${nonce}.${marked.indexOf(name)}.`
  })
  const [first = '', ...rest] = skeleton.split(new RegExp(`${nonce}\\.(\\d+)\\.`)).map(flatten)
  const numbers = rest.filter((_, index) => index % 2 === 0).map(Number)
  const used = [...new Set(numbers)]
  const places = numbers.map((number, index) => ({
    location: used.indexOf(number),
    after: rest[index * 2 + 1] as string
  }))
  return {
    names: used.map((number) => marked[number] as string),
    fill (texts) {
      let text = first
      for (const { location, after } of places) text += (texts[location] as string) + after
      return text
    }
  }
}
