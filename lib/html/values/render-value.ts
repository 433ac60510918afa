import { isBytesShape, isDecimalShape } from '../../core/schema/convert-text.js'
import { compilePerShape, openShape, type Shape } from '../../core/schema/shape.js'
import { OWN_PATH } from '../../core/resource/visible.js'
import type { Schema } from '../../core/schema/types.js'
import { isObject } from '../../core/util/own-property.js'
import { clip } from '../../core/util/words.js'
import { escapeAttribute } from '../../core/formats/escape.js'
import type { LinkedRow, LinkedRows } from '../../core/formats/format.js'
import type { PageMessages } from '../messages.js'
import { keywordsOf } from '../forms/constraints.js'
import { labelOf } from '../names.js'
import { beginningOf, isLong } from './beginning.js'
import { compileMoments, type ShowMoment } from './date-time.js'
import { makeFileText, showFiles } from './files.js'
import { CLIPPED, makeLineCompiler, type WriteText } from './lines.js'
import type { Show } from './show.js'

/** Returns the same functions for the ids of other rows. The shape must have no format. */
export function linkRows ({ whole, cell }: Show, attribute: string): Show {
  const link = (render: (value: unknown) => string) => (value: unknown, links?: LinkedRows): string =>
    linkTo(links?.get(attribute)?.get(value), () => render(value))
  return { numeric: false, whole: link(whole), cell: link(cell) }
}

/** Renders the link to a row, or the value itself if there is none. */
function linkTo (row: LinkedRow | undefined, render: () => string): string {
  const name = row?.name === undefined ? render() : escapeAttribute(row.name)
  return row?.href === undefined ? name : `<a href="${escapeAttribute(row.href)}">${name}</a>`
}

/**
 * Compiles how an attribute is shown. With `links`, the members of its objects can be links to other rows.
 */
export type CompileShow = (
  shape: Shape,
  label: string,
  more?: { readonly tones?: Tones | undefined, readonly links?: FindMemberLinks }
) => Show

/** Returns the links from the members of objects, by member. */
export type FindMemberLinks = (links: LinkedRows | undefined) => LinkedRows

/** The end of a clipped text. It is a reference, for the same reason as `DASH` in the views. */
export const ELLIPSIS = '&#8230;'

/** Makes a function that compiles how the attributes of one resource are shown. */
export function makeShowCompiler (
  lang: string,
  messages: PageMessages,
  timeZone: string | undefined
): CompileShow {
  const compileLine = makeLineCompiler(lang, messages)
  const decorate = makeDecorations(lang, timeZone)
  const compileWhole = compilePerShape<WriteWhole>((shape, compile) =>
    makeWhole(shape, compile, compileLine(shape), decorate(shape))
  )
  const describeFile = makeFileText(lang, messages)
  const note = `<p class="kept">${escapeAttribute(messages.beginning)}</p>`
  return (shape, label, { tones, links: findLinks } = {}) => {
    const line = compileLine(shape)
    const badges = makeBadges(shape, line, tones)
    const plain = compileWhole(shape)
    const whole = (value: unknown, links?: LinkedRows): string =>
      (tones && badges.get(value)) ?? plain(value, label, findLinks?.(links))
    const show = {
      numeric: isNumeric(shape),
      whole: (value: unknown, links?: LinkedRows) =>
        isLong(value) ? whole(beginningOf(value), links) + note : whole(value, links),
      cell: makeCell(shape, line, decorate(shape), shape.only === 'boolean' ? makeMarks(shape, messages) : badges)
    }
    return isBytesShape(shape) ? showFiles(describeFile, show, label) : show
  }
}

/** Returns whether values are numbers, which a column aligns at its end; `undefined` if any value may be one. */
function isNumeric (shape: Shape): boolean | undefined {
  const { only, format, choices } = shape
  // SQLite may have numbers in a column of texts.
  if ((only === undefined || (only === 'string' && format === undefined)) && choices === undefined) return undefined
  return (shape.only === 'integer' || shape.only === 'number' || isDecimalShape(shape)) && shape.titles.size === 0
}

