// What must be written otherwise: markup, CR (which a reader would turn into LF, XML 1.0 §2.11), and what no document may contain.
const SPECIAL = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/ // eslint-disable-line no-control-regex
const SPECIALS = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g // eslint-disable-line no-control-regex
const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;', '"': '&quot;' }

/** The text as the content of an element. What XML cannot carry becomes U+FFFD. */
export function escapeText (text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return SPECIAL.test(whole) ? whole.replace(SPECIALS, (character) => REFERENCES[character] ?? '\ufffd') : whole
}

// All of the above and what an attribute must not have, and any surrogate: a text without them needs no second look.
const SUSPECT = /[&<>"\t\n\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/ // eslint-disable-line no-control-regex

/** The text as the value of an attribute in double quotes (XML 1.0 §3.3.3: white space would be made a space). */
export function escapeAttribute (text: string): string {
  return !SUSPECT.test(text) ? text : escapeText(text).replace(/["\t\n]/g, (character) => REFERENCES[character] ?? `&#${character.charCodeAt(0)};`)
}
