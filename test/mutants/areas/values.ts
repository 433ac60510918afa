import type { Mutant } from '../load.js'

export const tests = ['test/schema/text-formats.test.ts', 'test/schema/conversion.test.ts', 'test/http/hostile.test.ts', 'test/formats/property.test.ts']

const convert = 'lib/core/schema/convert-text.ts'
const dates = 'lib/core/schema/date-time.ts'
const legal = 'lib/core/schema/legal-text.ts'
const value = 'lib/core/schema/validation/value-check.ts'
const validation = 'lib/core/schema/validation/validation.ts'
const textFormats = 'lib/core/schema/validation/text-formats.ts'
const issues = 'lib/core/schema/validation/issues.ts'
const decimal = 'lib/core/util/decimal.ts'

export const mutants: readonly Mutant[] = [
  { file: convert, find: 'Number.isSafeInteger(value) ? value : undefined', replace: 'Number.isInteger(value) ? value : undefined', why: 'a large integer is rounded' },
  { file: convert, find: '&& isExactNumber(text) ? Number', replace: '? Number', why: 'a number with many digits is rounded' },
  { file: convert, find: "if (trimmed === '') return blank", replace: "if (trimmed === '') return null", why: 'a blank is null where null does not fit' },
  { file: convert, find: 'const trimmed = text.trim()\n    if', replace: 'const trimmed = text\n    if', why: 'blanks around a number are no number' },
  { file: convert, find: "['1', true]", replace: "['yes', true]", why: '1 is not true' },
  { file: convert, find: String.raw`(?:\d+(?:\.\d*)?|\.\d+)`, replace: String.raw`(?:\d+(?:\.\d*)?)`, why: '.5 is no number' },
  { file: dates, find: 'year % 100 !== 0 || year % 400 === 0', replace: 'year % 100 !== 0', why: '2000 is no leap year' },
  { file: dates, find: 'Number(day) >= 1 &&', replace: '', why: 'a month has a day 0' },
  { file: dates, find: 'year === YEAR_0', replace: 'false', why: 'there is a year 0' },
  { file: dates, find: 'mayFollow(moment)', replace: 'true', why: 'each minute may have a leap second' },
  { file: dates, find: '1[0-3]):[0-5]', replace: '1[0-9]):[0-5]', why: 'an offset of 19 hours' },
  { file: dates, find: "text[DATE_LENGTH] === 'T' &&", replace: '', why: 'a blank may separate date and time' },
  { file: legal, find: '(!UNSTORABLE.test(text) && text.isWellFormed())', replace: '!UNSTORABLE.test(text)', why: 'half a character is a text' },
  { file: legal, find: "isStorableText(name) && name !== '__proto__'", replace: 'isStorableText(name)', why: '__proto__ is a name' },
  { file: 'lib/core/schema/limits.ts', find: 'levels === 0 ||', replace: '', why: 'a value is nested in any depth' },
  { file: value, find: 'isTooDeep(depth + 1, limit, path, issues)', replace: 'false', why: 'arrays are nested in any depth' },
  { file: value, find: 'if (check === undefined) delete members[name]', replace: 'if (check === undefined) continue', why: 'inner readOnly attributes are written' },
  { file: value, find: 'issues.add(at, `is unknown${didYouMean(name, names)}`)', replace: 'delete members[name]', why: 'unknown inner names are dropped' },
  { file: value, find: 'if (names.length <= MAX_OPEN_NAMES) return true', replace: 'if (names.length < MAX_OPEN_NAMES) return true', why: 'an open resource takes one name less' },
  { file: value, find: 'if (excess !== undefined) return issues.add', replace: 'if (false) return issues.add', why: 'an object has any number of names' },
  { file: validation, find: 'if (issues.size > 0) throw new InvalidError(', replace: 'if (false) throw new InvalidError(', why: 'nothing is invalid' },
  { file: validation, find: 'isStructure(value) ? structuredClone(value) : value', replace: 'value', why: 'rows share an object that is a default' },
  { file: validation, find: 'required && !readOnly', replace: 'required', why: 'a client must give what it must not' },
  { file: validation, find: 'if (unfit.has(name)) continue', replace: '', why: 'one fault is told twice' },
  { file: validation, find: 'countValues(value) <= MOST_VALUES', replace: 'false', why: 'of several faults in lines, one is told' },
  { file: validation, find: '!hasAlternatives()', replace: 'true', why: 'the faults of all alternatives are told' },
  { file: validation, find: 'all === TOO_COMPLEX ? errors : all', replace: 'all', why: 'a search for further faults that is too long is 500' },
  { file: issues, find: 'if (known.some((other) => isWithin(path, other) || isWithin(other, path))) continue', replace: '', why: 'a part that could not be read has a second fault' },
  { file: validation, find: 'if (error instanceof RangeError) return TOO_COMPLEX', replace: '', why: 'a pattern that is too complex is 500' },
  { file: validation, find: 'filter((name) => !ignored.has(name))', replace: 'filter(() => true)', why: 'an inner readOnly attribute must be given' },
  { file: textFormats, find: "error: { message: '', params: ({ parentSchema }) => _`{limit: ${limitOf(parentSchema as Digits)}}` },", replace: '', why: 'a message does not say how many digits a decimal may have' },
  { file: textFormats, find: 'countOf(text) <= limit', replace: 'countOf(text) < limit', why: 'a decimal has one digit less than its precision allows' },
  { file: textFormats, find: "encoding !== 'base64' || BASE64.isValid(text)", replace: 'true', why: 'base64 is not checked' },
  { file: 'lib/core/util/decimal.ts', find: 'if (sign === undefined) return undefined\n  const digits = alone ??', replace: 'if (sign === undefined) return undefined\n  const digits =', why: 'a text loses its digits before the point' },
  { file: 'lib/core/formats/form/date-time.ts', find: 'WITHOUT_SECONDS.test(text) ? `${text}:00` : text', replace: 'text', why: 'the time of a browser without seconds is refused' },
  { file: 'lib/html/forms/controls.ts', find: 'FLOAT.test(text) && isExactNumber(text)', replace: 'FLOAT.test(text)', why: 'a browser rounds a decimal' },
  { file: textFormats, find: "ajv.addFormat('uuid', isUuid)", replace: '', why: 'a UUID in capitals is one' },
  { file: issues, find: 'this.size >= LIMIT', replace: 'false', why: 'an answer tells any number of faults' },
  { file: issues, find: 'path.startsWith(`${outer}.`)', replace: 'path.startsWith(outer)', why: 'a fault of title_2 is one of title' },
  { file: issues, find: ".replaceAll('~1', '/').replaceAll('~0', '~')", replace: ".replaceAll('~0', '~').replaceAll('~1', '/')", why: 'a name with ~1 has a slash' },
  { file: 'lib/core/schema/limits.ts', find: 'count > MAX_VALUES', replace: 'count > MAX_VALUES * 10', why: 'a body has ten times as many values' },
  { file: 'lib/core/schema/limits.ts', find: 'if (isStructure(part)) structures.push(part)', replace: 'if (isStructure(part)) break', why: 'only the outer values are counted' },
  { file: decimal, find: '(exponent === kept.exponent || digits === \'\')', replace: 'true', why: '10 and 100 are the same number' },
  { file: decimal, find: 'if (!Number.isFinite(value)) return false', replace: '', why: '1e999 is exact' },
  { file: 'lib/core/util/truncate.ts', find: 'most - 1 : most)', replace: 'most : most)', why: 'a clipped text ends within a character' },
  { file: 'lib/core/util/own-property.ts', find: 'name in Object.prototype ? ownMember(members, name) : members[name]', replace: 'members[name]', why: 'an attribute called constructor is inherited' }
]
