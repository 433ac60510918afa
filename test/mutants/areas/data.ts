import type { Mutant } from '../load.js'

export const tests = ['test/http/response/answers.test.ts', 'test/schema/conversion.test.ts', 'test/formats/xml/vectors.test.ts', 'test/http/hostile.test.ts', 'test/routing/options.test.ts']

const json = 'lib/core/formats/json/read.ts'
const visible = 'lib/core/resource/visible.ts'
const parseXml = 'lib/core/formats/xml/parse.ts'
const xml = 'lib/core/formats/xml/read.ts'
const xmlWrite = 'lib/core/formats/xml/write.ts'
const carried = 'lib/core/formats/xml/carried.ts'

export const mutants: readonly Mutant[] = [
  { file: json, find: "text.includes('\\ufffd') && !isUtf8(body)", replace: 'false', why: 'bytes that are no UTF-8 are replaced' },
  { file: json, find: "text.includes('\\ufffd') && !isUtf8(body)", replace: "text.includes('\\ufffd')", why: 'a text with the replacement character is refused' },
  { file: json, find: 'if (text.length > MAX_VALUES) countValues(value)', replace: '', why: 'a JSON body has any number of values' },
  { file: json, find: 'if (inexact !== undefined) {', replace: 'if (false) {', why: 'a long number is rounded' },
  { file: 'lib/core/util/decimal.ts', find: '(index - first) % 2 === 1', replace: 'index > first', why: 'a text that ends with two backslashes does not end' },
  { file: json, find: 'depth > MAX_DEPTH) return', replace: 'false) return', why: 'a number far down is named' },
  { file: visible, find: 'filter(({ writeOnly }) => !writeOnly).map', replace: 'map', why: 'JSON shows passwords' },
  { file: visible, find: 'hide: writeOnly ? undefined : compile(shape)', replace: 'hide: compile(shape)', why: 'JSON shows inner passwords' },
  { file: 'lib/core/formats/hide-write-only.ts', find: 'writer.document(hide(row))', replace: 'writer.document(row)', why: 'the format of an app shows passwords' },
  { file: 'lib/core/formats/hide-write-only.ts', find: 'list.row(hide(row))', replace: 'list.row(row)', why: 'the list of an own format shows passwords' },
  { file: parseXml, find: "parser.on('doctype', () => { throw new MalformedBodyError('a DOCTYPE is not accepted') })", replace: '', why: 'a DOCTYPE is accepted' },
  { file: parseXml, find: 'this.#open.length >= MAX_DEPTH', replace: 'this.#open.length > MAX_DEPTH', why: 'XML is nested one level deeper' },
  { file: parseXml, find: 'checkValueCount(this.#attributes += Object.keys(element.attributes).length)', replace: '', why: 'XML has any number of attributes' },
  { file: parseXml, find: "parser.on('cdata', (text) => { this.#append(text) })", replace: '', why: 'CDATA is lost' },
  { file: parseXml, find: 'element.text += text', replace: 'element.text = text', why: 'a text around a comment is cut off' },
  { file: parseXml, find: 'else if (body[index + 1] !== LF)', replace: 'else', why: 'a line end of Windows is two' },
  { file: parseXml, find: 'idle = undefined\n', replace: '', why: 'a parser that failed is used again' },
  { file: parseXml, find: '!/^utf-?8$/i.test(encoding)', replace: 'false', why: 'XML that says latin-1 is read as UTF-8' },
  { file: xml, find: 'if (hasMembers(element)) refuse(name, describeStray', replace: 'if (false) refuse(name, describeStray', why: 'elements in an id are ignored' },
  { file: xml, find: "if (repeated) return issues.add(path, 'is given more than once')", replace: '', why: 'the last of two elements counts' },
  { file: xml, find: "name === 'nil' || name.endsWith(':nil')", replace: "name === 'nil'", why: 'xsi:nil is not nil' },
  { file: xml, find: 'repeated: members[name] !== undefined', replace: 'repeated: false', why: 'an element may be given twice' },
  { file: xml, find: 'known.has(name) ? name : spellings.get(name) ?? name', replace: 'spellings.get(name) ?? name', why: 'first-name means first_name though both are declared' },
  { file: xml, find: 'children.some(({ name }) => name !== first?.name)', replace: 'false', why: 'items of an array have any names' },
  { file: xmlWrite, find: 'start + escapeText(String(row.id))', replace: 'start + String(row.id)', why: 'ids are not escaped' },
  { file: xmlWrite, find: 'if (isOpenName(name)) text', replace: 'text', why: 'an open attribute has an element with any name' },
  { file: carried, find: 'return isPortableName(name) &&', replace: 'return', why: 'a member has an element with any name' },
  { file: carried, find: 'isLegalText(text) &&', replace: '', why: 'control characters stand in XML' },
  { file: carried, find: 'return !isEmpty', replace: 'return true', why: 'an empty object is written like null' },
  { file: xmlWrite, find: '!writeOnly && value !== undefined', replace: 'value !== undefined', why: 'XML shows inner passwords' },
  { file: xmlWrite, find: '.filter(({ writeOnly }) => !writeOnly)', replace: '', why: 'XML shows passwords' },
  { file: xmlWrite, find: 'errors === undefined\n', replace: 'true\n', why: 'XML does not name the attributes at fault' }
]
