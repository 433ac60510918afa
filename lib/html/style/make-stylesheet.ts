import { createHash } from 'node:crypto'
import type { Asset } from '../../core/formats/format.js'
import type { Brand } from './brand.js'
import { FORM_RULES } from './form-rules.js'
import { RECORD_RULES } from './record-rules.js'
import { RULES } from './stylesheet.js'
import { type Channels, textColourOn, makeReadable, parseColour, writeColour } from './colour.js'

/**
 * The backgrounds of the page, of surfaces such as cards and controls, and under the pointer. The user's preference
 * selects the light or the dark ones.
 */
const LIGHT = { page: '#f7f7f5', surface: '#ffffff', hover: '#eeeeeb' }
const DARK = { page: '#131418', surface: '#1c1e23', hover: '#26282e' }
/** The minimum contrast of text (WCAG 2.2 §1.4.3). */
const TEXT = 4.5

/** The options that change the stylesheet. */
export interface StyleOptions {
  readonly font: Brand['font'] | undefined
  readonly density: Brand['density'] | undefined
  /** The colour of links and buttons. */
  readonly accent: string
}

/** Makes the stylesheet of the pages, with the accent colour, the font and the density of the app. */
export function makeStylesheet ({ accent, font, density }: StyleOptions): Asset {
  const fonts = font === undefined ? '' : `body,.list td::before{font-family:${font}}`
  const own = fonts + (density === 'compact' ? COMPACT : '')
  const root = `${rootOf(LIGHT, accent)}@media (prefers-color-scheme:dark){${rootOf(DARK, accent)}}`
  const hash = createHash('sha256').update(root).update(COMPRESSED).update(own).digest('hex').slice(0, 16)
  // V8 copies the parts on first use. Until then, all resources share the rules.
  return { stem: 'pages', hash, extension: 'css', mediaType: 'text/css', body: root + COMPRESSED + own }
}

function rootOf (backgrounds: typeof LIGHT, accent: string): string {
  const fill = colourOf(accent)
  const readable = makeReadable(fill, Object.values(backgrounds).map(colourOf), TEXT)
  const names = Object.entries(backgrounds).map(([name, colour]) => `--${name}:${colour};`).join('')
  const others = backgrounds === LIGHT ? LIGHT_COLOURS : DARK_COLOURS
  const colours = { accent: readable, fill, 'on-fill': textColourOn(fill) }
  const own = Object.entries(colours).map(([name, colour]) => `--${name}:${writeColour(colour)};`).join('')
  return `:root{${names}${own}${others}}`
}

/** Parses a colour. `checkAccent` has verified that the accent is one. */
function colourOf (text: string): Channels {
  return parseColour(text) as Channels
}

const LIGHT_COLOURS =
  '--text:#1d1e22;--muted:#585c66;--line:#dcdde1;--edge:#83868f;--danger:#b3261e;--on-danger:#ffffff;--wash:#fdf1ef;' +
  '--good:#1a6b3c;--good-wash:#edf7f0'
const DARK_COLOURS =
  '--text:#ececf0;--muted:#a9adb8;--line:#33363e;--edge:#7f838e;--danger:#ffb4ab;--on-danger:#3b0906;--wash:#2b1b1b;' +
  '--good:#86d7a4;--good-wash:#17291e'

/** Removes comments and unnecessary white space, which only developers need. */
function compress (rules: string): string {
  return rules
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(/: /g, ':')
    .trim()
}

const COMPRESSED = compress(FORM_RULES + RULES + RECORD_RULES)

/** The rules of the density `compact`. */
const COMPACT = 'td,.list td:first-child>*{padding-block:4px}'
