import { isLegalText } from '../schema/legal-text.js'

// Matches markup, CR (which a reader would turn into LF, XML 1.0 §2.11), and characters that no document may contain.
const SPECIALS = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g // eslint-disable-line no-control-regex

// Matches the same in an attribute, where a reader would turn white space into a space (XML 1.0 §3.3.3).
const SPECIALS_OF_ATTRIBUTE = new RegExp(`["\\t\\n${SPECIALS.source.slice(1)}`, 'g')

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;'
}

// Matches all of the above, and surrogates. As a negated class of the clean characters it is 1.2 times faster.
const UNCLEAN = /[^\t\n -%'-;=?-\ud7ff\ue000-\ufffd]/
// Matches, in addition, the characters that must be escaped in an attribute.
const UNCLEAN_ATTRIBUTE = /[^ !#-%'-;=?-\ud7ff\ue000-\ufffd]/

/** Escapes a text as the content of an element. Characters that XML cannot carry become U+FFFD. */
export function escapeText (text: string): string {
  return UNCLEAN.test(text) ? text.toWellFormed().replace(SPECIALS, refer) : text
}

/** Does the same, or returns `undefined` if the text has a character that XML cannot carry. */
export function escapeLegal (text: string): string | undefined {
  if (!UNCLEAN.test(text)) return text
  return isLegalText(text) ? escapeText(text) : undefined
}

/** Escapes a text as the value of an attribute in double quotes. */
export function escapeAttribute (text: string): string {
  return UNCLEAN_ATTRIBUTE.test(text) ? text.toWellFormed().replace(SPECIALS_OF_ATTRIBUTE, refer) : text
}

function refer (character: string): string {
  return REFERENCES[character] ?? '\ufffd'
}
