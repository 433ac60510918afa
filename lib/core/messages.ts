import type { TypeName } from './schema/types.js'
import { didYouMean } from './util/words.js'

interface Least {
  readonly least: number
}

interface Most {
  readonly most: number
}

interface Near {
  /** The known name that is most like the given one, or `undefined` if none is. */
  readonly near: string | undefined
}

/** A line of a CSV file, whose fields are not as many as the columns. */
interface CsvCount {
  readonly line: number
  readonly fields: number
  readonly columns: number
}

interface OfResource {
  readonly resource: string
}

/**
 * The English texts of what a page may have to tell its user, by code. Each text about an attribute follows its name.
 * The pages have a translation for each code. Mistakes that only programs make have no code, and stay English.
 */
export const ENGLISH_TEXTS = {
  mustBeGiven: 'must be given',
  mustNotBeBlank: 'must not be blank',
  mustNotBeEmpty: 'must not be empty',
  mustHaveAtLeastCharacters: ({ least }: Least): string => `must have at least ${least} characters`,
  mustHaveAtMostCharacters: ({ most }: Most): string => `must have at most ${count(most, 'character')}`,
  mustBeAtLeast: ({ least }: Least): string => `must be at least ${least}`,
  mustBeAtMost: ({ most }: Most): string => `must be at most ${most}`,
  mustBeMoreThan: ({ limit }: { readonly limit: number }): string => `must be more than ${limit}`,
  mustBeLessThan: ({ limit }: { readonly limit: number }): string => `must be less than ${limit}`,
  mustBeMultipleOf: ({ factor }: { readonly factor: number }): string => `must be a multiple of ${factor}`,
  mustBeIntegerBetween: ({ least, most }: { readonly least: string, readonly most: string }): string =>
    `must be an integer between ${least} and ${most}`,
  mustHaveAtLeastItems: ({ least }: Least): string => `must have at least ${count(least, 'item')}`,
  mustHaveAtMostItems: ({ most }: Most): string => `must have at most ${count(most, 'item')}`,
  mustNotRepeatItems: 'must not have the same item twice',
  mustMatch: ({ pattern }: { readonly pattern: string }): string => `must match ${pattern}`,
  mustEqual: ({ value }: { readonly value: string }): string => `must be ${value}`,
  mustBeOneOf: ({ values }: { readonly values: string }): string => `must be one of ${values}`,
  mustBeOfType: ({ types }: { readonly types: readonly TypeName[] }): string => `must be ${nameTypes(types)}`,
  mustBeDate: 'must be a date such as 2026-01-31',
  mustBeTime: 'must be a time such as 12:00:00Z',
  mustBeDateTime: 'must be a date and time such as 2026-01-31T12:00:00Z',
  mustBeLocalTime: 'must be a time without an offset, such as 12:00:00',
  mustBeLocalDateTime: 'must be a date and time without an offset, such as 2026-01-31T12:00:00',
  mustBeDecimal: 'must be a decimal number such as -12.50, without an exponent',
  mustHaveDigitsBefore: ({ most }: Most): string => `must have at most ${count(most, 'digit')} before the point`,
  mustHaveNoDigitsBefore: 'must have no digit but 0 before the point',
  mustHaveDigitsAfter: ({ most }: Most): string => `must have at most ${count(most, 'digit')} after the point`,
  mustBeWhole: 'must be a whole number without a point',
  mustBeBase64: 'must be base64 with padding, such as aGVsbG8=',
  mustHaveMediaType: ({ type }: { readonly type: string }): string => `must be a file of the type ${type}`,
  mustBeEmail: 'must be an e-mail address',
  mustBeUrl: 'must be an absolute URL',
  mustBeUuid: 'must be a UUID in lower case',
  mustHaveFormat: ({ format }: { readonly format: string }): string => `must be a valid ${format}`,
  mustBeInEnumeration: 'must be a value of the enumeration of its column',
  mustFitColumn: ({ type }: { readonly type: string }): string => `must be a value that the type ${type} can have`,
  mustBeJson: 'must be JSON',
  mustHaveAtMostNames: ({ most }: Most): string => `must not have more than ${most} names`,
  mustHaveAtLeastAttributes: ({ least }: Least): string => `must have at least ${count(least, 'attribute')}`,
  mustHaveAtMostAttributes: ({ most }: Most): string => `must not have more than ${most} attributes`,
  mustBeStorable: 'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored',
  mustHaveWord: 'must have a word',
  mustHaveAtMostWords: ({ most }: Most): string => `must have at most ${most} words`,
  mustHaveAtMostValues: ({ most }: Most): string => `must have at most ${most} values`,
  hasUnknownEscape: 'has a backslash without a meaning; write "\\," for a comma, and "\\\\" for a backslash',
  refersToNothing: 'refers to something that does not exist',
  cannotBeStored: 'cannot be stored',
  isTaken: 'is already taken',
  isTakenTogether: ({ others }: { readonly others: string }): string => `is already taken together with ${others}`,
  mustStayTheSame: 'must stay the same',
  doesNotFit: 'does not fit',
  isInvalid: 'is not valid',
  isAssigned: 'is assigned by the server; leave it out',
  isUnknown: ({ near }: Near): string => `is unknown${hint(near)}`,
  isLongName: ({ most }: Most): string => `is a name of more than ${most} characters`,
  isInvalidName: 'is not a valid name',
  isInvalidXmlName: 'is not a valid name in XML',
  isNestedTooDeep: ({ most }: Most): string => `is nested deeper than ${most} levels`,
  isTooComplex: 'is too complex to be checked',
  hasHyphen: ({ cure }: { readonly cure: string }): string =>
    `has a "-" in its name, which XML clients write for "_"; send "${cure}"`,
  hasInexactNumber: ({ number }: { readonly number: string }): string =>
    `has the number ${number}, which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308`,
  hasNoColumn: 'has no column in the table',

  serverFailed: 'something went wrong on the server',
  storeUnavailable: 'the store is not available now, and nothing was written; try again',
  readTooSlow:
    'reading this took too long; ask for fewer rows, or filter and sort by columns that have an index',
  storeFull: 'the store is full, and nothing was written',
  sequenceBehind:
    'the sequence of the ids is behind the rows, and nothing was written; it must go on from the greatest id',
  outcomeUnknown:
    'the store did not answer, and it is not known whether anything was written; look before you try again',
  actionForbidden: ({ action, resource }: OfResource & { readonly action: string }): string =>
    `you are not allowed to ${action} ${resource}`,
  idUnknown: ({ resource, id }: OfResource & { readonly id: string }): string =>
    `there is no ${resource} with the id ${id}`,
  nothingHere: ({ resource }: OfResource): string => `there is no ${resource} here`,
  slashAtEnd: 'there is nothing here: leave out the slash at the end of the path',
  methodNotAllowed: ({ method, allowed }: { readonly method: string, readonly allowed: string }): string =>
    `${method} is not allowed here; use ${allowed}`,
  formatUnknown: ({ format, formats }: { readonly format: string, readonly formats: string }): string =>
    `there is no format "${format}"; choose one of ${formats}`,
  crossSite: ({ origin }: { readonly origin: string }): string => `the request comes from ${origin}`,
  existsAlready: ({ resource }: OfResource): string => `the ${resource} exists already`,
  stillReferenced: ({ referrers }: { readonly referrers: string }): string =>
    `${referrers} still refer to it; delete or change them first`,
  referenceBroken: 'it refers to something that does not exist',
  referenceRefused: 'it refers to something that does not exist, or something else refers to it',
  valuesTaken: 'a row with these values exists already',
  valueMissing: 'a value that must be given is missing',
  valueRefused: 'the database refuses a value',
  valueUnstorable: 'an attribute is too long or too large, or has characters that cannot be stored',
  rowsAtFault: ({ faulty, count }: { readonly faulty: number, readonly count: number }): string =>
    `${count === 1 ? 'the only row' : `${digits(faulty)} of ${digits(count)} rows`} ` +
    `${faulty === 1 ? 'is' : 'are'} at fault; nothing was written`,
  changedMeanwhile: ({ resource }: OfResource): string =>
    `the ${resource} does not meet the If-Match, If-None-Match or _version of the request; read it again`,
  replacedMeanwhile: ({ resource }: OfResource): string => `the ${resource} has been replaced meanwhile; read it again`,
  keyReused: 'another request was carried out with the same Idempotency-Key; send a new key',
  keyInUse: 'a request with the same Idempotency-Key is still being carried out; try again',
  tooManyValues: ({ most }: Most): string => `the body has more than ${most} values`,
  urlTooLong: ({ most }: Most): string => `the URL must have at most ${most} characters`,
  fileNotUtf8: 'the file is not in UTF-8; in a spreadsheet, save it as CSV in UTF-8',
  fileIsEmpty: 'the file has no rows; its first line names the columns, and each further line is a row',
  fileHasTooManyRows: ({ most }: Most): string => `the file has more than ${most} rows; divide it`,
  fileTooLarge: ({ most }: { readonly most: string }): string => `the file has more than ${most}; divide it`,
  emptyFile: ({ name }: { readonly name: string }): string => `the file "${name}" is empty`,
  csvHeaderInvalid: ({ fault }: { readonly fault: string }): string => `line 1 ${fault}`,
  csvLineInvalid: ({ line, fault }: { readonly line: number, readonly fault: string }): string =>
    `line ${line} ${fault}`,
  csvFieldCount: ({ line, fields, columns }: CsvCount): string =>
    `line ${line} has another number of fields (${fields}) than the header (${columns})`,
  tooManyFields: ({ most }: Most): string => `the form has more than ${most} fields`,
  parameterUnknown: ({ name, near, cure = '' }: Near & { readonly name: string, readonly cure?: string }): string =>
    `the parameter "${name}" is unknown${hint(near)}${cure}`,
  parameterRepeated: ({ name }: { readonly name: string }): string => `the parameter "${name}" must be given once`,
  limitInvalid: ({ most }: Most): string => `"limit" must be a number from 1 to ${most}`,
  offsetInvalid: ({ most }: Most): string =>
    `"offset" must be a number from 0 to ${most}; follow the "next" links to read on`,
  cannotSortBy: ({ name, near }: Near & { readonly name: string }): string =>
    `"sort" names "${name}", by which this list cannot be sorted${hint(near)}`,
  cursorInvalid: ({ parameter, relation }: { readonly parameter: string, readonly relation: string }): string =>
    `"${parameter}" must come from a "${relation}" link of this list with the same order`,
  cursorLost: ({ end, parameter }: { readonly end: 'begins' | 'ends', readonly parameter: string }): string =>
    `the row at which the page ${end} has been deleted; start again without "${parameter}"`
}

