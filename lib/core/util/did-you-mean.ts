import { closest, distance } from 'fastest-levenshtein'

/** Returns `; did you mean "title"?` if a name is nearly one of the known names, else the empty string. */
export function didYouMean (name: string, known: readonly string[]): string {
  // The cost grows with both lengths, and a client may send a long name.
  if (known.length === 0 || name.length > 64) return ''
  const nearest = closest(name.toLowerCase(), known.map((candidate) => candidate.toLowerCase()))
  const candidate = known.find((word) => word.toLowerCase() === nearest) as string
  const changes = distance(name.toLowerCase(), nearest)
  // If every letter would change, the names have nothing in common, such as `x` and `q`.
  const isNear = changes <= Math.max(2, candidate.length / 2) && changes < Math.max(name.length, candidate.length)
  if (!isNear) return ''
  return `; did you mean "${candidate}"?`
}
