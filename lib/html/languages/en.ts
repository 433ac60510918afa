import { ENGLISH_TEXTS } from '../../core/messages.js'
import { singularize } from '../../core/resource/inflection.js'
import type { Operator } from '../../core/stores/store.js'
import { uncapitalize } from '../../core/util/words.js'
import { type Catalog, TIME_OF_DAY } from './grammar.js'

const OPERATORS = {
  eq: 'is',
  gte: 'at least',
  gt: 'greater than',
  lte: 'at most',
  lt: 'less than',
  not: 'is not',
  in: 'is one of',
  contains: 'contains',
  starts: 'begins with'
} as const

/** The operators of dates and times that have other words. */
const OPERATORS_OF_TIMES = {
  ...OPERATORS,
  gte: 'is on or after',
  gt: 'is after',
  lte: 'is on or before',
  lt: 'is before'
} as const

const OPERATORS_OF_HOURS = { ...OPERATORS_OF_TIMES, gte: 'is at or after', lte: 'is at or before' } as const

function writeOperator (operator: Operator, value: string, isTime: boolean): string {
  if (operator === 'null') return value === 'true' ? 'is blank' : 'is not blank'
  if (isTime && TIME_OF_DAY.test(value)) return OPERATORS_OF_HOURS[operator]
  return (isTime ? OPERATORS_OF_TIMES : OPERATORS)[operator]
}

const TAKEN = { json: ' This is JSON.', text: ' This is plain text.' }

/** The English words that are the same for every resource. */
export const ENGLISH: Catalog = {
  id: 'Id',
  record: (singular, id) => `${singular} ${id}`,
  new: (singular) => `New ${singular}`,
  edit: (name) => `Edit ${name}`,
  editButton: 'Edit',
  create: (singular) => `Create ${singular}`,
  save: 'Save changes',
  another: 'Save and add another',
  cancel: 'Cancel',
  saved: 'Saved.',
  created: 'Created.',
  deleted: 'Deleted.',
  done: 'Done.',
  delete: (singular) => `Delete this ${singular}`,
  deleteWarning: (name) => `${name} will be deleted permanently.`,
  deleteConfirm: 'Yes, delete it',
  blank: (number) => number === 1 ? '1 blank value' : `${number} blank values`,
  empty: (plural) => `There are no ${uncapitalize(plural)} yet`,
  emptyAdvice: (singular) => `Create the first ${singular} with the form below.`,
  noMore: (plural) => `There are no more ${uncapitalize(plural)}`,
  noMatch: (plural) => `No ${uncapitalize(plural)} match the filter`,
  all: (plural) => `See all ${uncapitalize(plural)}`,
  total: (rows, digits, plural, singular) => `${digits} ${rows === 1 ? singular : uncapitalize(plural)}`,
  moreThan: (digits, plural) => `more than ${digits} ${uncapitalize(plural)}`,
  about: (digits, plural) => `about ${digits} ${uncapitalize(plural)}`,
  range: (first, last, total) => `${first}–${last} of ${total}`,
  relatedBy: (plural, relation) => `${plural}: ${relation}`,
  moreRelated: (digits) => `more than ${digits}`,
  search: 'Search',
  condition: (label, operator, value, isTime) =>
    `${label} ${writeOperator(operator, value, isTime)}${operator === 'null' ? '' : ` ${value}`}`,
  removeCondition: (condition) => `Remove: ${condition}`,
  operator: writeOperator,
  filter: 'Filter',
  filterBy: 'Filter by',
  chooseFilter: 'Choose',
  chooseOne: (label) => `Choose: ${label}`,
  back: 'Back',
  applyFilter: 'Apply filter',
  clearFilter: 'Clear filter',
  next: 'Next page',
  previous: 'Previous page',
  first: 'First page',
  navigation: 'Resources',
  allResources: 'All resources',
  resourceName: 'Name',
  resourceRows: 'Rows',
  noResources: 'There is nothing here yet',
  alsoAs: 'Also as',
  breadcrumb: 'You are here',
  skip: 'Skip to content',
  skipToRows: 'Skip to the rows',
  yes: 'yes',
  no: 'no',
  items: (items, digits) => `${digits} ${items === 1 ? 'item' : 'items'}`,
  listed: (values, value) => `${values}, ${value}`,
  none: 'none',
  choose: 'Choose\u2026',
  optional: 'optional',
  oneALine: 'One per line.',
  asJson: 'As JSON.',
  jsonOrText: (taken) => `JSON or plain text.${taken === undefined ? '' : TAKEN[taken]}`,
  dateHint: 'For example 2026-01-31.',
  dateTimeHint: 'For example 2026-01-31T12:00:00Z.',
  offset: 'UTC offset',
  offsetHint: 'Z for UTC, or for example +02:00.',
  keepHidden: 'Leave it blank to keep it as it is.',
  removeHidden: (label) => `Remove ${uncapitalize(label)}`,
  typeAgain: 'Type it again: it is never shown.',
  atMost: (characters) => `At most ${characters} characters.`,
  atLeast: (items) => `At least ${items}.`,
  item: (label, number) => `${singularize(label)} ${number}`,
  addTo: (label) => `Add ${withArticle(uncapitalize(singularize(label)))}`,
  removeItem: 'Remove',
  remove: (label, number) => `Remove ${uncapitalize(singularize(label))} ${number}`,
  kept: 'stays as it is; this form cannot show all of it.',
  fixed: 'cannot be changed, because the id contains it.',
  beginning: 'This is only the beginning: the first 100,000 characters.',
  attributeName: 'Name',
  attributeValue: 'Value',
  furtherAttributes: 'Further attributes',
  addAttribute: 'Add an attribute',
  fieldError: (label, error) => `${label} ${error}`,
  labelled: (label, value) => `${label}: ${value}`,
  problem: 'There is a problem',
  problemTitle: (title) => `Problem: ${title}`,
  stale: (singular) => `This ${singular} has been changed meanwhile`,
  staleAdvice: 'Somebody else has saved it since you opened it. Your changes were not saved, but nothing is lost.',
  staleDeletion: 'Somebody else has saved it since you opened it, so it was not deleted. Delete it all the same?',
  staleChoose: 'For each attribute that differs, choose the value to keep. Then save.',
  yours: 'Yours',
  theirs: 'Theirs',
  keepYours: 'Keep yours',
  keepTheirs: 'Keep theirs',
  bothChanged: 'Changed by both of you',
  theyChanged: 'Changed by somebody else',
  keepOld: 'Keep the old value',
  takeNew: 'Take the new value',
  same: 'Not changed by anybody else',
  gone: (singular) => `This ${singular} does not exist any more`,
  goneAdvice: 'Somebody has deleted it since you opened it. Your changes were not saved, but what you typed is here.',
  createAgain: 'Create it again',
  leave: 'Leave it as it is',
  ...ENGLISH_TEXTS
}

/** Matches words that begin with the sound of a vowel, as far as their letters tell. */
const VOWEL = /^(?:[ai]|e(?!u)|o(?!ne\b)|u(?!ni|s|rl)|hour|honest)/i

function withArticle (words: string): string {
  return `${VOWEL.test(words) ? 'an' : 'a'} ${words}`
}
