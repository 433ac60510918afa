import type { Operator } from '../../../../core/stores/store.js'
import { uncapitalize } from '../../../../core/util/words.js'
import { compileCondition, compilePlural, type Language, TIME_OF_DAY } from '../../grammar.js'

const characters = compilePlural('fr', { one: '# caractère', other: '# caractères' })
const blank = compilePlural('fr', { one: '# valeur vide', other: '# valeurs vides' })
const count = compilePlural('fr', { one: '# élément', other: '# éléments' })

const OPERATORS = {
  eq: 'est',
  gte: 'au moins',
  gt: 'plus de',
  lte: 'au plus',
  lt: 'moins de',
  not: 'autre que',
  in: 'parmi',
  contains: 'contient',
  starts: 'commence par'
} as const

const OPERATORS_OF_DATES = {
  ...OPERATORS,
  gte: 'à partir du',
  gt: 'après le',
  lte: 'jusqu’au',
  lt: 'avant le'
} as const

const OPERATORS_OF_HOURS = { ...OPERATORS, gte: 'à partir de', gt: 'après', lte: 'jusqu’à', lt: 'avant' } as const

function writeOperator (operator: Operator, value: string, isTime: boolean): string {
  if (operator === 'null') return value === 'true' ? 'vide' : 'non vide'
  if (!isTime) return OPERATORS[operator]
  // A date has an article, and a time of day has none. The choice of an operator has no value yet.
  return (value === '' || TIME_OF_DAY.test(value) ? OPERATORS_OF_HOURS : OPERATORS_OF_DATES)[operator]
}

const TAKEN = { json: ' Ceci est du JSON.', text: ' Ceci est du texte brut.' }

