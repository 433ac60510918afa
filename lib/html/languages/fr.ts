import type { Operator } from '../../core/stores/store.js'
import { uncapitalize } from '../../core/util/words.js'
import { type Catalog, compileCondition, compilePlural, compileTypes, type KnownTexts, TIME_OF_DAY } from './grammar.js'

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

const digits = compilePlural('fr', { one: '# chiffre', other: '# chiffres' })
const nameTypes = compileTypes({
  string: 'un texte',
  integer: 'un nombre entier',
  number: 'un nombre',
  boolean: 'vrai ou faux',
  array: 'une liste',
  object: 'un groupe de valeurs',
  null: 'vide'
}, ' ou ')

/** The words of the pages in French. The spaces before colons and within quotation marks are no-break spaces. */
export const messages: Catalog = {
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
  leave: 'Revenir sans rien modifier',

  mustBeGiven: 'ce champ est obligatoire',
  mustNotBeBlank: 'ce champ est obligatoire',
  mustNotBeEmpty: 'ce champ est obligatoire',
  mustHaveAtLeastCharacters: ({ least }) => `au moins ${characters(least)}`,
  mustHaveAtMostCharacters: ({ most }) => `${characters(most)} au maximum`,
  mustBeAtLeast: ({ least }) => `la valeur doit être supérieure ou égale à ${least}`,
  mustBeAtMost: ({ most }) => `la valeur doit être inférieure ou égale à ${most}`,
  mustBeMoreThan: ({ limit }) => `la valeur doit être supérieure à ${limit}`,
  mustBeLessThan: ({ limit }) => `la valeur doit être inférieure à ${limit}`,
  mustBeMultipleOf: ({ factor }) => `la valeur doit être un multiple de ${factor}`,
  mustBeIntegerBetween: ({ least, most }) => `la valeur doit être un nombre entier entre ${least} et ${most}`,
  mustHaveAtLeastItems: ({ least }) => `au moins ${count(least)}`,
  mustHaveAtMostItems: ({ most }) => `${count(most)} au maximum`,
  mustNotRepeatItems: 'un même élément ne doit figurer qu’une fois',
  mustMatch: ({ pattern }) => `la valeur doit correspondre au modèle ${pattern}`,
  mustEqual: ({ value }) => `la valeur doit être ${value}`,
  mustBeOneOf: ({ values }) => `la valeur doit être l’une de celles-ci\u00a0: ${values}`,
  mustBeOfType: ({ types }) => `la valeur doit être ${nameTypes(types)}`,
  mustBeDate: 'la valeur doit être une date, comme 2026-01-31',
  mustBeTime: 'la valeur doit être une heure, comme 12:00:00Z',
  mustBeDateTime: 'la valeur doit être une date avec heure, comme 2026-01-31T12:00:00Z',
  mustBeLocalTime: 'la valeur doit être une heure sans fuseau horaire, comme 12:00:00',
  mustBeLocalDateTime: 'la valeur doit être une date avec heure sans fuseau horaire, comme 2026-01-31T12:00:00',
  mustBeDecimal: 'la valeur doit être un nombre décimal, comme -12.50',
  mustHaveDigitsBefore: ({ most }) => `${digits(most)} au maximum avant la virgule`,
  mustHaveNoDigitsBefore: 'seul 0 est possible avant la virgule',
  mustHaveDigitsAfter: ({ most }) => `${digits(most)} au maximum après la virgule`,
  mustBeWhole: 'la valeur doit être un nombre entier, sans virgule',
  mustBeBase64: 'la valeur doit être en base64 avec remplissage, comme aGVsbG8=',
  mustBeEmail: 'saisissez une adresse électronique valide',
  mustBeUrl: 'saisissez une adresse web complète',
  mustBeUuid: 'la valeur doit être un UUID en minuscules',
  mustHaveFormat: ({ format }) => `la valeur n’a pas le format «\u00a0${format}\u00a0»`,
  mustBeInEnumeration: 'la valeur ne fait pas partie des valeurs possibles',
  mustFitColumn: ({ type }) => `la valeur ne convient pas au type ${type}`,
  mustBeJson: 'la valeur doit être en JSON',
  mustHaveAtMostNames: ({ most }) => `${most} noms au maximum`,
  mustHaveAtMostAttributes: ({ most }) => `${most} informations au maximum`,
  mustBeStorable: 'la valeur contient des caractères qui ne peuvent pas être enregistrés',
  mustHaveWord: 'veuillez saisir un mot',
  mustHaveAtMostWords: ({ most }) => `${most} mots au maximum`,
  mustHaveAtMostValues: ({ most }) => `${most} valeurs au maximum`,
  hasUnknownEscape: 'une barre oblique inverse est sans effet. Écrivez \\, pour une virgule et \\\\ pour \\',
  refersToNothing: 'l’élément référencé n’existe pas',
  cannotBeStored: 'la valeur ne peut pas être enregistrée',
  isTaken: 'cette valeur est déjà utilisée',
  isTakenTogether: ({ others }) => `cette valeur est déjà utilisée avec «\u00a0${others}\u00a0»`,
  isInvalid: 'la valeur est incorrecte',
  isAssigned: 'la valeur est attribuée automatiquement',
  isUnknown: ({ near }) => near === undefined
    ? 'ce champ est inconnu'
    : `ce champ est inconnu. Vouliez-vous dire «\u00a0${near}\u00a0»\u202f?`,
  isLongName: ({ most }) => `le nom dépasse ${most} caractères`,
  isInvalidName: 'le nom est incorrect',
  isInvalidXmlName: 'le nom est incorrect',
  isNestedTooDeep: ({ most }) => `la valeur a plus de ${most} niveaux`,
  isTooComplex: 'la valeur est trop complexe pour être vérifiée',
  hasHyphen: ({ cure }) => `le nom contient un trait d’union. Écrivez «\u00a0${cure}\u00a0».`,
  hasInexactNumber: ({ number }) => `le nombre ${number} ne peut pas être enregistré avec exactitude`,
  hasNoColumn: 'aucune colonne de la table ne correspond',

  serverFailed: 'Une erreur s’est produite sur le serveur.',
  storeUnavailable:
    'Le service de données est indisponible pour le moment. Rien n’a été enregistré. Veuillez réessayer.',
  storeFull: 'L’espace de stockage est plein. Rien n’a été enregistré.',
  sequenceBehind:
    'La base de données a attribué un identifiant déjà utilisé. Rien n’a été enregistré. Sa séquence doit ' +
      'reprendre après le plus grand identifiant.',
  outcomeUnknown: 'Le service de données n’a pas répondu. Vérifiez si l’enregistrement a eu lieu avant de recommencer.',
  actionForbidden: () => 'Vous n’avez pas l’autorisation d’effectuer cette action.',
  idUnknown: ({ id }) => `Aucun élément ne porte l’ID ${id}.`,
  nothingHere: () => 'Il n’y a rien ici. L’élément a peut-être été supprimé.',
  slashAtEnd: 'Il n’y a rien ici. Retirez la barre oblique à la fin de l’adresse.',
  methodNotAllowed: () => 'Cette action n’est pas possible ici.',
  formatUnknown: ({ format, formats }) =>
    `Le format «\u00a0${format}\u00a0» n’existe pas. Formats disponibles\u00a0: ${formats}.`,
  crossSite: () => 'La requête vient d’un autre site et a été refusée.',
  existsAlready: () => 'Cet élément existe déjà.',
  stillReferenced: ({ referrers }) =>
    `D’autres éléments y font encore référence (${referrers}). Supprimez-les ou modifiez-les d’abord.`,
  referenceBroken: 'L’élément fait référence à un élément inexistant.',
  referenceRefused: 'L’élément fait référence à un élément inexistant, ou il est lui-même référencé ailleurs.',
  valuesTaken: 'Un élément avec ces valeurs existe déjà.',
  valueMissing: 'Une valeur obligatoire est absente.',
  valueRefused: 'La base de données refuse une valeur.',
  valueUnstorable:
    'Une valeur est trop longue ou trop grande, ou contient des caractères qui ne peuvent pas être enregistrés.',
  changedMeanwhile: () => 'L’élément a été modifié entre-temps. Veuillez recharger la page.',
  replacedMeanwhile: () => 'L’élément a été remplacé entre-temps. Veuillez recharger la page.',
  tooManyValues: ({ most }) => `La requête contient plus de ${most} valeurs.`,
  urlTooLong: ({ most }) => `L’adresse ne doit pas dépasser ${most} caractères.`,
  tooManyFields: ({ most }) => `Le formulaire a plus de ${most} champs.`,
  parameterUnknown: ({ name, near }) => near === undefined
    ? `Le paramètre «\u00a0${name}\u00a0» n’existe pas.`
    : `Le paramètre «\u00a0${name}\u00a0» n’existe pas. Vouliez-vous dire «\u00a0${near}\u00a0»\u202f?`,
  parameterRepeated: ({ name }) => `Le paramètre «\u00a0${name}\u00a0» ne doit figurer qu’une fois.`,
  limitInvalid: ({ most }) => `«\u00a0limit\u00a0» doit être un nombre de 1 à ${most}.`,
  offsetInvalid: ({ most }) =>
    `«\u00a0offset\u00a0» doit être un nombre de 0 à ${most}\u202f; pour continuer, suivez les liens vers la page ` +
    'suivante.',
  cannotSortBy: ({ name, near }) => near === undefined
    ? `Cette liste ne peut pas être triée par «\u00a0${name}\u00a0».`
    : `Cette liste ne peut pas être triée par «\u00a0${name}\u00a0». Vouliez-vous dire «\u00a0${near}\u00a0»\u202f?`,
  cursorInvalid: ({ parameter }) =>
    `Cette page de la liste n’existe pas. Retirez «\u00a0${parameter}\u00a0» pour revenir au début.`,
  cursorLost: ({ parameter }) =>
    `L’élément à la limite de cette page a été supprimé. Retirez «\u00a0${parameter}\u00a0» pour revenir au début.`
}

