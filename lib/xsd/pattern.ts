// These mean the same in ECMAScript (ECMA-262 §22.2.1) and in XML Schema 1.0 (Part 2 §F). `\d` and `.` do not.
const ESCAPE = String.raw`\\[\\|.?*+(){}[\]^nrt]`
const MEMBER = String.raw`(?:[^\\[\]^-]|\\-|${ESCAPE})`
const SET = String.raw`\[\^?(?:${MEMBER}(?:-${MEMBER})?)+\]`
const REPEAT = String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})?`
const COMMON = new RegExp(String.raw`^\^((?:[(|]|(?:[^\\^$.*+?()[\]{}|]|\)|${ESCAPE}|${SET})${REPEAT})*)\$$`, 'u')

/**
 * Returns a pattern of ECMAScript without its anchors, or undefined if XML Schema reads it differently. XML Schema
 * always matches the whole text.
 */
export function findCommonPattern (pattern: string): string | undefined {
  const [, source] = COMMON.exec(pattern) ?? []
  // A `|` outside groups, escapes and sets divides the anchors: `^a|b$` has one in each alternative.
  let outside = source?.replaceAll(/\\[^]|\[(?:\\[^]|[^\\\]])+\]/g, '') ?? '|'
  for (let before = ''; before !== outside;) {
    before = outside
    outside = outside.replaceAll(/\([^()]*\)/g, '')
  }
  return outside.includes('|') ? undefined : source
}