function makeCell (
  shape: Shape,
  line: WriteText,
  decorate: Decorate | undefined,
  marks: Marks
): Show['cell'] {
  const isPlain = shape.titles.size === 0 && !isDecimalShape(shape)
  const rounds = keywordsOf(shape.schema).multipleOf === undefined && shape.choices === undefined
  return (value) => {
    const mark = marks.get(value)
    if (mark !== undefined) return mark
    const text = typeof value === 'string' && isPlain ? value : line(rounds ? round(value) : value)
    if (text.length > CLIPPED) return escapeAttribute(clip(text, CLIPPED)) + ELLIPSIS
    return decorate === undefined || typeof value !== 'string' ? escapeAttribute(text) : decorate(value)
  }
}

/** Rounds a fraction to six places after the point, or to six digits if it is less than one. */
function round (value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number(Math.abs(value) < 1 ? value.toPrecision(6) : value.toFixed(6))
}

/** The tones of values of an enumeration that are good or bad news. */
export type Tones = ReadonlyMap<string, 'good' | 'bad'>

/** The markup of values that are neither text nor numbers, by value. */
type Marks = ReadonlyMap<unknown, string>

/** Makes the marks of booleans. A blank cell has no value, so `false` has a mark too. */
function makeMarks ({ titles }: Shape, { yes, no }: PageMessages): Marks {
  if (titles.size > 0) return NO_MARKS
  const mark = (text: string, sign: string): string =>
    `<span class="mark" role="img" aria-label="${escapeAttribute(text)}">${sign}</span>`
  return new Map([[true, mark(yes, '&#10003;')], [false, mark(no, '&#10007;')]])
}

/** The most values of an enumeration that is shown as badges. More values, such as currencies, are no states. */
const MOST_BADGES = 8
/** The maximum length of a badge, in characters. */
const LONGEST_BADGE = 40
const NO_MARKS: Marks = new Map()

/** Makes the badges of an enumeration of texts. */
function makeBadges ({ choices = [], titles }: Shape, line: WriteText, tones?: Tones): Marks {
  const isState = (choice: unknown): boolean =>
    (typeof choice === 'string' || titles.has(choice)) && line(choice).length <= LONGEST_BADGE
  if (choices.length > MOST_BADGES || !choices.every(isState)) return NO_MARKS
  return new Map(choices.filter((choice) => choice !== '').map((choice) => {
    const tone = tones?.get(String(choice))
    const kind = tone === undefined ? 'badge' : `badge ${tone}`
    return [choice, `<span class="${kind}">${escapeAttribute(line(choice))}</span>`]
  }))
}

/** Renders the markup of a string with a format, for example a link. */
type Decorate = (text: string) => string

function makeDecorations (lang: string, timeZone: string | undefined): (shape: Shape) => Decorate | undefined {
  const moments = [...compileMoments(lang, timeZone)].map(([format, show]) => [format, renderTime(show)] as const)
  const decorations: ReadonlyMap<string, Decorate> = new Map([
    ...moments,
    ['uri', renderLink],
    ['url', renderLink],
    ['email', renderAddress],
    [OWN_PATH, renderPath]
  ])
  return ({ only, format, titles }) =>
    only === 'string' && format !== undefined && titles.size === 0 ? decorations.get(format) : undefined
}

/** Writes a whole value. `label` is what an array is called, and `links` has those from the members of its objects. */
type WriteWhole = (value: unknown, label: string, links?: LinkedRows) => string

function makeWhole (
  shape: Shape,
  compile: (shape: Shape) => WriteWhole,
  line: WriteText,
  decorate: Decorate | undefined
): WriteWhole {
  const badges = makeBadges(shape, line)
  const items = compile(shape.items)
  const tableOf = makeTable(shape.items, compile)
  const rest = compile(shape.rest ?? openShape)
  const members = new Map(
    [...shape.properties.values()].map((property) => [
      property.name,
      { label: labelOf(property), show: compile(property.shape) }
    ])
  )

  function list (values: readonly unknown[], label: string, links?: LinkedRows): string {
    return values.length === 0
      ? ''
      : `<ul class="values">${values.map((value) => `<li>${items(value, label, links)}</li>`).join('')}</ul>`
  }

  function group (value: Schema, links?: LinkedRows): string {
    const shown = Object.keys(value).map((name) => {
      const { label = name, show = rest } = members.get(name) ?? {}
      const text = linkTo(links?.get(name)?.get(value[name]), () => show(value[name], label))
      return `<div><dt>${escapeAttribute(label)}</dt><dd>${text}</dd></div>`
    })
    return shown.length === 0 ? '' : `<dl class="values">${shown.join('')}</dl>`
  }

  return (value, label, links) => {
    const badge = badges.get(value)
    if (badge !== undefined) return badge
    if (shape.titles.has(value) || isDecimalShape(shape)) return escapeAttribute(line(value))
    if (typeof value === 'string') return decorate === undefined ? withBreaks(value) : decorate(value)
    if (Array.isArray(value)) return tableOf(value, label, links) ?? list(value, label, links)
    return isObject(value) ? group(value, links) : escapeAttribute(line(value))
  }
}

