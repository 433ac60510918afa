import { InvalidOptionError } from '../errors.js'

/** The parameters of a request's path, decoded. */
export type Parameters = Readonly<Record<string, string | undefined>>

/** A path with named parameters in it, as Fastify's router takes it: `/posts/:postId/comments`. */
export interface PathPattern {
  /** Encoded but for the parameters, and without expressions that restrict these. */
  readonly text: string
  /** The names of the parameters, in their order. */
  readonly names: readonly string[]
  /** The path with a value in the place of each parameter. */
  fill (parameters: Parameters): string
}

/** The parameter that has the suffix of a path which does not end with an id; none of the app's is called so. */
export const SUFFIX = '__suffix'

// A parameter may have an expression that restricts it: `:year(^\\d{4}$)`.
const PARAMETER = /:([A-Za-z_]\w*)(?:\([^()]*\))?/

/**
 * @throws InvalidOptionError where it has a wildcard, or a parameter that may be left out: no link could be made of it
 */
export function compilePath (option: string, path: string): PathPattern {
  if (!path.isWellFormed()) {
    throw new InvalidOptionError(option, `must be made of whole characters, but "${path}" has a half of one`)
  }
  const parts = path.split(PARAMETER)
  const texts = parts.filter((_, index) => index % 2 === 0).map((text) => encodeURI(text))
  const names = parts.filter((_, index) => index % 2 === 1)
  if (texts.some((text) => /[*:()?]/.test(text))) {
    throw new InvalidOptionError(option, `must be a path whose parameters have names, as "/:tenant" has, not "${path}"`)
  }
  if (names.includes(SUFFIX)) {
    throw new InvalidOptionError(option, `must not have a parameter called "${SUFFIX}", which has the suffix of a path`)
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
        filled += encodeURIComponent(parameters[names[index] as string] as string) + text
      }
      return filled
    }
  }
}