/** The texts of Node.js and Fastify in French. */
export const texts: KnownTexts = {
  'Bad Request': 'Requête incorrecte',
  Unauthorized: 'Connexion requise',
  'Payment Required': 'Paiement requis',
  Forbidden: 'Accès refusé',
  'Not Found': 'Page introuvable',
  'Method Not Allowed': 'Action impossible ici',
  'Not Acceptable': 'Format non disponible',
  'Request Timeout': 'Délai dépassé',
  Conflict: 'Conflit',
  Gone: 'Contenu supprimé',
  'Precondition Failed': 'Modifié entre-temps',
  'Payload Too Large': 'Trop de données',
  'URI Too Long': 'Adresse trop longue',
  'Unsupported Media Type': 'Type de données non pris en charge',
  'Unprocessable Entity': 'Saisie incorrecte',
  'Precondition Required': 'Version manquante',
  'Too Many Requests': 'Trop de requêtes',
  'Internal Server Error': 'Erreur du serveur',
  'Bad Gateway': 'Réponse incorrecte d’un autre serveur',
  'Service Unavailable': 'Service indisponible',
  'Gateway Timeout': 'Absence de réponse',
  'Insufficient Storage': 'Espace de stockage plein',
  'Request body is too large': 'La requête est trop volumineuse.'
}
