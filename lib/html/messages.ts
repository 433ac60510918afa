import type { MessageTexts, Said } from '../core/messages.js'
import type { Id } from '../core/resource/row.js'
import type { Operator } from '../core/stores/store.js'

/** Translates a text of the app into the language of the page. */
export type TranslateText = (text: string) => string

/** Translates a message of the server, or a text of the app, into the language of the page. */
export type Translate = (said: Said) => string

/** Translations by English text. */
export type Phrases = Readonly<Record<string, string>>

/**
 * The words of the pages, and the messages about errors by their codes. A text that varies is a function, so that any
 * language can inflect. For the same arguments it must return the same text, because pages keep the result.
 */
export interface PageMessages extends MessageTexts {
  /** The name of the list: its heading, and the links to it. @default `plural`; for a singleton, `singular` */
  readonly heading: string
  /**
   * The plural name of the resource. The empty text stands for `genericPlural`.
   * @default its plural name in words: 'Blog posts'
   */
  readonly plural: string
  /**
   * The singular name of the resource within a sentence. The empty text stands for `genericSingular`.
   * @default its singular name in words: 'blog post'
   */
  readonly singular: string
  /** The word for rows whose plural name is not known. @default 'Records' */
  readonly genericPlural: string
  /** The word for a row whose singular name is not known, within a sentence. @default 'record' */
  readonly genericSingular: string
  /** The heading of the column of ids. @default 'Id' */
  readonly id: string
  /** The title of a row. @default 'Post 1' */
  readonly record: (singular: string, id: Id) => string
  /** The heading of the form for a new row. @default 'New post' */
  readonly new: (singular: string) => string
  /** The link of the home page to that form. @default 'New' */
  readonly newButton: string
  /** The heading of the form for a row. Its name is its title, or else `record`. @default 'Edit post 1' */
  readonly edit: (name: string) => string
  /** The link to the form for a row. @default 'Edit' */
  readonly editButton: string
  /** The link to the form for a copy of a row. @default 'Duplicate' */
  readonly duplicate: string
  /** The button that creates a row. @default 'Create post' */
  readonly create: (singular: string) => string
  /** The button that saves a row. @default 'Save changes' */
  readonly save: string
  /** The button that creates a row and leads to the blank form again. @default 'Save and add another' */
  readonly another: string
  /** The link that leaves a form without saving. @default 'Cancel' */
  readonly cancel: string
  /** The notice after a row was changed. @default 'Saved.' */
  readonly saved: string
  /**
   * The notice after several rows were changed. `counted` is their number, as `rowsOf` writes it.
   * @default '3 posts saved.'
   */
  readonly savedRows: (counted: string) => string
  /** The notice if none of these rows differed from what was sent. @default 'Nothing was changed.' */
  readonly savedNothing: string
  /** The notice after a row was created. @default 'Created.' */
  readonly created: string
  /** The notice after several rows were created. @default '3 posts created.' */
  readonly createdRows: (counted: string) => string
  /** The notice after a row was deleted. @default 'Deleted.' */
  readonly deleted: string
  /** The notice after several rows were deleted. @default '3 posts deleted.' */
  readonly deletedRows: (counted: string) => string
  /** The notice after a custom action that returns no row. @default 'Done.' */
  readonly done: string
  /** The notice after a custom action on several rows. @default 'Done: 3 posts.' */
  readonly doneRows: (counted: string) => string
  /** The line that unfolds the form for a deletion. @default 'Delete this post' */
  readonly delete: (singular: string) => string
  /** The warning of that form. The name begins with a capital letter. @default 'Post 1 will be deleted permanently.' */
  readonly deleteWarning: (name: string) => string
  /** The text below that warning, with the rows that are deleted, too. @default '9 comments will be deleted too.' */
  readonly deleteCascade: (referrers: string) => string
  /**
   * The text of that form if deleted rows can be restored. `referrers` are the rows that refer to the row, and `rows`
   * is their number.
   * @default '9 comments refer to this record. They are kept, and refer to nothing until it is restored.'
   */
  readonly deleteReferred: (referrers: string, rows: number) => string
  /**
   * The title of the page of a deletion that is refused. `referrers` are the rows that refer to the row, or `undefined`
   * if they are not known, and `rows` is their number.
   * @default 'Post 1 cannot be deleted: 9 comments refer to this record'
   */
  readonly undeletable: (name: string, referrers: string | undefined, rows: number) => string
  /**
   * The number of rows of another resource, in such a text. `digits` is the number as the language writes it, or
   * `moreRelated`.
   * @default '1,234 comments'
   */
  readonly rowsOf: (rows: number, digits: string, plural: string, singular: string) => string
  /** The button that deletes a row. @default 'Yes, delete it' */
  readonly deleteConfirm: string
  /** The text that unfolds the links which show or hide columns. @default 'Columns' */
  readonly columns: string
  /** The text that unfolds the links which show or hide sums, and the heading of their row. @default 'Sum' */
  readonly sum: string
  /**
   * The reason why a long list has no sums.
   * @default 'More than 10,000 posts are not added up: filter the list to see sums.'
   */
  readonly noSumOfMany: (digits: string, plural: string) => string
  /** The reason why a column has no sum. @default 'Price has no sum, because some of its values are not numbers.' */
  readonly noSumOf: (label: string) => string
  /** The text before the number of the rows of a list that are chosen. @default 'Chosen:' */
  readonly chosenRows: string
  /** The button that leads to the page that deletes them. @default 'Delete' */
  readonly deleteButton: string
  /** The button that leads to the page that changes them, and its choice to change an attribute. @default 'Change' */
  readonly changeButton: string
  /** The title of the page that deletes rows, and its button. @default 'Delete 3 posts' */
  readonly deleteRows: (rows: number, digits: string, plural: string, singular: string) => string
  /** The warning of that page. @default 'They will be deleted permanently.' */
  readonly deleteRowsWarning: (rows: number) => string
  /** The title of the page that changes rows. @default 'Change 3 posts' */
  readonly changeRows: (rows: number, digits: string, plural: string, singular: string) => string
  /** The choice of that page that leaves an attribute of all rows. @default 'Leave as it is' */
  readonly leaveAttribute: string
  /** The number of chosen rows that a page does not name. @default 'and 1,184 more' */
  readonly moreRows: (digits: string) => string
  /** The number of chosen rows that were deleted meanwhile. @default 'Not there any more: 2' */
  readonly missingRows: (digits: string) => string
  /** The button of these pages that chooses all rows of the list. @default 'Choose all 1,204 posts of the list' */
  readonly chooseAllRows: (rows: number, digits: string, plural: string, singular: string) => string
  /** The title of the page after no row was chosen. @default 'No posts are chosen' */
  readonly noneChosen: (plural: string) => string
  /** The link of a list to the rows that were deleted and can be restored. @default 'Show deleted' */
  readonly showDeleted: string
  /** The rows of that list. The plural begins with a capital letter. @default 'Deleted posts' */
  readonly deletedPlural: (plural: string) => string
  /** The link of a list to its rows as CSV. @default 'Download CSV' */
  readonly download: string
  /** The link of a list to the page that imports rows. @default 'Import' */
  readonly importButton: string
  /** The title of that page. @default 'Import posts' */
  readonly importRows: (plural: string) => string
  /** The label of the field for a file. @default 'CSV file' */
  readonly importFile: string
  /** The label of the field for the text of a file. @default 'Or the lines of a file' */
  readonly importText: string
  /** The hint of these fields, before the names of columns. @default 'The first line names the columns:' */
  readonly importColumns: string
  /** The label of the choice how rows are found. @default 'Find records by' */
  readonly importMatch: string
  /** The button that leads to the page that says what a file would do. @default 'Check' */
  readonly importCheck: string
  /** What the import of a file does, and its button. @default 'Create 1,190 and change 14' */
  readonly importDoes: (created: string | undefined, changed: string | undefined) => string
  /** What it does if all rows are already as the file has them. @default 'Nothing changes' */
  readonly importNothing: string
  /** The number of rows that are already as the file has them. @default 'Unchanged: 3' */
  readonly importUnchanged: (digits: string) => string
  /** The number of rows that are left out. @default 'Left out: 2' */
  readonly importLeftOut: (digits: string) => string
  /** The heading of the numbers of lines. @default 'Line' */
  readonly importLine: string
  /** The heading of the columns in which faults are. @default 'Column' */
  readonly importColumn: string
  /** The heading of the faults. @default 'Problem' */
  readonly importFault: string
  /** The button that downloads the rows at fault. @default 'Download the faulty rows' */
  readonly importFaulty: string
  /** The button that leads on without the rows at fault. @default 'Go on without them' */
  readonly importRest: string
  /** The line that unfolds the fields for another file. @default 'Choose another file' */
  readonly importAnother: string
  /** The line that unfolds the blank values of a row. @default '3 blank values' */
  readonly blank: (number: number) => string
  /** The text of a list without rows. @default 'There are no posts yet' */
  readonly empty: (plural: string) => string
  /** The advice below that text. @default 'Create the first post with the form below.' */
  readonly emptyAdvice: (singular: string) => string
  /** The text of a page after the last row. @default 'There are no more posts' */
  readonly noMore: (plural: string) => string
  /** The text of a list whose filter matches no row. @default 'No posts match the filter' */
  readonly noMatch: (plural: string) => string
  /** The link from such a list to the unfiltered one. @default 'See all posts' */
  readonly all: (plural: string) => string
  /** The number of rows. `digits` is the number as the language writes it. @default '1,234 posts' */
  readonly total: (rows: number, digits: string, plural: string, singular: string) => string
  /** The number of rows of a list that has even more. @default 'more than 10,000 posts' */
  readonly moreThan: (digits: string, plural: string) => string
  /** An estimate of the number of rows. @default 'about 1,234 posts' */
  readonly about: (digits: string, plural: string) => string
  /**
   * The place of a page in its list. `total` is a number in digits, or `moreRelated` if there are even more rows.
   * @default '1–50 of 1,234'
   */
  readonly range: (first: string, last: string, total: string) => string
  /**
   * The label of a link to rows of a resource that references a row by several attributes.
   * @default 'Orders: billing address'
   */
  readonly relatedBy: (plural: string, relation: string) => string
  /** The number beside such a link, if there are even more rows. @default 'more than 10,000' */
  readonly moreRelated: (digits: string) => string
  /** The label of the search, and its button. @default 'Search' */
  readonly search: string
  /**
   * A condition of the query. The value of `null` is `true` or `false`. `isTime` says that values are dates or times.
   * @default 'Rating at least 3'
   */
  readonly condition: (label: string, operator: Operator, value: string, isTime: boolean) => string
  /** The text for screen readers of the link that removes it. @default 'Remove: Rating at least 3' */
  readonly removeCondition: (condition: string) => string
  /** The words of an operator of such a condition, for the choice of one. @default 'at least' */
  readonly operator: (operator: Operator, value: string, isTime: boolean) => string
  /** The line that unfolds the choice of an attribute for one more condition, after a plus. @default 'Filter' */
  readonly filter: string
  /** The label of that choice. @default 'Filter by' */
  readonly filterBy: string
  /** The button that shows the fields of that condition, and that of a choice. @default 'Choose' */
  readonly chooseFilter: string
  /**
   * The title of the page on which a user chooses a row for a field, and the text of such buttons for screen readers.
   * @default 'Choose: Author'
   */
  readonly chooseOne: (label: string) => string
  /** The button that leads back to a form. @default 'Back' */
  readonly back: string
  /** The label of the first date of a range, after that of the attribute. @default 'from' */
  readonly rangeFrom: string
  /** The label of the last date of a range. @default 'to' */
  readonly rangeTo: string
  /** The link to the rows of today. @default 'Today' */
  readonly today: string
  /** The link to the rows of today and the six days before. @default 'Last 7 days' */
  readonly lastDays: string
  /** The link to the rows of this month. @default 'This month' */
  readonly thisMonth: string
  /** The button that filters the list. @default 'Apply filter' */
  readonly applyFilter: string
  /** The link that removes the filter. @default 'Clear filter' */
  readonly clearFilter: string
  /** The link to the next page. @default 'Next page' */
  readonly next: string
  /** The link to the previous page. @default 'Previous page' */
  readonly previous: string
  /** The link to the first page. @default 'First page' */
  readonly first: string
  /** The link to the last page. @default 'Last page' */
  readonly last: string
  /** The label of the bar with the links of the app, for screen readers. @default 'Resources' */
  readonly navigation: string
  /** The link of that bar to the home page, if there are more resources. @default 'All resources' */
  readonly allResources: string
  /** The same link if they are tables of a database. @default 'All tables' */
  readonly allTables: string
  /** The heading of the tables of a database on the home page, if it has views, too. @default 'Tables' */
  readonly tables: string
  /** The heading of its views. @default 'Views' */
  readonly views: string
  /** The heading of the names of resources on the home page. @default 'Name' */
  readonly resourceName: string
  /** The heading of the numbers of their rows. @default 'Rows' */
  readonly resourceRows: string
  /** The text of a home page without resources. @default 'There is nothing here yet' */
  readonly noResources: string
  /** The text before the links to other formats. @default 'Also as' */
  readonly alsoAs: string
  /** The label of the links at the top, for screen readers. @default 'You are here' */
  readonly breadcrumb: string
  /** The link that skips to the content. @default 'Skip to content' */
  readonly skip: string
  /** The link that skips to the rows of a list. @default 'Skip to the rows' */
  readonly skipToRows: string
  /** The text for `true`. @default 'yes' */
  readonly yes: string
  /** The text for `false`. @default 'no' */
  readonly no: string
  /** The number of items of an array in a list. `digits` is the number in the language. @default '1,234 items' */
  readonly items: (items: number, digits: string) => string
  /** One more value in a line of several. @default 'tea, coffee' */
  readonly listed: (values: string, value: string) => string
  /** The choice of no value. @default 'none' */
  readonly none: string
  /** The first line of a list of choices of which one is required. @default 'Choose…' */
  readonly choose: string
  /** The note beside the label of a field that may be left blank. @default 'optional' */
  readonly optional: string
  /** The hint of a field with one item per line. @default 'One per line.' */
  readonly oneALine: string
  /** The hint of a field for values that no other control can show. @default 'As JSON.' */
  readonly asJson: string
  /** The hint of a field for any value. `taken` says what its content is. @default 'JSON or plain text.' */
  readonly jsonOrText: (taken: 'json' | 'text' | undefined) => string
  /** The hint of a date that a calendar cannot show. @default 'For example 2026-01-31.' */
  readonly dateHint: string
  /** The hint of a text field for a date and time. @default 'For example 2026-01-31T12:00:00Z.' */
  readonly dateTimeHint: string
  /** The label of the field for its UTC offset. @default 'UTC offset' */
  readonly offset: string
  /** The hint of that field. @default 'Z for UTC, or for example +02:00.' */
  readonly offsetHint: string
  /** The hint of a `writeOnly` field of a row. @default 'Leave it blank to keep it as it is.' */
  readonly keepHidden: string
  /** The box below it that empties the attribute. @default 'Remove password' */
  readonly removeHidden: (label: string) => string
  /** The hint of such a field in a form that comes back. @default 'Type it again: it is never shown.' */
  readonly typeAgain: string
  /** What a file is called whose kind is unknown, before its size. @default 'File' */
  readonly file: string
  /**
   * The hint of a field for a file, in a form that comes back with the file that was chosen.
   * @default 'A file is chosen. It is sent unless you choose another one.'
   */
  readonly fileChosen: string
  /** The hint of a field of several lines with a maximum length. @default 'At most 120 characters.' */
  readonly atMost: (characters: number) => string
  /** The hint of an array with a minimum number of items. @default 'At least 2.' */
  readonly atLeast: (items: number) => string
  /** The label of an item. The `label` is that of the array, or the `title` of its items. @default 'Author 1' */
  readonly item: (label: string, number: number) => string
  /** The button that adds an item. @default 'Add an author' */
  readonly addTo: (label: string) => string
  /** The button that connects a record with each of the chosen ones. @default 'Add the chosen ones' */
  readonly addChosen: string
  /** The button that removes an item. @default 'Remove' */
  readonly removeItem: string
  /** The text of that button for screen readers. @default 'Remove author 1' */
  readonly remove: (label: string, number: number) => string
  /** The note on an attribute that a form cannot show. @default 'stays as it is; this form cannot show all of it.' */
  readonly kept: string
  /** The note on an attribute that forms the id. @default 'cannot be changed, because the id contains it.' */
  readonly fixed: string
  /** The note below a cut value. @default 'This is only the beginning: the first 100,000 characters.' */
  readonly beginning: string
  /** The heading of names: of further attributes, and of the rows that a field can reference. @default 'Name' */
  readonly attributeName: string
  /** The heading of the values of further attributes. @default 'Value' */
  readonly attributeValue: string
  /** The heading of further attributes, which have no schema. @default 'Further attributes' */
  readonly furtherAttributes: string
  /** The button that adds a row for a further attribute. @default 'Add an attribute' */
  readonly addAttribute: string
  /** An error about a field, after its label. @default 'Title must not be blank' */
  readonly fieldError: (label: string, error: string) => string
  /** A text after its label: the value of an offset, or a field after its group. @default 'Place: City' */
  readonly labelled: (label: string, value: string) => string
  /** The heading of the errors of a form. @default 'There is a problem' */
  readonly problem: string
  /** The title of a page whose form has errors. @default 'Problem: New post' */
  readonly problemTitle: (title: string) => string
  /** The title of the page about a conflict. @default 'This post has been changed meanwhile' */
  readonly stale: (singular: string) => string
  /**
   * The explanation of a conflict.
   * @default 'Somebody else has saved it since you opened it. Your changes were not saved, but nothing is lost.'
   */
  readonly staleAdvice: string
  /**
   * The explanation of a conflict about a deletion.
   * @default 'Somebody else has saved it since you opened it, so it was not deleted. Delete it all the same?'
   */
  readonly staleDeletion: string
  /** The advice below it. @default 'For each attribute that differs, choose the value to keep. Then save.' */
  readonly staleChoose: string
  /** The label of the value that the user sent. @default 'Yours' */
  readonly yours: string
  /** The label of the value that somebody else saved. @default 'Theirs' */
  readonly theirs: string
  /** The choice of the value that the user sent. @default 'Keep yours' */
  readonly keepYours: string
  /** The choice of the value that somebody else saved. @default 'Keep theirs' */
  readonly keepTheirs: string
  /** The heading of the attributes that both users have changed. @default 'Changed by both of you' */
  readonly bothChanged: string
  /** The heading of the attributes that only somebody else has changed. @default 'Changed by somebody else' */
  readonly theyChanged: string
  /** The choice of the value that such an attribute had before. @default 'Keep the old value' */
  readonly keepOld: string
  /** The choice of the value that it has now. @default 'Take the new value' */
  readonly takeNew: string
  /** The heading of the fields that only the user of the form has changed. @default 'Changed by you' */
  readonly youChanged: string
  /** The heading of the fields that nobody has changed, which are folded. @default 'Not changed by anybody' */
  readonly same: string
  /** The title of the page of a row that does not exist. @default 'This post does not exist' */
  readonly noRecord: (singular: string) => string
  /** The title of the page of an unknown path. @default 'This page does not exist' */
  readonly noPage: string
  /** The title of the form of a row that was deleted meanwhile. @default 'This post does not exist any more' */
  readonly gone: (singular: string) => string
  /**
   * The explanation of such a form.
   * @default 'Somebody has deleted it since you opened it. Your changes were not saved, but what you typed is here.'
   */
  readonly goneAdvice: string
  /** The button of such a form. @default 'Create it again' */
  readonly createAgain: string
  /** The link to the row that a form has created already. @default 'This was saved already' */
  readonly savedAlready: string
  /** The button that creates another row with that form. @default 'Save it as another one' */
  readonly saveAnother: string
  /** The link back to the row from a form, without saving. @default 'Discard my changes' */
  readonly discard: string
  /** The link back to a row that was to be deleted. @default 'Leave it as it is' */
  readonly leave: string
  /**
   * Translations of texts of the app: titles and descriptions of schemas, names of attributes, resources and custom
   * actions, such as `Published at`, `Comments`, `post`, and messages of its own errors. Also of English texts of the
   * server without variable parts.
   * @default {}
   *
   * @example
   * { People: 'Einwohner', 'is rude': 'ist unhöflich' }
   */
  readonly phrases: Phrases
}
