/** The channels of a colour, each from 0 to 255. */
export type Channels = readonly [red: number, green: number, blue: number]

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
export function makeReadable (colour: Channels, backgrounds: readonly Channels[], ratio: number): Channels {
  const towards = luminance(backgrounds[0] as Channels) > 0.5 ? BLACK : WHITE
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, towards, share)
    if (backgrounds.every((background) => contrast(mixed, background) >= ratio)) return mixed
  }
  return towards
}

/** Returns black or white, whichever has the higher contrast with the colour. */
export function textColourOn (colour: Channels): Channels {
  return contrast(BLACK, colour) > contrast(WHITE, colour) ? BLACK : WHITE
}

/** Writes a colour as `#rrggbb`. */
export function writeColour (channels: Channels): string {
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
