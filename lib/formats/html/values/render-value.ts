import { isDate } from '../../../schema/date-time.js'
import { compilePerShape } from '../../../schema/per-shape.js'
import { openShape, type Shape } from '../../../schema/shape.js'
import type { Schema } from '../../../schema/types.js'
import { lazy } from '../../../util/lazy.js'
import { isObject } from '../../../util/own-property.js'
import { clip } from '../../../util/truncate.js'
import { escapeAttribute } from '../../escape.js'
import type { PageMessages } from '../messages.js'
import { labelOf } from '../names.js'
import { beginningOf, isLong } from './beginning.js'
import { splitDateTime } from './date-time.js'

/** A value as people read it, as markup. */
export interface Show {
  /** All of it; of a value that is too long its beginning, and that it is no more. */
  whole (value: unknown): string
  /** In one line; where it is clipped by what `link` makes of the rest and of where the whole is. */
  cell (value: unknown, link: Clipped, href: string): string
  /** Whether a text that needs no escape is shown as it stands. */
  readonly isPlain: boolean
  /** Whether it is a number, which stands at the end of its column. */
  readonly numeric: boolean
}

/** From a text that has been clipped, and where its row is, to the markup of both. */
export type Clipped = (text: string, href: string) => string

type Text = (value: unknown) => string

/** In characters: what a cell of a list has at most. */
const CLIPPED = 100

/** A compiler of what is shown of the attributes of one resource. */
export function makeShowCompiler (lang: string, messages: PageMessages): (shape: Shape) => Show {
  const compileLine = compilePerShape<Text>((shape, compile) => makeLine(shape, compile, messages))
  const decorate = makeDecorations(lang)
  const compileWhole = compilePerShape<Text>((shape, compile) =>
    makeWhole(shape, compile, compileLine(shape), decorate(shape))
  )
  const note = `<p class="kept">${escapeAttribute(messages.beginning)}</p>`
  return (shape) => {
    const whole = compileWhole(shape)
    return {
      isPlain: shape.titles.size === 0 && decorate(shape) === undefined,
      numeric: shape.only === 'integer' || shape.only === 'number',
      whole: (value) => isLong(value) ? whole(beginningOf(value)) + note : whole(value),
      cell: makeCell(shape, compileLine(shape), decorate(shape))
    }
  }
}

function makeCell ({ titles }: Shape, line: Text, decorate: Decorate | undefined): Show['cell'] {
  const isPlain = titles.size === 0
  return (value, link, href) => {
    if (typeof value === 'number' && isPlain) return String(value)
    const text = typeof value === 'string' && isPlain ? value : line(value)
    if (text.length > CLIPPED) return link(clip(text, CLIPPED), href)
    return decorate === undefined || typeof value !== 'string' ? escapeAttribute(text) : decorate(value)
  }
}

/** In one line, as plain text; of a list or an object at least as much as a cell has room for. */
function makeLine ({ titles, items }: Shape, compile: (shape: Shape) => Text, { yes, no }: PageMessages): Text {
  const item = compile(items)
  return (value) => {
    const title = titles.get(value)
    if (title !== undefined) return title
    if (value === undefined || value === null) return ''
    if (typeof value === 'boolean') return value ? yes : no
    if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
      return startOf(value.values(), item, ', ')
    }
    return typeof value === 'object' ? startOfJson(value) : String(value)
  }
}

/** Reads no more of a long part than a cell can show, because it may be a megabyte. */
function startOf<T> (parts: Iterable<T>, write: (part: T) => string, separator: string): string {
  let text = ''
  let before = ''
  for (const part of parts) {
    text += before + write(part)
    if (text.length > CLIPPED) break
    before = separator
  }
  return text
}

