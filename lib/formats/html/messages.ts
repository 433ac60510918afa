import type { Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'

/**
 * All words of the pages. What varies is a function, so that any language can inflect; for the same arguments it gives
 * the same words, which are kept.
 */
export interface PageMessages {
  /** The name of the resource where many are meant. @default its plural name in words: 'Blog posts' */
  readonly plural: string
  /** The name of one, as it stands within a sentence. @default its singular name in words: 'blog post' */
  readonly singular: string
  /** The column of the ids. @default 'Id' */
  readonly id: string
  /** @default 'Post 1' */
  readonly record: (singular: string, id: Id) => string
  /** @default 'New post' */
  readonly new: (singular: string) => string
  /** Of a singleton the id is the empty text, as below. @default 'Edit post 1' */
  readonly edit: (singular: string, id: Id) => string
  /** A button. @default 'Create post' */
  readonly create: (singular: string) => string
  /** A button. @default 'Save changes' */
  readonly save: string
  /** What unfolds the question whether to delete. @default 'Delete this post' */
  readonly delete: (singular: string) => string
  /** @default 'Post 1 will be gone for good.' */
  readonly deleteWarning: (singular: string, id: Id) => string
  /** A button. @default 'Yes, delete it' */
  readonly deleteConfirm: string
  /** Of a list without rows. @default 'There are no posts yet' */
  readonly empty: (plural: string) => string
  /** @default 'Create the first post with the form below.' */
  readonly emptyAdvice: (singular: string) => string
  /** Of a page after the last row. @default 'There are no more posts' */
  readonly noMore: (plural: string) => string
  /** Of a list in which a filter has left no rows. @default 'No posts match the filter' */
  readonly noMatch: (plural: string) => string
  /** A link. @default 'See all posts' */
  readonly all: (plural: string) => string
  /** What unfolds the filter. @default 'Filter' */
  readonly filter: string
  /** A button. @default 'Apply filter' */
  readonly applyFilter: string
  /** A link. @default 'Clear filter' */
  readonly clearFilter: string
  /** In a filter, whatever value. @default 'any' */
  readonly any: string
  /** A link. @default 'Next page' */
  readonly next: string
  /** A link. @default 'First page' */
  readonly first: string
  /** A link to the whole of a text that is clipped. @default 'more' */
  readonly more: string
  /** The same for those who hear it. @default 'more of Body' */
  readonly moreOf: (label: string) => string
  /** What introduces the links to other formats. @default 'Also as' */
  readonly alsoAs: string
  /** For those who hear it, of the links at the top. @default 'You are here' */
  readonly breadcrumb: string
  /** @default 'Skip to content' */
  readonly skip: string
  /** @default 'yes' */
  readonly yes: string
  /** @default 'no' */
  readonly no: string
  /** The choice of nothing. @default 'none' */
  readonly none: string
  /** Beside the label of a field that may be left blank. @default 'optional' */
  readonly optional: string
  /** Beside a field of several lines, each an item. @default 'One a line.' */
  readonly oneALine: string
  /** Beside a field for what no other control can show. @default 'As JSON.' */
  readonly asJson: string
  /** @default 'As 2026-01-31.' */
  readonly dateHint: string
  /** @default 'As 2026-01-31T12:00:00Z.' */
  readonly dateTimeHint: string
  /** @default 'Date and time' */
  readonly dateTime: string
  /** @default 'UTC offset' */
  readonly offset: string
  /** @default 'Z for UTC, or such as +02:00.' */
  readonly offsetHint: string
  /** Beside a field that is never shown, where there may be a value. @default 'Leave it blank to keep it as it is.' */
  readonly keepHidden: string
  /** The same of a form that comes back. @default 'Type it again: it is never shown.' */
  readonly typeAgain: string
  /** @default 'At most 120 characters.' */
  readonly atMost: (characters: number) => string
  /** The heading of a row. @default 'Authors 1' */
  readonly item: (label: string, number: number) => string
  /** A button. @default 'Add to Authors' */
  readonly addTo: (label: string) => string
  /** A button. @default 'Remove Authors 1' */
  readonly remove: (label: string, number: number) => string
  /** Of an attribute that a form cannot show. @default 'stays as it is; this form cannot show all of it.' */
  readonly kept: string
  /** After a value that is cut. @default 'This is only the beginning: the first 100,000 characters.' */
  readonly beginning: string
  /** Of rows in which attributes are named. @default 'Name' */
  readonly attributeName: string
  /** @default 'Value' */
  readonly attributeValue: string
  /** @default 'Further attributes' */
  readonly furtherAttributes: string
  /** A button. @default 'Add an attribute' */
  readonly addAttribute: string
  /** The heading of what is wrong with a form. @default 'There is a problem' */
  readonly problem: string
  /** The title of such a page. @default 'Problem: New post' */
  readonly problemTitle: (title: string) => string
  /** @default 'This post has been changed meanwhile' */
  readonly stale: (singular: string) => string
  /** @default 'Somebody else has saved it since you opened it. Nothing of yours was written, and nothing is lost.' */
  readonly staleAdvice: string
  /** @default 'Choose for each attribute that differs what is to stay, then save.' */
  readonly staleChoose: string
  /** @default 'Yours' */
  readonly yours: string
  /** @default 'Theirs' */
  readonly theirs: string
  /** A choice. @default 'Keep yours' */
  readonly keepYours: string
  /** A choice. @default 'Keep theirs' */
  readonly keepTheirs: string
  /** The heading of what does not differ. @default 'The same in both' */
  readonly same: string
  /** A link. @default 'Leave it as it is' */
  readonly leave: string
  /**
   * What the server says in sentences, by its English: what is wrong with an attribute, titles and details of errors;
   * and the names of actions, of what belongs to a row, and of what rows belong to: `Publish`, `Comments`, `post`.
   * `{0}`, `{1}`… stand for what varies. @default {}
   *
   * @example
   * { 'must not be blank': 'darf nicht leer sein', 'must be at most {0}': 'darf höchstens {0} sein' }
   */
  readonly phrases: Readonly<Record<string, string>>
}

type Named = Pick<Resource, 'plural' | 'singular'> & Partial<Pick<Resource, 'singleton'>>

/** Those that are the same for each resource. */
const ENGLISH: Omit<PageMessages, 'plural' | 'singular' | 'edit' | 'deleteWarning'> = {
  id: 'Id',
  record: (singular, id) => `${capitalize(singular)} ${id}`,
  new: (singular) => `New ${singular}`,
  create: (singular) => `Create ${singular}`,
  save: 'Save changes',
  delete: (singular) => `Delete this ${singular}`,
  deleteConfirm: 'Yes, delete it',
  empty: (plural) => `There are no ${uncapitalize(plural)} yet`,
  emptyAdvice: (singular) => `Create the first ${singular} with the form below.`,
  noMore: (plural) => `There are no more ${uncapitalize(plural)}`,
  noMatch: (plural) => `No ${uncapitalize(plural)} match the filter`,
  all: (plural) => `See all ${uncapitalize(plural)}`,
  filter: 'Filter',
  applyFilter: 'Apply filter',
  clearFilter: 'Clear filter',
  any: 'any',
  next: 'Next page',
  first: 'First page',
  more: 'more',
  moreOf: (label) => `more of ${label}`,
  alsoAs: 'Also as',
  breadcrumb: 'You are here',
  skip: 'Skip to content',
  yes: 'yes',
  no: 'no',
  none: 'none',
  optional: 'optional',
  oneALine: 'One a line.',
  asJson: 'As JSON.',
  dateHint: 'As 2026-01-31.',
  dateTimeHint: 'As 2026-01-31T12:00:00Z.',
  dateTime: 'Date and time',
  offset: 'UTC offset',
  offsetHint: 'Z for UTC, or such as +02:00.',
  keepHidden: 'Leave it blank to keep it as it is.',
  typeAgain: 'Type it again: it is never shown.',
  atMost: (characters) => `At most ${characters} characters.`,
  item: (label, number) => `${label} ${number}`,
  addTo: (label) => `Add to ${label}`,
  remove: (label, number) => `Remove ${label} ${number}`,
  kept: 'stays as it is; this form cannot show all of it.',
  beginning: 'This is only the beginning: the first 100,000 characters.',
  attributeName: 'Name',
  attributeValue: 'Value',
  furtherAttributes: 'Further attributes',
  addAttribute: 'Add an attribute',
  problem: 'There is a problem',
  problemTitle: (title) => `Problem: ${title}`,
  stale: (singular) => `This ${singular} has been changed meanwhile`,
  staleAdvice: 'Somebody else has saved it since you opened it. Nothing of yours was written, and nothing is lost.',
  staleChoose: 'Choose for each attribute that differs what is to stay, then save.',
  yours: 'Yours',
  theirs: 'Theirs',
  keepYours: 'Keep yours',
  keepTheirs: 'Keep theirs',
  same: 'The same in both',
  leave: 'Leave it as it is',
  phrases: {}
}

/** The English words, of which an app replaces what it likes. */
export function makeMessages (
  { plural, singular, singleton = false }: Named,
  given: Partial<PageMessages>
): PageMessages {
  return {
    ...ENGLISH,
    plural: capitalize(wordsOf(plural)),
    singular: wordsOf(singular),
    edit: (singular, id) => singleton ? `Edit ${singular}` : `Edit ${singular} ${id}`,
    deleteWarning: (singular, id) =>
      `${singleton ? `This ${singular}` : `${capitalize(singular)} ${id}`} will be gone for good.`,
    ...given
  }
}

/** `blogPosts` → `blog posts`, `homeURL` → `home URL` */
export function wordsOf (name: string): string {
  const words = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(
      /(\p{Ll})(\p{Lu}+)/gu,
      (_, end: string, start: string) => `${end} ${start.length === 1 ? start.toLowerCase() : start}`
    )
  return uncapitalize(words)
}

/** `blog posts` → `Blog posts` */
export function capitalize (words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** But for an abbreviation. */
function uncapitalize (words: string): string {
  return /^\p{Lu}{2}/u.test(words) ? words : words.charAt(0).toLowerCase() + words.slice(1)
}
