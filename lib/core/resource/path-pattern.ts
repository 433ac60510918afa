import { InvalidOptionError } from '../errors.js'
import { encodeSegment } from './row-path.js'

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
