import { lazy } from './functions.js'

/** The code points in which letters of two cases occur. The others need no look, which takes ten milliseconds. */
const RANGES: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x41, 0x2dff], [0xa640, 0xabff], [0xfb00, 0xfb06], [0xff21, 0xff5a],
  [0x10400, 0x10fff], [0x11800, 0x118ff], [0x16e00, 0x16eff], [0x1e900, 0x1e95f]
]

/** The characters by each character that has the same simple case folding as another one. */
const variants = lazy((): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const join = (a: string, b: string): void => {
    const [before, added] = [found.get(a) ?? a, found.get(b) ?? b]
    // `toUpperCase` and `toLowerCase` also change some characters that differ by folding, such as İ.
    if (before.includes(b) || !new RegExp(`^${a}$`, 'iu').test(b)) return
    const all = before + added
    for (const character of all) found.set(character, all)
  }
  // Some characters have the same upper case of several letters, such as two of the ligatures of "st".
  const byUpper = new Map<string, string>()
  for (const [first, last] of RANGES) {
    for (let point = first; point <= last; point++) {
      const character = String.fromCodePoint(point)
      const upper = character.toUpperCase()
      for (const other of [character.toLowerCase(), isSingle(upper) ? upper : byUpper.get(upper)]) {
        if (other !== undefined && other !== character && isSingle(other)) join(character, other)
      }
      if (!isSingle(upper)) byUpper.set(upper, character)
    }
  }
  return found
})

function isSingle (text: string): boolean {
  return text.length === (text.codePointAt(0) as number > 0xffff ? 2 : 1)
}

/**
 * Returns the characters that have the same simple case folding as this one, itself included: `kKK` for `k`
 * (Unicode 16 §5.18, `CaseFolding.txt`, status C and S).
 */
export function caseVariants (character: string): string {
  return variants().get(character) ?? character
}

/** Returns a regular expression for texts that contain a text, or begin with it, in letters of either case. */
export function ignoringCase (text: string, isStart: boolean): RegExp {
  return new RegExp((isStart ? '^' : '') + text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu')
}
