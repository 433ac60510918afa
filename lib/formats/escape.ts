// What must be written otherwise: markup, CR (which a reader would turn into LF, XML 1.0 §2.11), and what no document may contain.
const SPECIALS = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g // eslint-disable-line no-control-regex
// The same in an attribute, where white space would be made a space (XML 1.0 §3.3.3).
const SPECIALS_OF_ATTRIBUTE = /["\t\n&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g // eslint-disable-line no-control-regex
const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;', '"': '&quot;', '\t': '&#9;', '\n': '&#10;' }

// Anything but what is clean: all of the above, and halves of characters. Said so, it is found 1.2 times faster.
const UNCLEAN = /[^\t\n -%'-;=?-\ud7ff\ue000-\ufffd]/
// And what must not stand in an attribute.
const UNCLEAN_ATTRIBUTE = /[^ !#-%'-;=?-\ud7ff\ue000-\ufffd]/

/** Whether the text stays as it is, as content and as an attribute's value. */
export function isClean (text: string): boolean {
  return !UNCLEAN_ATTRIBUTE.test(text)
}

/** The text as the content of an element. What XML cannot carry becomes U+FFFD. */
export function escapeText (text: string): string {
  return UNCLEAN.test(text) ? text.toWellFormed().replace(SPECIALS, refer) : text
}

/** The text as the value of an attribute in double quotes. */
export function escapeAttribute (text: string): string {
  return UNCLEAN_ATTRIBUTE.test(text) ? text.toWellFormed().replace(SPECIALS_OF_ATTRIBUTE, refer) : text
}

function refer (character: string): string {
  return REFERENCES[character] ?? '\ufffd'
}
