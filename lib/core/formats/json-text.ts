import { describeInexact } from '../schema/convert-text.js'
import { countValues } from '../schema/limits.js'
import type { Issues } from '../schema/validation/issues.js'
import { findInexactNumber } from '../util/decimal.js'

const NONCHARACTERS = /[\ufffe\uffff]/g

/** Renders a value as JSON in which every character is legal in XML. */
export function renderJsonText (value: unknown): string {
  return escapeNoncharacters(JSON.stringify(value))
}

/** Escapes the characters of a JSON text that JSON allows, but XML does not. */
export function escapeNoncharacters (json: string): string {
  return json.replace(NONCHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
}

/** Reads the JSON text of an attribute or a part of it. Notes an issue if it is no JSON, or has an inexact number. */
export function readJsonText (text: string, path: string, issues: Issues): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return issues.add(path, 'must be JSON')
  }
  issues.countValues(countValues(value))
  const inexact = findInexactNumber(text)
  return inexact === undefined ? value : issues.add(path, describeInexact(inexact.text))
}

export function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns whether a text begins like a JSON object, array or string. */
export function beginsLikeJson (text: string): boolean {
  return /^[ \t\r\n]*[{["]/.test(text)
}
