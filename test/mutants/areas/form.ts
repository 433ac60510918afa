import type { Mutant } from '../load.js'

export const tests = ['test/schema/conversion.test.ts', 'test/formats/html/forms/rows.test.ts', 'test/formats/html/forms/fields.test.ts', 'test/http/hostile.test.ts', 'test/routing/options.test.ts', 'test/formats/html/forms/form-answers.test.ts', 'test/formats/html/forms/conflict-page.test.ts']

const parseForm = 'lib/core/formats/form/parse.ts'
const form = 'lib/core/formats/form/read.ts'

export const mutants: readonly Mutant[] = [
  { file: parseForm, find: '++count > MAX_FIELDS', replace: 'false', why: 'a form has any number of fields' },
  { file: parseForm, find: 'steps.length > MAX_BRACKETS', replace: 'false', why: 'a field is nested in any depth' },
  { file: parseForm, find: String.raw`.replaceAll('\r\n', '\n')`, replace: '', why: 'line ends of browsers are kept' },
  { file: parseForm, find: "text.split('+').join(' ')", replace: "text.replace('+', ' ')", why: 'only the first plus is a space' },
  { file: parseForm, find: "if (text.includes('\\ufffd')) throw", replace: 'if (false) throw', why: 'a form that is no UTF-8 is taken' },
  { file: parseForm, find: '!isWhole || steps[0]', replace: 'steps[0]', why: 'the last character of a malformed name is cut off' },
  { file: parseForm, find: 'Number(a) - Number(b)', replace: 'a.localeCompare(b)', why: 'row 10 comes before row 2' },
  { file: form, find: 'return texts.length === 1 ? texts[0] : texts', replace: 'return texts[0]', why: 'the first of two ids counts' },
  { file: form, find: 'texts.length > 1 && !isBoolean', replace: 'false', why: 'a field may be given twice' },
  { file: form, find: "isBoolean && text === 'on' ? true", replace: "text === 'on' ? true", why: 'the text on is true' },
  { file: form, find: "if (markerOf(node, 'keep') === 'theirs') return undefined", replace: '', why: 'the choice of a conflict does not count' },
  { file: form, find: 'mark !== undefined && !MARKS.has(mark)', replace: 'false', why: 'an unknown mark is ignored' },
  { file: 'lib/html/forms/conflicts.ts', find: "textsIn(node) !== '' || isStill(null) ? 'them' : undefined", replace: 'undefined', why: 'the page of a conflict hides a value in place of a blank one' },
  { file: 'lib/html/forms/conflicts.ts', find: "[['absent', 'removed'], ['json', 'json-removed']]", replace: '[]', why: 'a user cannot go back to the blank value that somebody else has replaced' },
  { file: form, find: 'array[Number(step)]', replace: 'node.children.get(step)', why: 'a blank field of a row is looked for by the number of its name' },
  { file: form, find: "takesPlainText(shape) && kindOfText(text) === 'text'", replace: "kindOfText(text) === 'text'", why: 'a field that takes no texts takes plain text' },
  { file: form, find: '(findNameFault(name) === undefined ? convertRest : undefined)', replace: 'convertRest', why: 'a form has names that cannot be stored' },
  { file: 'lib/core/formats/form/date-time.ts', find: 'normalize(was) === normalize(moment) ? was : moment', replace: 'moment', why: 'a moment that nobody changed loses its fraction' }
]