/**
 * Compiles a table of objects whose members are no arrays and no objects. Its rows are named by their first member, if
 * that is a text. It returns `undefined` for other values, and for objects with members that no schema declares.
 */
function makeTable (
  { only, properties }: Shape,
  compile: (shape: Shape) => WriteWhole
): (values: readonly unknown[], label: string, links?: LinkedRows) => string | undefined {
  const members = [...properties.values()]
  const isFlat = members.every(({ shape: { only } }) => only !== undefined && only !== 'array' && only !== 'object')
  if (only !== 'object' || members.length === 0 || !isFlat) return () => undefined
  const columns = members.map((property) => ({
    name: property.name,
    label: labelOf(property),
    kind: isNumeric(property.shape) ? ' class="number"' : '',
    isText: property.shape.only === 'string',
    show: compile(property.shape)
  }))
  return (values, label, links) => {
    const rows = values.filter(isObject)
    const names = new Set(rows.flatMap((row) => Object.keys(row)))
    const isKnown = rows.length === values.length && [...names].every((name) => properties.has(name))
    if (!isKnown || names.size === 0) return undefined
    const shown = columns.filter(({ name }) => names.has(name))
      .map((column) => links?.has(column.name) === true ? { ...column, kind: '' } : column)
    const heads = shown.map(({ label, kind }) => `<th scope="col"${kind}>${escapeAttribute(label)}</th>`)
    const lines = rows.map((row) => shown.map(({ name, label, kind, isText, show }, index) => {
      const text = linkTo(links?.get(name)?.get(row[name]), () => show(row[name], label))
      const cell = `${kind === '' ? ' dir="auto"' : kind}>${text}`
      return index === 0 && isText && text !== '' ? `<th scope="row"${cell}</th>` : `<td${cell}</td>`
    }).join(''))
    const head = `<thead><tr>${heads.join('')}</tr></thead>`
    const body = `<tbody><tr>${lines.join('</tr><tr>')}</tr></tbody>`
    return `<table class="values" aria-label="${escapeAttribute(label)}">${head}${body}</table>`
  }
}

function withBreaks (text: string): string {
  const escaped = escapeAttribute(text)
  return escaped === text ? text : escaped.replaceAll('&#10;', '<br/>')
}

/** Renders a `time` element with its machine-readable value (HTML §4.5.14). */
function renderTime (show: ShowMoment): Decorate {
  return (text) => {
    const { shown, machine } = show(text) ?? { shown: text }
    const escaped = escapeAttribute(shown)
    return machine === undefined ? escaped : `<time datetime="${machine}">${escaped}</time>`
  }
}

/** Renders a link to a web address only, because `javascript:` is an absolute URL too. */
function renderLink (text: string): string {
  const shown = escapeAttribute(text)
  return /^https?:\/\//i.test(text) ? `<a href="${shown}" rel="nofollow noreferrer">${shown}</a>` : shown
}

/** Renders a link to a path of the app itself. */
function renderPath (path: string): string {
  const shown = escapeAttribute(path)
  return `<a href="${shown}">${shown}</a>`
}

/** The maximum length of an email address, in characters (RFC 5321 §4.5.3.1). */
export const MAX_EMAIL_LENGTH = 320

/**
 * Renders a link to an email address. The text cannot add other fields to the mail, such as a subject (RFC 6068 §2).
 */
function renderAddress (text: string): string {
  if (text.length > MAX_EMAIL_LENGTH) return escapeAttribute(text)
  const path = encodeURI(text.toWellFormed()).replaceAll(/[?&#]/g, encodeURIComponent)
  return `<a href="mailto:${path}">${escapeAttribute(text)}</a>`
}
