import { InvalidQueryError } from '../../errors.js'
import { didYouMean } from '../../util/did-you-mean.js'

/** The parameters of a request's query, each at most once. */
export type QueryParameters = Readonly<Record<string, string | undefined>>

/**
 * @throws InvalidQueryError where one is unknown, repeated, or by the app's own parser no text
 */
export function checkQuery (query: unknown, known: readonly string[]): QueryParameters {
  for (const name in query as object) {
    if (!known.includes(name)) {
      throw new InvalidQueryError(`the parameter "${name}" is unknown${didYouMean(name, known)}`)
    }
    if (typeof (query as Record<string, unknown>)[name] !== 'string') {
      throw new InvalidQueryError(`the parameter "${name}" must be given once`)
    }
  }
  return query as QueryParameters
}

/** @throws InvalidQueryError */
export function parseLimit (text: string | undefined, maxLimit: number): number | undefined {
  if (text === undefined) return undefined
  const limit = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN
  if (!(limit <= maxLimit)) throw new InvalidQueryError(`"limit" must be a number from 1 to ${maxLimit}`)
  return limit
}
