import { createHash } from 'node:crypto'
import type { Asset } from '../../core/formats/format.js'
import type { Brand } from './brand.js'
import { RULES } from './rules.js'

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

/**
 * Makes the stylesheet of the pages, with the accent colour, the font and the density of the app.
 * @param rules further rules
 */
export function makeStylesheet ({ accent, font, density }: StyleOptions, rules = ''): Asset {
  const fonts = font === undefined ? '' : `body,.list td::before{font-family:${font}}`
  const own = compress(rules) + fonts + (density === 'compact' ? COMPACT : '')
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

const COMPRESSED = compress(RULES)

/** The rules of the density `compact`. */
const COMPACT = 'td,tbody th,.list tbody th>*{padding-block:4px}'

/** The channels of a colour, each from 0 to 255. */
type Channels = readonly [red: number, green: number, blue: number]

const BLACK: Channels = [0, 0, 0]
const WHITE: Channels = [255, 255, 255]

/** Parses `#rgb` or `#rrggbb`. Returns `undefined` for any other text. */
export function parseColour (text: string): Channels | undefined {
  const [, digits] = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = parseInt(digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits, 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

/**
 * Returns the colour, darkened or lightened until it can be read on each of the backgrounds.
 * @param ratio the minimum contrast (WCAG 2.2 §1.4.3: 4.5 for text)
 */
function makeReadable (colour: Channels, backgrounds: readonly Channels[], ratio: number): Channels {
  const towards = luminance(backgrounds[0] as Channels) > 0.5 ? BLACK : WHITE
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, towards, share)
    if (backgrounds.every((background) => contrast(mixed, background) >= ratio)) return mixed
  }
  return towards
}

/** Returns black or white, whichever has the higher contrast with the colour. */
function textColourOn (colour: Channels): Channels {
  return contrast(BLACK, colour) > contrast(WHITE, colour) ? BLACK : WHITE
}

/** Writes a colour as `#rrggbb`. */
function writeColour (channels: Channels): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

/** Returns the contrast ratio of two colours (WCAG 2.2, "contrast ratio"). */
function contrast (a: Channels, b: Channels): number {
  const luminances = [luminance(a), luminance(b)]
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05)
}

/** Returns the relative luminance of a colour (WCAG 2.2, "relative luminance"). */
function luminance ([red, green, blue]: Channels): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function linear (channel: number): number {
  const share = channel / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}

function mix (from: Channels, to: Channels, share: number): Channels {
  const at = (index: 0 | 1 | 2): number => Math.round(from[index] + (to[index] - from[index]) * share)
  return [at(0), at(1), at(2)]
}
