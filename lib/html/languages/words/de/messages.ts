import type { Operator } from '../../../../core/stores/store.js'
import { capitalize } from '../../../../core/util/words.js'
import { compileCondition, compilePlural, type Language } from '../../grammar.js'

const characters = compilePlural('de', { one: '# Zeichen', other: '# Zeichen' })
const blank = compilePlural('de', { one: '# leerer Wert', other: '# leere Werte' })
const count = compilePlural('de', { one: '# Eintrag', other: '# Einträge' })

const OPERATORS = {
  eq: 'ist',
  gte: 'mindestens',
  gt: 'größer als',
  lte: 'höchstens',
  lt: 'kleiner als',
  not: 'ist nicht',
  in: 'ist einer der Werte',
  contains: 'enthält',
  starts: 'beginnt mit'
} as const

const OPERATORS_OF_TIMES = { ...OPERATORS, gte: 'ab', gt: 'nach', lte: 'bis', lt: 'vor' } as const

function writeOperator (operator: Operator, value: string, isTime: boolean): string {
  if (operator === 'null') return value === 'true' ? 'ist leer' : 'ist nicht leer'
  return (isTime ? OPERATORS_OF_TIMES : OPERATORS)[operator]
}

const TAKEN = { json: ' Dies ist JSON.', text: ' Dies ist einfacher Text.' }

/** The words of the pages in German. */
export const messages: Language['messages'] = {
  id: 'ID',
  record: (singular, id) => `${capitalize(singular)} ${id}`,
  new: (singular) => `${capitalize(singular)} anlegen`,
  edit: (name) => `„${name}“ bearbeiten`,
  editButton: 'Bearbeiten',
  create: (singular) => `${capitalize(singular)} anlegen`,
  save: 'Änderungen speichern',
  another: 'Speichern und weiteren Eintrag anlegen',
  cancel: 'Abbrechen',
  saved: 'Gespeichert.',
  created: 'Angelegt.',
  deleted: 'Gelöscht.',
  done: 'Erledigt.',
  delete: (singular) => `${capitalize(singular)} löschen`,
  deleteWarning: (name) => `„${name}“ wird endgültig gelöscht.`,
  deleteConfirm: 'Ja, löschen',
  blank: (number) => blank(number),
  empty: (plural) => `Noch keine ${plural}`,
  emptyAdvice: () => 'Legen Sie den ersten Eintrag mit dem Formular unten an.',
  noMore: (plural) => `Keine weiteren ${plural}`,
  noMatch: (plural) => `Keine passenden ${plural} gefunden`,
  all: (plural) => `Alle ${plural} anzeigen`,
  total: (rows, digits, plural, singular) => `${digits} ${rows === 1 ? capitalize(singular) : plural}`,
  moreThan: (digits, plural) => `mehr als ${digits} ${plural}`,
  about: (digits, plural) => `etwa ${digits} ${plural}`,
  range: (first, last, total) => `${first}–${last} von ${total}`,
  relatedBy: (plural, relation) => `${plural}: ${relation}`,
  moreRelated: (digits) => `mehr als ${digits}`,
  search: 'Suchen',
  condition: compileCondition(writeOperator, ': '),
  operator: writeOperator,
  filterBy: 'Filtern nach',
  chooseFilter: 'Auswählen',
  chooseOne: (label) => `${label} auswählen`,
  back: 'Zurück',
  removeCondition: (condition) => `„${condition}“ entfernen`,
  filter: 'Filter',
  applyFilter: 'Filter anwenden',
  clearFilter: 'Filter zurücksetzen',
  next: 'Nächste Seite',
  previous: 'Vorherige Seite',
  first: 'Erste Seite',
  navigation: 'Bereiche',
  allResources: 'Alle Bereiche',
  resourceName: 'Bereich',
  resourceRows: 'Einträge',
  noResources: 'Hier gibt es noch nichts',
  alsoAs: 'Auch als',
  breadcrumb: 'Sie sind hier',
  skip: 'Zum Inhalt springen',
  skipToRows: 'Zu den Einträgen springen',
  yes: 'ja',
  no: 'nein',
  items: count,
  listed: (values, value) => `${values}, ${value}`,
  none: 'keine Angabe',
  choose: 'Bitte wählen\u00a0…',
  optional: 'optional',
  oneALine: 'Ein Wert pro Zeile.',
  asJson: 'Als JSON.',
  jsonOrText: (taken) => `JSON oder einfacher Text.${taken === undefined ? '' : TAKEN[taken]}`,
  dateHint: 'Zum Beispiel 2026-01-31.',
  dateTimeHint: 'Zum Beispiel 2026-01-31T12:00:00Z.',
  offset: 'Zeitverschiebung zu UTC',
  offsetHint: 'Z für UTC oder zum Beispiel +02:00.',
  keepHidden: 'Leer lassen, um den bisherigen Wert zu behalten.',
  removeHidden: (label) => `${label} entfernen`,
  typeAgain: 'Bitte erneut eingeben: Der Wert wird nie angezeigt.',
  atMost: (count) => `Höchstens ${characters(count)}.`,
  atLeast: (items) => `Mindestens ${items}.`,
  item: (label, number) => `${label} ${number}`,
  addTo: (label) => `${label} hinzufügen`,
  removeItem: 'Entfernen',
  remove: (label, number) => `${label} ${number} entfernen`,
  kept: '(bleibt unverändert, weil dieses Formular nicht alles davon anzeigen kann)',
  fixed: '(nicht änderbar, weil Teil der ID)',
  beginning: 'Nur der Anfang wird angezeigt: die ersten 100.000 Zeichen.',
  attributeName: 'Name',
  attributeValue: 'Wert',
  furtherAttributes: 'Weitere Angaben',
  addAttribute: 'Angabe hinzufügen',
  fieldError: (label, error) => `„${label}“ ${error}`,
  labelled: (label, value) => `${label}: ${value}`,
  problem: 'Es gibt ein Problem',
  problemTitle: (title) => `Fehler: ${title}`,
  stale: (singular) => `${capitalize(singular)} wurde inzwischen geändert`,
  staleAdvice: 'Seit Sie diese Seite geöffnet haben, hat jemand anderes Änderungen gespeichert. Ihre Änderungen ' +
    'wurden noch nicht übernommen, aber es ist nichts verloren.',
  staleDeletion: 'Seit Sie diese Seite geöffnet haben, hat jemand anderes Änderungen gespeichert. Deshalb wurde ' +
    'nichts gelöscht. Trotzdem löschen?',
  staleChoose: 'Wählen Sie bei jeder Abweichung, welcher Wert gelten soll, und speichern Sie dann.',
  yours: 'Ihr Wert',
  theirs: 'Der andere Wert',
  keepYours: 'Ihren Wert behalten',
  keepTheirs: 'Den anderen Wert behalten',
  bothChanged: 'Von Ihnen und von jemand anderem geändert',
  theyChanged: 'Von jemand anderem geändert',
  keepOld: 'Alten Wert behalten',
  takeNew: 'Neuen Wert übernehmen',
  same: 'Von niemand anderem geändert',
  gone: (singular) => `${capitalize(singular)} existiert nicht mehr`,
  goneAdvice: 'Seit Sie diese Seite geöffnet haben, hat jemand den Eintrag gelöscht. Ihre Änderungen wurden nicht ' +
    'gespeichert, aber Ihre Eingaben sind noch hier.',
  createAgain: 'Erneut anlegen',
  leave: 'Unverändert lassen'
}
