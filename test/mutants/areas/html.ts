import type { Mutant } from '../load.js'

export const tests = ['test/formats/html/pages/pages.test.ts', 'test/formats/html/values/long-values.test.ts', 'test/formats/property.test.ts', 'test/formats/html/languages/labels.test.ts']

const escape = 'lib/core/formats/escape.ts'
const tag = 'lib/html/html-tag.ts'
const values = 'lib/html/values/render-value.ts'
const labels = 'lib/html/languages/labels.ts'

export const mutants: readonly Mutant[] = [
  { file: labels, find: 'made.set(shape, copy)\n', replace: '', why: 'the labels of a value that contains itself are never translated to the end' },
  { file: labels, find: '[value, translate(title)]', replace: '[value, title]', why: 'choices keep their titles' },
  { file: labels, find: 'copy.rest = shape.rest && translateShape(shape.rest)\n', replace: 'copy.rest = undefined\n', why: 'an object with further members has a form without them' },
  { file: escape, find: "'<': '&lt;',", replace: "'<': '<',", why: '< is not escaped' },
  { file: escape, find: '\'"\': \'&quot;\',', replace: '\'"\': \'"\',', why: 'a quote is not escaped' },
  { file: escape, find: String.raw`/[^ !#-%'-;=?-\ud7ff\ue000-\ufffd]/`, replace: String.raw`/[^ -%'-;=?-\ud7ff\ue000-\ufffd]/`, why: 'an attribute whose one special character is a quote is clean' },
  { file: escape, find: String.raw`/[^\t\n -%'-;=?-\ud7ff\ue000-\ufffd]/`, replace: String.raw`/[^\t\n -%'-=?-\ud7ff\ue000-\ufffd]/`, why: 'a text whose one special character is < is clean' },
  { file: escape, find: String.raw`'\r': '&#13;',`, replace: String.raw`'\r': '\r',`, why: 'a carriage return is read as a line feed' },
  { file: escape, find: 'escapeBytes(text, BYTES_OF_ATTRIBUTE)', replace: 'escapeBytes(text, BYTES)', why: 'quotes in a long attribute are not escaped' },
  { file: escape, find: String.raw`text.replaceAll(/[\ufffe\uffff]/g, '\ufffd')`, replace: 'text', why: 'a long text has U+FFFE' },
  { file: escape, find: 'const LONGEST_REFERENCE = 6', replace: 'const LONGEST_REFERENCE = 4', why: 'a long text of quotes is cut off' },
  { file: tag, find: "if (typeof content === 'string') return escapeAttribute(content)", replace: "if (typeof content === 'string') return content", why: 'a text in a template is markup' },
  { file: tag, find: 'return escapeAttribute(String(content))', replace: 'return String(content)', why: 'an object in a template is markup' },
  { file: tag, find: 'content === undefined || content === false', replace: 'content === undefined', why: 'false is shown' },
  { file: tag, find: 'if (isPromise(content)) throw', replace: 'if (false) throw', why: 'a promise is shown as [object Promise]' },
  { file: values, find: String.raw`/^https?:\/\//i.test(text) ?`, replace: "text.includes(':') ?", why: 'javascript: becomes a link' },
  { file: values, find: 'text.length > CLIPPED) return escapeAttribute(clip', replace: 'false) return escapeAttribute(clip', why: 'a long text fills a table' },
  { file: values, find: '.replaceAll(/[?&#]/g, encodeURIComponent)', replace: '', why: 'an address adds a subject' },
  { file: 'lib/html/security-headers.ts', find: '{ ...POLICY, ...sourcesOf(brand), ...contentSecurityPolicy }', replace: '{ ...contentSecurityPolicy, ...POLICY, ...sourcesOf(brand) }', why: 'an app cannot change the policy' }
]
