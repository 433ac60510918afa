import { closest, distance } from 'fastest-levenshtein'

/** Returns `; did you mean "title"?` if a name is nearly one of the known names, else the empty string. */
export function didYouMean (name: string, known: readonly string[]): string {
  // The cost grows with both lengths, and a client may send a long name.
  if (known.length === 0 || name.length > 64) return ''
  const nearest = closest(name.toLowerCase(), known.map((candidate) => candidate.toLowerCase()))
  const candidate = known.find((word) => word.toLowerCase() === nearest)
  if (candidate === undefined || distance(name.toLowerCase(), nearest) > Math.max(2, candidate.length / 2)) return ''
  return `; did you mean "${candidate}"?`
}
