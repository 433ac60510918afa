import { InvalidOptionError } from '../errors.js'
import type { Id } from './row.js'

/** The decoded path parameters of a request. */
export type Parameters = Readonly<Record<string, string | undefined>>

/** A path with parameters, written for Fastify's router: `/posts/:postId/comments`. */
export interface PathPattern {
  /** The encoded path, without the expressions that restrict parameters. */
  readonly text: string
  /** The names of the parameters in their order. */
  readonly names: readonly string[]
  /** Replaces each parameter by its value. */
  fill (parameters: Parameters): string
}

/** The path parameter for the suffix, unless the suffix follows an id. An app must not use the name. */
export const SUFFIX = '__suffix'

// A parameter may have an expression that restricts it: `:year(^\\d{4}$)`.
const PARAMETER = /:([A-Za-z_]\w*)(?:\([^()]*\))?/

/**
 * Compiles a path with parameters.
 * @throws InvalidOptionError if a parameter is a wildcard or optional, because links could not fill it in
 */
export function compilePath (option: string, path: string): PathPattern {
  if (!path.isWellFormed()) {
    throw new InvalidOptionError(option, `must not contain an unpaired surrogate, but "${path}" does`)
  }
  const parts = path.split(PARAMETER)
  const texts = parts.filter((_, index) => index % 2 === 0).map((text) => encodeURI(text))
  const names = parts.filter((_, index) => index % 2 === 1)
  if (texts.some((text) => /[*:()?]/.test(text))) {
    throw new InvalidOptionError(option, `must be a path whose parameters have names, as in "/:tenant", not "${path}"`)
  }
  if (names.includes(SUFFIX)) {
    throw new InvalidOptionError(option, `must not have a parameter called "${SUFFIX}", which is a reserved name`)
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    throw new InvalidOptionError(option, `must not have two parameters of one name, but "${path}" has "${twice}" twice`)
  }
  const [first = '', ...rest] = texts
  return {
    text: texts.map((text, index) => index === 0 ? text : `:${names[index - 1]}${text}`).join(''),
    names,
    fill (parameters) {
      let filled = first
      for (const [index, text] of rest.entries()) {
        filled += encodeSegment(parameters[names[index] as string] as string) + text
      }
      return filled
    }
  }
}

/** Returns a prefix with a slash at its beginning and none at its end. The option may have either, as in Fastify. */
export function normalizePrefix (prefix: unknown): string {
  if (typeof prefix !== 'string') {
    throw new InvalidOptionError('prefix', `must be a path such as '/blog', not ${String(prefix)}`)
  }
  if (prefix === '' || prefix === '/') return ''
  const inner = prefix.replace(/^\//, '').replace(/\/$/, '')
  // Clients resolve these segments before they send a request, and so ask for another path (WHATWG URL §4.4).
  if (inner.split('/').some((segment) => ['', '.', '..'].includes(segment))) {
    throw new InvalidOptionError(
      'prefix',
      `must be a path such as '/blog', without "." or ".." as a segment and without "//", not '${prefix}'`
    )
  }
  return `/${inner}`
}

function hasParameters (pattern: string): boolean {
  return pattern.includes(':')
}

/**
 * Returns the path of a file for pages, which has no parameters. Segments after the first parameter are joined by dots:
 * `/blog/posts` → `/blog/posts/<file>`, `/posts/:postId/comments` → `/posts/comments.<file>`.
 */
export function assetPath (pattern: string, file: string): string {
  const segments = pattern.split('/')
  const first = segments.findIndex(hasParameters)
  if (first === -1) return `${pattern}/${file}`
  const names = segments.slice(first).filter((segment) => !hasParameters(segment))
  return [...segments.slice(0, first), [...names, file].join('.')].join('/')
}

// Matches an id that needs no encoding and has no suffix.
const PLAIN = /^[\w-]+$/

/** Matches a dot before the word at the end of an id, which would begin a suffix, and its codes (`spellId`). */
const DOT = /(?:\.|%(?:25)*2E)(?=[a-z\d]+$)/

/**
 * Returns the text of an id in a path, before it is percent-encoded. If the id ends like a suffix, its last dot becomes
 * `%2E`, which a URL writes as `%252E`. A dot that is only percent-encoded is no other character (RFC 3986 §6.2.2.2):
 * many programs decode it, so that the id would lose its end. An id that ends with such a code gets another one.
 * @param suffixes the names of the formats, if one may follow the id
 */
export function spellId (id: Id, suffixes: readonly string[] = []): string {
  return String(id).replace(DOT, (dot, at: number, text: string) =>
    dot === '.' ? (suffixes.includes(text.slice(at + 1)) ? '%2E' : dot) : `%25${dot.slice(1)}`)
}

/** Returns the id that `spellId` has written as a text. */
export function readSpelling (text: string): string {
  return text.replace(DOT, (dot) => dot.length <= 3 ? '.' : `%${dot.slice(3)}`)
}

/** The beginning of the id of a row whose key no path can have. Such an id only names a position in a list. */
export const NO_PATH = '%['

/**
 * Returns whether a path can have an id: it is so short that `spellId` needs no more characters than a path parameter
 * may have.
 */
export function fitsPath (id: Id, longest: number): boolean {
  if (typeof id === 'number') return true
  return id.length + (DOT.test(id) ? 2 : 0) <= longest && !id.startsWith(NO_PATH)
}

/**
 * Returns the path of a row.
 * @param members the path before the ids of rows
 * @param suffixes the names of the formats
 */
export function memberPath (members: string, id: Id, suffixes: readonly string[]): string {
  return `${members}/${memberSegment(id, suffixes)}`
}

/** Encodes a text as a segment of a path. The comma, which joins the parts of an id, needs no code (RFC 3986 §3.3). */
function encodeSegment (text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2C', ',')
}

/** Returns the segment of an id. It needs no escape in markup either. */
export function memberSegment (id: Id, suffixes: readonly string[]): string {
  if (typeof id === 'number') return String(id)
  if (PLAIN.test(id)) return id
  return encodeSegment(spellId(id, suffixes))
}
