import { closest, distance } from 'fastest-levenshtein'

/** `; did you mean "title"?` for a name that is nearly one of those known, else the empty string. */
export function didYouMean (name: string, known: readonly string[]): string {
  // The cost grows with both lengths, and the name is the client's: a longer one is no slip of the finger.
  if (known.length === 0 || name.length > 64) return ''
  const nearest = closest(name.toLowerCase(), known.map((candidate) => candidate.toLowerCase()))
  const candidate = known.find((word) => word.toLowerCase() === nearest)
  if (candidate === undefined || distance(name.toLowerCase(), nearest) > Math.max(2, candidate.length / 2)) return ''
  return `; did you mean "${candidate}"?`
}
