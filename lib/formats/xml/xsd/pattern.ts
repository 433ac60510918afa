/** What a pattern is made of; in this order, the first that fits. */
const TOKENS = {
  group: /\((?:\?:)?(?!\?)/y,
  end: /\)/y,
  or: /\|/y,
  // Whether it is lazy makes no difference to whether the whole text fits.
  repeat: /([*+?]|\{\d+(?:,\d*)?\})\??/y,
  set: /\[(\^|(?!\^))((?:\\[^]|[^\\\]])+)\]/y,
  escaped: /\\([^])/y,
  any: /\./y,
  literal: /[^\\^$.*+?()[\]{}|]/yu
} as const

/** A character of a set, or two with all between them, or a hyphen that stands for itself. */
const MEMBER = /(\\[^]|[^\\])-(\\[^]|[^\\])|\\[^]|[^\\]/gu

/** Classes, which in XML Schema have the digits and letters of all scripts. */
const CLASSES: Readonly<Record<string, string>> = { d: '0-9', w: '0-9A-Z_a-z' }

/** What stands for itself by a backslash in both (XML Schema 1.0 Part 2 §F.1.1), or with one here and without one there. */
const SAME = '\\|.?*+(){}-[]^nrt'
const BARE = '$/'

/**
 * A pattern of ECMAScript as XML Schema writes it; undefined where it uses what the two read differently, or what only
 * one of them has. XML Schema matches the whole text: a pattern that does not is none of it.
 */
export function convertPattern (pattern: string): string | undefined {
  const source = /^\^([^]*)\$$/.exec(pattern)?.[1]
  if (source === undefined) return undefined
  let converted = ''
  let depth = 0
  for (let at = 0; at < source.length;) {
    const found = readToken(source, at)
    if (found === undefined) return undefined
    const { kind, match } = found
    if (kind === 'group') depth++
    if (kind === 'end') depth--
    // Without brackets around it, each anchor belongs to one alternative.
    const part = kind === 'or' && depth === 0 ? undefined : convertToken(kind, match)
    if (part === undefined) return undefined
    converted += part
    at += match[0].length
  }
  return converted
}

type TokenKind = keyof typeof TOKENS

function readToken (
  source: string,
  at: number
): { readonly kind: TokenKind; readonly match: RegExpExecArray } | undefined {
  for (const [kind, token] of Object.entries(TOKENS)) {
    token.lastIndex = at
    const match = token.exec(source)
    if (match !== null) return { kind: kind as TokenKind, match }
  }
  return undefined
}

function convertToken (kind: TokenKind, [text, first = '', second = '']: RegExpExecArray): string | undefined {
  switch (kind) {
    case 'group': return '('
    case 'repeat': return first
    case 'set': return convertSet(first, second)
    case 'escaped': return first in CLASSES ? `[${CLASSES[first]}]` : convertEscape(first)
    // ECMA-262 §22.2.2.7: a dot is no line terminator, of which XML Schema knows two.
    case 'any': return '[^\\n\\r\u2028\u2029]'
    default: return text
  }
}

function convertEscape (character: string): string | undefined {
  if (SAME.includes(character)) return `\\${character}`
  return BARE.includes(character) ? character : undefined
}

function convertSet (not: string, members: string): string | undefined {
  let converted = ''
  for (const [text, from, to] of members.matchAll(MEMBER)) {
    // libxml2 does not read a hyphen that is where a range begins.
    if (from === '-') return undefined
    const parts =
      from === undefined || to === undefined ? [convertMember(text)] : [convertMember(from), convertMember(to)]
    if (parts.includes(undefined)) return undefined
    converted += parts.join('-')
  }
  return `[${not}${converted}]`
}

function convertMember (text: string): string | undefined {
  const character = text.replace(/^\\(?=[^])/, '')
  if (text.length > character.length) return CLASSES[character] ?? convertEscape(character)
  return '[]^-'.includes(text) ? `\\${text}` : text
}