/** The texts of a language by code. A text that varies is a function of its parameters. */
export type MessageTexts = Readonly<typeof ENGLISH_TEXTS>

/** The code of a message: `mustNotBeBlank`. */
export type MessageCode = keyof MessageTexts

type ParamsOf<C extends MessageCode> =
  MessageTexts[C] extends (params: infer P extends object) => string ? P : undefined

/** A message by its code and its parameters, as an app gives it: `{ code: 'mustBeAtMost', params: { most: 5 } }`. */
export type CodedMessage = {
  [C in MessageCode]: ParamsOf<C> extends object
    ? { readonly code: C, readonly params: ParamsOf<C> }
    : { readonly code: C, readonly params?: undefined }
}[MessageCode]

/** The code of a message about a query parameter, whose parameters are its name and the reason. */
export const ABOUT_PARAMETER = 'aboutParameter'

/** A message in English. By its code and its parameters, pages say the same in other languages. */
export class Message {
  /** What the message says. */
  readonly code: MessageCode | typeof ABOUT_PARAMETER
  /** The numbers and names in the text, by the parameters of the code. */
  readonly params: object | undefined
  /** The English text. */
  readonly text: string

  constructor (code: Message['code'], params: object | undefined, text: string) {
    this.code = code
    this.params = params
    this.text = text
  }

