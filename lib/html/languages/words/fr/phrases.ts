import { compilePlural, compileTypes, type Language } from '../../grammar.js'

const characters = compilePlural('fr', { one: '# caractère', other: '# caractères' })
const items = compilePlural('fr', { one: '# élément', other: '# éléments' })
const digits = compilePlural('fr', { one: '# chiffre', other: '# chiffres' })
const types = compileTypes({
  'a string': 'un texte',
  'an integer': 'un nombre entier',
  'a number': 'un nombre',
  'true or false': 'vrai ou faux',
  'an array': 'une liste',
  'an object': 'un groupe de valeurs',
  null: 'vide'
}, ' ou ')

const atMostCharacters = (most: string): string => `${characters(most)} au maximum`
const atLeastItems = (least: string): string => `au moins ${items(least)}`
const atMostItems = (most: string): string => `${items(most)} au maximum`
const digitsBefore = (most: string): string => `${digits(most)} au maximum avant la virgule`
const digitsAfter = (most: string): string => `${digits(most)} au maximum après la virgule`

/**
 * The texts of the server in French. The spaces before colons and within quotation marks are no-break spaces, those
 * before question marks narrow ones.
 */
export const phrases: Language['phrases'] = {
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

  'something went wrong on the server': 'Une erreur s’est produite sur le serveur.',
  'the store is not available now, and nothing was written; try again':
    'Le service de données est indisponible pour le moment. Rien n’a été enregistré. Veuillez réessayer.',
  'the store is full, and nothing was written': 'L’espace de stockage est plein. Rien n’a été enregistré.',
  'the sequence of the ids is behind the rows, and nothing was written; it must go on from the greatest id':
    'La base de données a attribué un identifiant déjà utilisé. Rien n’a été enregistré. Sa séquence ' +
      'doit reprendre après le plus grand identifiant.',
  'the store did not answer, and it is not known whether anything was written; look before you try again':
    'Le service de données n’a pas répondu. Vérifiez si l’enregistrement a eu lieu avant de recommencer.',
  'you are not allowed to {0} {1}': 'Vous n’avez pas l’autorisation d’effectuer cette action.',
  'there is no {0} with the id {1}': (_, id) => `Aucun élément ne porte l’ID ${id}.`,
  'there is no {0} here': 'Il n’y a rien ici. L’élément a peut-être été supprimé.',
  'there is nothing here: leave out the slash at the end of the path':
    'Il n’y a rien ici. Retirez la barre oblique à la fin de l’adresse.',
  '{0} is not allowed here; use {1}': 'Cette action n’est pas possible ici.',
  'none of the types in Accept is available here; choose one of {0}': 'Formats disponibles : {0}.',
  'there is no format "{0}"; choose one of {1}': 'Le format « {0} » n’existe pas. Formats disponibles : {1}.',
  '{0} cannot be read here; send {1}': 'Ce type de données ne peut pas être lu ici.',
  'the request comes from {0}': 'La requête vient d’un autre site et a été refusée.',
  'the {0} exists already': 'Cet élément existe déjà.',
  '{0} is already taken': 'La valeur de « {0} » est déjà utilisée.',
  '{0} is already taken together with {1}': 'La valeur de « {0} » est déjà utilisée avec « {1} ».',
  '{0} still refer to it; delete or change them first':
    'D’autres éléments y font encore référence ({0}). Supprimez-les ou modifiez-les d’abord.',
  'it refers to something that does not exist, or something else refers to it':
    'L’élément fait référence à un élément inexistant, ou il est lui-même référencé ailleurs.',
  'it refers to something that does not exist': 'L’élément fait référence à un élément inexistant.',
  'a row with these values exists already': 'Un élément avec ces valeurs existe déjà.',
  'a value that must be given is missing': 'Une valeur obligatoire est absente.',
  'the database refuses a value': 'La base de données refuse une valeur.',
  'an attribute is too long or too large, or has characters that cannot be stored':
    'Une valeur est trop longue ou trop grande, ou contient des caractères qui ne peuvent pas être enregistrés.',
  'the rows of this table cannot be written, because no key of it is unique':
    'Cette table ne peut pas être modifiée, car elle n’a pas de clé unique.',
  'the {0} does not meet the If-Match, If-None-Match or _version of the request; read it again':
    'L’élément a été modifié entre-temps. Veuillez recharger la page.',
  'the {0} has been replaced meanwhile; read it again':
    'L’élément a été remplacé entre-temps. Veuillez recharger la page.',
  'a new {0} has no version yet; leave out If-Match and _version':
    'Un nouvel élément n’a pas encore de version. Retirez If-Match et _version.',
  'send If-Match with the ETag of the {0} that you have read':
    'La version de l’élément manque (If-Match). Veuillez recharger la page.',
  '{0} is not a list of entity tags such as "1.xml"': '{0} n’est pas une liste d’ETags comme "1.xml".',
  'the version in If-Match or _version does not say which row it belongs to; {0}':
    'La version dans If-Match ou _version n’indique pas à quel élément elle se rapporte.',
  'the request names two ids: "{0}" and "{1}"': 'La requête indique deux ID : « {0} » et « {1} ».',
  'the body has more than {0} values': 'La requête contient plus de {0} valeurs.',
  'the URL must have at most {0} characters': 'L’adresse ne doit pas dépasser {0} caractères.',
  'Request body is too large': 'La requête est trop volumineuse.',
  'the body is not valid UTF-8': 'La requête n’est pas en UTF-8 valide.',
  'the body looks like {0}, but its Content-Type says that it is a form; send the header Content-Type: {1}':
    'La requête ressemble à du {0}, mais elle est envoyée comme formulaire. Envoyez l’en-tête Content-Type: {1}',
  'the form has a percent escape that is not valid UTF-8': 'Le formulaire contient des caractères non valides.',
  'the form has more than {0} fields': 'Le formulaire a plus de {0} champs.',
  'the form asks to add or remove a row, which only a page (text/html) can show':
    'Seule une page (text/html) peut ajouter ou retirer des lignes.',
  'the field name "{0}" is malformed': 'Le nom de champ « {0} » est incorrect.',
  'the field name "{0}" is nested too deep': 'Le nom de champ « {0} » a trop de niveaux.',
  'a row of the form must have one name, but has several': 'Une ligne du formulaire a plusieurs noms.',
  'a row of the form must have one name and one value': 'Chaque ligne du formulaire doit avoir un nom et une valeur.',
  '"id", "_method", "_version" and "commit" must be single fields, not parts such as id[a]':
    '« id », « _method », « _version » et « commit » doivent être des champs simples, sans parties comme id[a].',
  '"_method" must be PUT or DELETE, and given once': '« _method » doit être PUT ou DELETE et ne figurer qu’une fois.',
  '"_method" is allowed in a POST only; leave it out': '« _method » est réservé aux requêtes POST.',
  '"_version" must be given once': '« _version » ne doit figurer qu’une fois.',

  'a query must have at most {0} parameters': 'L’adresse ne doit pas avoir plus de {0} paramètres.',
  'the parameter "{0}" is unknown; did you mean "{1}"?':
    'Le paramètre « {0} » n’existe pas. Vouliez-vous dire « {1} » ?',
  'the parameter "{0}" is unknown; {1}': 'Le paramètre « {0} » n’existe pas.',
  'the parameter "{0}" is unknown': 'Le paramètre « {0} » n’existe pas.',
  'the parameter "{0}" must be given once': 'Le paramètre « {0} » ne doit figurer qu’une fois.',
  '"limit" must be a number from 1 to {0}': '« limit » doit être un nombre de 1 à {0}.',
  '"blank" must be "any", which ignores parameters without a value': '« blank » doit être « any ».',
  '"count" must be "true", or "estimate" if an estimate is enough': '« count » doit être « true » ou « estimate ».',
  '"q" must have a word': 'Veuillez saisir un mot à rechercher.',
  '"q" must have at most {0} words': 'La recherche ne doit pas avoir plus de {0} mots.',
  '"{0}" must not be empty': '« {0} » ne doit pas être vide.',
  '"{0}" needs "{1}"': '« {0} » nécessite « {1} ».',
  '"{0}" must have at most {1} values': '« {0} » ne doit pas avoir plus de {1} valeurs.',
  '"{0}" has a backslash without a meaning; write {1}':
    '« {0} » a une barre oblique inverse sans effet. Écrivez \\, pour une virgule et \\\\ pour \\.',
  '"{0}" names "{1}" twice': '« {0} » indique deux fois « {1} ».',
  '"{0}" must be names separated by commas, such as "{1}"':
    '« {0} » doit contenir des noms séparés par des virgules, comme « {1} ».',
  '"sort" names "{0}", by which this list cannot be sorted; did you mean "{1}"?':
    'Cette liste ne peut pas être triée par « {0} ». Vouliez-vous dire « {1} » ?',
  '"sort" names "{0}", by which this list cannot be sorted': 'Cette liste ne peut pas être triée par « {0} ».',
  '"sort" names "{0}" after "id", where it can have no effect: no two rows have the same id':
    'Trier par « {0} » après « id » reste sans effet.',
  '"sort" must name at most {0} attributes': '« sort » ne doit pas avoir plus de {0} noms.',
  '"only" names "{0}", which is not an attribute of {1}': '« only » indique « {0} », qui n’existe pas ici.',
  '"include" names "{0}", which is not a relation of {1}': '« include » indique « {0} », qui n’existe pas ici.',
  '"{0}" and "{1}" exclude each other; send one of them': '« {0} » et « {1} » s’excluent mutuellement.',
  '"offset" must be a number from 0 to {0}; follow the "next" links to read on':
    '« offset » doit être un nombre de 0 à {0} ; pour continuer, suivez les liens vers la page suivante.',
  '"{0}" must come from a "{1}" link of this list with the same order':
    'Cette page de la liste n’existe pas. Retirez « {0} » pour revenir au début.',
  'the row at which the page {0} has been deleted; start again without "{1}"':
    'L’élément à la limite de cette page a été supprimé. Retirez « {1} » pour revenir au début.',
  'this list has no previous pages; start again without "before"':
    'Cette liste n’a pas de pages précédentes. Retirez « before » pour revenir au début.',

  'must be given': 'ce champ est obligatoire',
  'must not be blank': 'ce champ est obligatoire',
  'must have at least {0} characters': (least) => `au moins ${characters(least)}`,
  'must have at most {0} characters': atMostCharacters,
  'must have at most {0} character': atMostCharacters,
  'must be at least {0}': 'la valeur doit être supérieure ou égale à {0}',
  'must be at most {0}': 'la valeur doit être inférieure ou égale à {0}',
  'must be more than {0}': 'la valeur doit être supérieure à {0}',
  'must be less than {0}': 'la valeur doit être inférieure à {0}',
  'must be a multiple of {0}': 'la valeur doit être un multiple de {0}',
  'must be an integer between {0} and {1}': 'la valeur doit être un nombre entier entre {0} et {1}',
  'must have at least {0} items': atLeastItems,
  'must have at least {0} item': atLeastItems,
  'must have at most {0} items': atMostItems,
  'must have at most {0} item': atMostItems,
  'must not have the same item twice': 'un même élément ne doit figurer qu’une fois',
  'must match {0}': 'la valeur doit correspondre au modèle {0}',
  'must be one of {0}': 'la valeur doit être l’une de celles-ci : {0}',
  'must be a date such as {0}': 'la valeur doit être une date, comme {0}',
  'must be a time such as {0}': 'la valeur doit être une heure, comme {0}',
  'must be a date and time such as {0}': 'la valeur doit être une date avec heure, comme {0}',
  'must be a date and time without an offset, such as {0}':
    'la valeur doit être une date avec heure sans fuseau horaire, comme {0}',
  'must be a time without an offset, such as {0}': 'la valeur doit être une heure sans fuseau horaire, comme {0}',
  'must be a decimal number such as {0}, without an exponent': 'la valeur doit être un nombre décimal, comme {0}',
  'must be a string; write a decimal number as a string: {0}': 'la valeur doit être un nombre décimal en texte : {0}',
  'must have at most {0} digits before the point': digitsBefore,
  'must have at most {0} digit before the point': digitsBefore,
  'must have no digit but 0 before the point': 'seul 0 est possible avant la virgule',
  'must have at most {0} digits after the point': digitsAfter,
  'must have at most {0} digit after the point': digitsAfter,
  'must be a whole number without a point': 'la valeur doit être un nombre entier, sans virgule',
  'must be base64 with padding, such as {0}': 'la valeur doit être en base64 avec remplissage, comme {0}',
  'must be base64': 'la valeur doit être en base64',
  'must be an e-mail address': 'saisissez une adresse électronique valide',
  'must be an absolute URL': 'saisissez une adresse web complète',
  'must be a UUID in lower case': 'la valeur doit être un UUID en minuscules',
  'must be a valid {0}': 'la valeur n’a pas le format « {0} »',
  'must be a value of the enumeration of its column': 'la valeur ne fait pas partie des valeurs possibles',
  'must be a value that the type {0} can have': 'la valeur ne convient pas au type {0}',
  'must be a group of attributes': 'la valeur doit être un groupe de valeurs',
  'must be JSON': 'la valeur doit être en JSON',
  'must number the items that have parts, as in [0][name]':
    'les éléments en plusieurs parties doivent avoir un numéro, comme [0][name]',
  'must be inside "{0}": send {1}': 'à placer dans « {0} » : {1}',
  'must be inside "{0}"': 'à placer dans « {0} »',
  'must not have more than {0} names': '{0} noms au maximum',
  'must not have more than {0} attributes': '{0} informations au maximum',
  'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored':
    'la valeur contient des caractères qui ne peuvent pas être enregistrés',
  'must be a text without U+0000 and unpaired surrogates':
    'la valeur contient des caractères qui ne peuvent pas être enregistrés',
  'must be {0}': (wanted) => `la valeur doit être ${types(wanted)}`,
  'refers to something that does not exist': 'l’élément référencé n’existe pas',
  'cannot be stored': 'la valeur ne peut pas être enregistrée',
  'is already taken': 'cette valeur est déjà utilisée',
  'is already taken together with {0}': 'cette valeur est déjà utilisée avec « {0} »',
  'is not valid': 'la valeur est incorrecte',
  'is assigned by the server; leave it out': 'la valeur est attribuée automatiquement',
  'consists of {0}; send that instead': 'est composé de {0} ; envoyez cela à la place',
  'is given more than once': 'la valeur figure plusieurs fois',
  'is given both as one value and in parts': 'la valeur figure à la fois entière et en parties',
  'is unknown beside "{0}"; did you mean "{1}"?':
    'ce champ est inconnu à côté de « {0} ». Vouliez-vous dire « {1} » ?',
  'is unknown beside "{0}"': 'ce champ est inconnu à côté de « {0} »',
  'is unknown; did you mean "{0}"?': 'ce champ est inconnu. Vouliez-vous dire « {0} » ?',
  'is unknown': 'ce champ est inconnu',
  'is a name of more than {0} characters': 'le nom dépasse {0} caractères',
  'is not a valid name': 'le nom est incorrect',
  'is not a valid name in XML': 'le nom est incorrect',
  'is nested deeper than {0} levels': 'la valeur a plus de {0} niveaux',
  'is too complex to be checked': 'la valeur est trop complexe pour être vérifiée',
  'has a "-" in its name, which XML clients write for "_"; send "{0}"':
    'le nom contient un trait d’union. Écrivez « {0} ».',
  'has the unknown marker "{0}"': 'la marque « {0} » est inconnue',
  'has the number {0}, which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308':
    'le nombre {0} ne peut pas être enregistré avec exactitude',
  'has no column in the table': 'aucune colonne de la table ne correspond'
}