/** What JSON.stringify begins with. */
function startOfJson (value: unknown): string {
  if (Array.isArray(value)) {
    return `[${startOf(value.values(), (item) => (item === undefined ? 'null' : startOfJson(item)), ',')}]`
  }
  if (!isObject(value) || 'toJSON' in value) {
    return JSON.stringify(typeof value === 'string' ? value.slice(0, CLIPPED) : value)
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${startOf(members, ([name, member]) => `${JSON.stringify(name)}:${startOfJson(member)}`, ',')}}`
}

/** The markup of a string that is more than text. */
type Decorate = (text: string) => string

function makeDecorations (lang: string): (shape: Shape) => Decorate | undefined {
  const dates = lazy(() => new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeZone: 'UTC' }))
  const moments = lazy(
    () => new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  )
  const decorations: ReadonlyMap<string, Decorate> = new Map([
    ['date', (text) => renderDate(text, dates())],
    ['date-time', (text) => renderMoment(text, moments())],
    ['uri', renderLink],
    ['url', renderLink],
    ['email', renderAddress]
  ])
  return ({ only, format, titles }) =>
    only === 'string' && format !== undefined && titles.size === 0 ? decorations.get(format) : undefined
}

function makeWhole (shape: Shape, compile: (shape: Shape) => Text, line: Text, decorate: Decorate | undefined): Text {
  const { titles } = shape
  const items = compile(shape.items)
  const rest = compile(shape.rest ?? openShape)
  const members = new Map(
    [...shape.properties.values()].map((property) => [
      property.name,
      { label: labelOf(property), show: compile(property.shape) }
    ])
  )

  function list (values: readonly unknown[]): string {
    return values.length === 0
      ? ''
      : `<ul class="values">${values.map((value) => `<li>${items(value)}</li>`).join('')}</ul>`
  }

  function group (value: Schema): string {
    const shown = Object.keys(value).map((name) => {
      const { label = name, show = rest } = members.get(name) ?? {}
      return `<div><dt>${escapeAttribute(label)}</dt><dd>${show(value[name])}</dd></div>`
    })
    return shown.length === 0 ? '' : `<dl class="values">${shown.join('')}</dl>`
  }

  return (value) => {
    if (titles.has(value)) return escapeAttribute(line(value))
    if (typeof value === 'string') return decorate === undefined ? withBreaks(value) : decorate(value)
    if (Array.isArray(value)) return list(value)
    return isObject(value) ? group(value) : escapeAttribute(line(value))
  }
}

function withBreaks (text: string): string {
  const escaped = escapeAttribute(text)
  return escaped === text ? text : escaped.replaceAll('&#10;', '<br/>')
}

function renderDate (text: string, format: Intl.DateTimeFormat): string {
  return isDate(text) ? renderTime(`${text}T00:00:00`, text, '', format) : escapeAttribute(text)
}

const OFFSET = /^(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** By the wall clock of its own offset: the reader's is not known here. */
function renderMoment (text: string, format: Intl.DateTimeFormat): string {
  const parts = splitDateTime(text)
  if (parts === undefined || !OFFSET.test(parts.offset)) return escapeAttribute(text)
  const { date, time, seconds, fraction, offset } = parts
  const clock = `${date}T${time}:${seconds}`
  const machine = `${clock}${fraction.slice(0, 4)}${offset.toUpperCase()}`
  return renderTime(clock, machine, /^(?:z|[+-]00:00)$/i.test(offset) ? ' UTC' : ` ${offset}`, format)
}

/** A time with what a machine reads of it (HTML §4.5.14). */
function renderTime (clock: string, machine: string, offset: string, format: Intl.DateTimeFormat): string {
  return `<time datetime="${machine}">${escapeAttribute(format.format(new Date(`${clock}Z`)) + offset)}</time>`
}

/** Only addresses of the web become links, because `javascript:` is an absolute URL too. */
function renderLink (text: string): string {
  const shown = escapeAttribute(text)
  return /^https?:\/\//i.test(text) ? `<a href="${shown}" rel="nofollow noreferrer">${shown}</a>` : shown
}

/** In characters; none that mail could be sent to is longer (RFC 5321 §4.5.3.1). */
export const LONGEST_ADDRESS = 320

/** One address, and nothing that would tell the program more (RFC 6068 §2). */
function renderAddress (text: string): string {
  if (text.length > LONGEST_ADDRESS) return escapeAttribute(text)
  const path = encodeURI(text.toWellFormed()).replaceAll(/[?&#]/g, encodeURIComponent)
  return `<a href="mailto:${path}">${escapeAttribute(text)}</a>`
}