/** The words of the pages in French. The spaces before colons and within quotation marks are no-break spaces. */
export const messages: Language['messages'] = {
  id: 'ID',
  record: (singular, id) => `${singular} ${id}`,
  new: (singular) => `Ajouter\u00a0: ${singular}`,
  edit: (name) => `Modifier\u00a0: ${name}`,
  editButton: 'Modifier',
  create: () => 'Ajouter',
  save: 'Enregistrer',
  another: 'Ajouter et saisir un autre élément',
  cancel: 'Annuler',
  saved: 'Modifications enregistrées.',
  created: 'Ajout effectué.',
  deleted: 'Suppression effectuée.',
  done: 'Opération effectuée.',
  delete: () => 'Supprimer',
  deleteWarning: (name) => `La suppression de «\u00a0${name}\u00a0» sera définitive.`,
  deleteConfirm: 'Oui, supprimer',
  blank: (number) => blank(number),
  empty: () => 'Aucun élément pour le moment',
  emptyAdvice: () => 'Ajoutez un premier élément avec le formulaire ci-dessous.',
  noMore: () => 'Aucun autre élément',
  noMatch: () => 'Aucun élément correspondant',
  all: () => 'Tout afficher',
  total: (rows, digits, plural, singular) =>
    `${digits} ${rows < 2 ? uncapitalize(singular) : uncapitalize(plural)}`,
  moreThan: (digits, plural) => `plus de ${digits} ${uncapitalize(plural)}`,
  about: (digits, plural) => `environ ${digits} ${uncapitalize(plural)}`,
  range: (first, last, total) => `${first}–${last} sur ${total}`,
  relatedBy: (plural, relation) => `${plural}\u00a0: ${relation}`,
  moreRelated: (digits) => `plus de ${digits}`,
  search: 'Rechercher',
  condition: compileCondition(writeOperator, '\u00a0: '),
  operator: writeOperator,
  filterBy: 'Filtrer par',
  chooseFilter: 'Choisir',
  chooseOne: (label) => `Choisir\u00a0: ${label}`,
  back: 'Retour',
  removeCondition: (condition) => `Retirer «\u00a0${condition}\u00a0»`,
  filter: 'Filtre',
  applyFilter: 'Appliquer le filtre',
  clearFilter: 'Effacer le filtre',
  next: 'Page suivante',
  previous: 'Page précédente',
  first: 'Première page',
  navigation: 'Rubriques',
  allResources: 'Toutes les rubriques',
  resourceName: 'Rubrique',
  resourceRows: 'Éléments',
  noResources: 'Rien à afficher pour le moment',
  alsoAs: 'Autres formats\u00a0:',
  breadcrumb: 'Vous êtes ici',
  skip: 'Aller au contenu',
  skipToRows: 'Aller à la liste',
  yes: 'oui',
  no: 'non',
  items: count,
  listed: (values, value) => `${values}, ${value}`,
  none: 'aucune valeur',
  choose: 'Choisir…',
  optional: 'facultatif',
  oneALine: 'Une valeur par ligne.',
  asJson: 'Au format JSON.',
  jsonOrText: (taken) => `JSON ou texte brut.${taken === undefined ? '' : TAKEN[taken]}`,
  dateHint: 'Par exemple 2026-01-31.',
  dateTimeHint: 'Par exemple 2026-01-31T12:00:00Z.',
  offset: 'Décalage UTC',
  offsetHint: 'Z pour UTC, ou par exemple +02:00.',
  keepHidden: 'Laissez vide pour conserver la valeur actuelle.',
  removeHidden: (label) => `Retirer\u00a0: ${uncapitalize(label)}`,
  typeAgain: 'Veuillez ressaisir cette valeur\u00a0: elle est toujours masquée.',
  atMost: (count) => `${characters(count)} au maximum.`,
  atLeast: (items) => `Au moins ${items}.`,
  item: (label, number) => `${label} ${number}`,
  addTo: (label) => `Ajouter\u00a0: ${uncapitalize(label)}`,
  removeItem: 'Retirer',
  remove: (label, number) => `Retirer\u00a0: ${uncapitalize(label)} ${number}`,
  kept: '(valeur conservée, car ce formulaire ne peut pas l’afficher en entier)',
  fixed: '(valeur non modifiable, car elle fait partie de l’ID)',
  beginning: 'Seul le début est affiché\u00a0: les 100\u202f000 premiers caractères.',
  attributeName: 'Nom',
  attributeValue: 'Valeur',
  furtherAttributes: 'Autres informations',
  addAttribute: 'Ajouter une information',
  fieldError: (label, error) => `${label}\u00a0: ${error}`,
  labelled: (label, value) => `${label}\u00a0: ${value}`,
  problem: 'Il y a un problème',
  problemTitle: (title) => `Erreur – ${title}`,
  stale: (singular) => `Conflit de modification\u00a0: ${singular}`,
  staleAdvice: 'Une autre personne a enregistré des modifications depuis que vous avez ouvert cette page. Les vôtres ' +
    'n’ont pas encore été appliquées, mais rien n’est perdu.',
  staleDeletion: 'Une autre personne a enregistré des modifications depuis que vous avez ouvert cette page. Rien ' +
    'n’a donc été supprimé. Supprimer quand même\u202f?',
  staleChoose: 'Pour chaque différence, choisissez la valeur à conserver, puis enregistrez.',
  yours: 'Votre valeur',
  theirs: 'L’autre valeur',
  keepYours: 'Conserver votre valeur',
  keepTheirs: 'Conserver l’autre valeur',
  bothChanged: 'Modifié par vous et par une autre personne',
  theyChanged: 'Modifié par une autre personne',
  keepOld: 'Conserver l’ancienne valeur',
  takeNew: 'Utiliser la nouvelle valeur',
  same: 'Non modifié par d’autres personnes',
  gone: (singular) => `Élément supprimé\u00a0: ${singular}`,
  goneAdvice: 'Quelqu’un a supprimé cet élément depuis que vous avez ouvert cette page. Vos modifications n’ont pas ' +
    'été enregistrées, mais votre saisie est conservée ici.',
  createAgain: 'Ajouter à nouveau',
  leave: 'Revenir sans rien modifier'
}