  /** Returns the English text. */
  toString (): string {
    return this.text
  }
}

/** A message with a code, or a text without one. */
export type Said = Message | string

/** Returns the message with this code. */
export function say<C extends MessageCode> (
  code: C,
  ...[params]: ParamsOf<C> extends object ? [params: ParamsOf<C>] : []
): Message {
  return new Message(code, params, writeMessage(ENGLISH_TEXTS, code, params))
}

/** Returns the message that an app has given by its code. Throws `TypeError` if there is no such code. */
export function sayCoded ({ code, params }: CodedMessage): Message {
  if (Object.hasOwn(ENGLISH_TEXTS, code)) return new Message(code, params, writeMessage(ENGLISH_TEXTS, code, params))
  const cure = didYouMean(code, Object.keys(ENGLISH_TEXTS))
  throw new TypeError(`there is no message with the code "${code}"${cure}`)
}

/** Returns the message that begins with the name of a query parameter. Pages translate the rest of it. */
export function sayAbout (parameter: string, reason: Said): Message {
  return new Message(ABOUT_PARAMETER, { parameter, reason }, `"${parameter}" ${String(reason)}`)
}

/** Writes a message in a language, whose texts have the parameters of its code. */
export function writeMessage (texts: MessageTexts, code: MessageCode, params: object | undefined): string {
  const text = texts[code] as string | ((params: object | undefined) => string)
  return typeof text === 'string' ? text : text(params)
}

const TYPES: Readonly<Record<TypeName, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null'
}

/** Returns the names of types in English: "an integer or null". */
export function nameTypes (types: readonly TypeName[]): string {
  return types.map((type) => TYPES[type]).join(' or ')
}

function digits (number: number): string {
  return number.toLocaleString('en')
}

function count (number: number, word: string): string {
  return `${number} ${number === 1 ? word : `${word}s`}`
}

function hint (near: string | undefined): string {
  return near === undefined ? '' : `; did you mean "${near}"?`
}
