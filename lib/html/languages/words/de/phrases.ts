import { compilePlural, compileTypes, type Language } from '../../grammar.js'

const characters = compilePlural('de', { one: '# Zeichen', other: '# Zeichen' })
const items = compilePlural('de', { one: '# Eintrag', other: '# Einträge' })
const digits = compilePlural('de', { one: '# Stelle', other: '# Stellen' })
const types = compileTypes({
  'a string': 'ein Text',
  'an integer': 'eine ganze Zahl',
  'a number': 'eine Zahl',
  'true or false': 'wahr oder falsch',
  'an array': 'eine Liste',
  'an object': 'eine Gruppe von Werten',
  null: 'leer'
}, ' oder ')

/** The texts of the server in German. */
export const phrases: Language['phrases'] = {
  'Bad Request': 'Ungültige Anfrage',
  Unauthorized: 'Anmeldung erforderlich',
  'Payment Required': 'Zahlung erforderlich',
  Forbidden: 'Keine Berechtigung',
  'Not Found': 'Nicht gefunden',
  'Method Not Allowed': 'Hier nicht möglich',
  'Not Acceptable': 'Format nicht verfügbar',
  'Request Timeout': 'Zeitüberschreitung der Anfrage',
  Conflict: 'Konflikt',
  Gone: 'Nicht mehr vorhanden',
  'Precondition Failed': 'Inzwischen geändert',
  'Payload Too Large': 'Zu viele Daten',
  'URI Too Long': 'Adresse zu lang',
  'Unsupported Media Type': 'Datentyp nicht unterstützt',
  'Unprocessable Entity': 'Ungültige Eingaben',
  'Precondition Required': 'Version fehlt',
  'Too Many Requests': 'Zu viele Anfragen',
  'Internal Server Error': 'Fehler auf dem Server',
  'Bad Gateway': 'Ungültige Antwort eines anderen Servers',
  'Service Unavailable': 'Zurzeit nicht verfügbar',
  'Gateway Timeout': 'Keine Antwort erhalten',
  'Insufficient Storage': 'Speicher voll',

  'something went wrong on the server': 'Auf dem Server ist ein Fehler aufgetreten.',
  'the store is not available now, and nothing was written; try again':
    'Der Datenspeicher ist gerade nicht erreichbar. Es wurde nichts gespeichert. Bitte versuchen Sie es noch einmal.',
  'the store is full, and nothing was written': 'Der Datenspeicher ist voll. Es wurde nichts gespeichert.',
  'the sequence of the ids is behind the rows, and nothing was written; it must go on from the greatest id':
    'Die Datenbank hat eine Nummer vergeben, die es schon gibt. Es wurde nichts gespeichert. Ihre ' +
      'Sequenz muss ab der größten Nummer weiterzählen.',
  'the store did not answer, and it is not known whether anything was written; look before you try again':
    'Der Datenspeicher hat nicht geantwortet. Prüfen Sie, ob gespeichert wurde, bevor Sie es noch einmal versuchen.',
  'you are not allowed to {0} {1}': 'Für diese Aktion fehlt Ihnen die Berechtigung.',
  'there is no {0} with the id {1}': (_, id) => `Es gibt keinen Eintrag mit der ID ${id}.`,
  'there is no {0} here': 'Hier gibt es nichts. Vielleicht wurde der Eintrag gelöscht.',
  'there is nothing here: leave out the slash at the end of the path':
    'Hier gibt es nichts. Lassen Sie den Schrägstrich am Ende der Adresse weg.',
  '{0} is not allowed here; use {1}': 'Diese Aktion ist hier nicht möglich.',
  'none of the types in Accept is available here; choose one of {0}': 'Verfügbar sind: {0}.',
  'there is no format "{0}"; choose one of {1}': 'Das Format „{0}“ gibt es nicht. Verfügbar sind: {1}.',
  '{0} cannot be read here; send {1}': 'Diese Art von Daten kann hier nicht gelesen werden.',
  'the request comes from {0}': 'Die Anfrage kommt von einer anderen Website und wurde abgelehnt.',
  'the {0} exists already': 'Der Eintrag ist bereits vorhanden.',
  '{0} is already taken': 'Der Wert von „{0}“ ist bereits vergeben.',
  '{0} is already taken together with {1}': 'Der Wert von „{0}“ ist zusammen mit „{1}“ bereits vergeben.',
  '{0} still refer to it; delete or change them first':
    'Andere Einträge verweisen noch darauf ({0}). Löschen oder ändern Sie diese zuerst.',
  'it refers to something that does not exist, or something else refers to it':
    'Der Eintrag verweist auf etwas, das es nicht gibt, oder etwas anderes verweist auf ihn.',
  'it refers to something that does not exist': 'Der Eintrag verweist auf etwas, das es nicht gibt.',
  'a row with these values exists already': 'Es gibt bereits einen Eintrag mit diesen Werten.',
  'a value that must be given is missing': 'Eine Pflichtangabe fehlt.',
  'the database refuses a value': 'Die Datenbank lehnt einen Wert ab.',
  'an attribute is too long or too large, or has characters that cannot be stored':
    'Eine Angabe ist zu lang oder zu groß, oder sie enthält Zeichen, die nicht gespeichert werden können.',
  'the rows of this table cannot be written, because no key of it is unique':
    'Diese Tabelle kann nicht geändert werden, weil sie keinen eindeutigen Schlüssel hat.',
  'the {0} does not meet the If-Match, If-None-Match or _version of the request; read it again':
    'Der Eintrag wurde inzwischen geändert. Bitte laden Sie ihn neu.',
  'the {0} has been replaced meanwhile; read it again':
    'Der Eintrag wurde inzwischen ersetzt. Bitte laden Sie ihn neu.',
  'a new {0} has no version yet; leave out If-Match and _version':
    'Ein neuer Eintrag hat noch keine Version. Lassen Sie If-Match und _version weg.',
  'send If-Match with the ETag of the {0} that you have read':
    'Die Version des Eintrags fehlt (If-Match). Bitte laden Sie ihn neu.',
  '{0} is not a list of entity tags such as "1.xml"': '{0} ist keine Liste von ETags wie "1.xml".',
  'the version in If-Match or _version does not say which row it belongs to; {0}':
    'Die Version in If-Match oder _version lässt nicht erkennen, zu welchem Eintrag sie gehört.',
  'the request names two ids: "{0}" and "{1}"': 'Die Anfrage nennt zwei IDs: „{0}“ und „{1}“.',
  'the body has more than {0} values': 'Die Anfrage hat mehr als {0} Werte.',
  'the URL must have at most {0} characters': 'Die Adresse darf höchstens {0} Zeichen haben.',
  'Request body is too large': 'Die Anfrage ist zu groß.',
  'the body is not valid UTF-8': 'Die Anfrage ist kein gültiges UTF-8.',
  'the body looks like {0}, but its Content-Type says that it is a form; send the header Content-Type: {1}':
    'Die Anfrage sieht nach {0} aus, wurde aber als Formular gesendet. Senden Sie den Header Content-Type: {1}',
  'the form has a percent escape that is not valid UTF-8': 'Das Formular enthält ungültige Zeichen.',
  'the form has more than {0} fields': 'Das Formular hat mehr als {0} Felder.',
  'the form asks to add or remove a row, which only a page (text/html) can show':
    'Nur eine Seite (text/html) kann Zeilen hinzufügen oder entfernen.',
  'the field name "{0}" is malformed': 'Der Feldname „{0}“ ist ungültig.',
  'the field name "{0}" is nested too deep': 'Der Feldname „{0}“ ist zu tief verschachtelt.',
  '"id", "_method", "_version" and "commit" must be single fields, not parts such as id[a]':
    '„id“, „_method“, „_version“ und „commit“ müssen einzelne Felder sein, nicht Teile wie id[a].',
  '"_method" must be PUT or DELETE, and given once': '„_method“ muss PUT oder DELETE sein und nur einmal vorkommen.',
  '"_method" is allowed in a POST only; leave it out': '„_method“ ist nur bei POST erlaubt.',
  '"_version" must be given once': '„_version“ darf nur einmal vorkommen.',

  'a query must have at most {0} parameters': 'Die Adresse darf höchstens {0} Parameter haben.',
  'the parameter "{0}" is unknown; did you mean "{1}"?':
    'Den Parameter „{0}“ gibt es nicht. Meinten Sie „{1}“?',
  'the parameter "{0}" is unknown; {1}': 'Den Parameter „{0}“ gibt es nicht.',
  'the parameter "{0}" is unknown': 'Den Parameter „{0}“ gibt es nicht.',
  'the parameter "{0}" must be given once': 'Der Parameter „{0}“ darf nur einmal vorkommen.',
  '"limit" must be a number from 1 to {0}': '„limit“ muss eine Zahl von 1 bis {0} sein.',
  '"blank" must be "any", which ignores parameters without a value': '„blank“ muss „any“ sein.',
  '"count" must be "true", or "estimate" if an estimate is enough': '„count“ muss „true“ oder „estimate“ sein.',
  '"q" must have a word': 'Bitte geben Sie ein Suchwort ein.',
  '"q" must have at most {0} words': 'Die Suche darf höchstens {0} Wörter haben.',
  '"{0}" must not be empty': '„{0}“ darf nicht leer sein.',
  '"{0}" needs "{1}"': 'Zu „{0}“ gehört „{1}“.',
  '"{0}" must have at most {1} values': '„{0}“ darf höchstens {1} Werte haben.',
  '"{0}" has a backslash without a meaning; write {1}':
    '„{0}“ hat einen umgekehrten Schrägstrich ohne Bedeutung. Schreiben Sie \\, für ein Komma und \\\\ für \\.',
  '"{0}" names "{1}" twice': '„{0}“ nennt „{1}“ zweimal.',
  '"{0}" must be names separated by commas, such as "{1}"':
    '„{0}“ muss aus Namen bestehen, die Kommas trennen, zum Beispiel „{1}“.',
  '"sort" names "{0}", by which this list cannot be sorted; did you mean "{1}"?':
    'Nach „{0}“ kann diese Liste nicht sortiert werden. Meinten Sie „{1}“?',
  '"sort" names "{0}", by which this list cannot be sorted':
    'Nach „{0}“ kann diese Liste nicht sortiert werden.',
  '"sort" names "{0}" after "id", where it can have no effect: no two rows have the same id':
    'In „sort“ hat „{0}“ hinter „id“ keine Wirkung.',
  '"sort" must name at most {0} attributes': '„sort“ darf höchstens {0} Namen haben.',
  '"only" names "{0}", which is not an attribute of {1}': '„only“ nennt „{0}“; das gibt es hier nicht.',
  '"include" names "{0}", which is not a relation of {1}': '„include“ nennt „{0}“; das gibt es hier nicht.',
  '"{0}" and "{1}" exclude each other; send one of them': '„{0}“ und „{1}“ schließen einander aus.',
  '"offset" must be a number from 0 to {0}; follow the "next" links to read on':
    '„offset“ muss eine Zahl von 0 bis {0} sein; weiter geht es über die Links zur nächsten Seite.',
  '"{0}" must come from a "{1}" link of this list with the same order':
    'Diese Seite der Liste gibt es nicht. Beginnen Sie ohne „{0}“ noch einmal von vorn.',
  'the row at which the page {0} has been deleted; start again without "{1}"':
    'Der Eintrag am Rand dieser Seite wurde gelöscht. Beginnen Sie ohne „{1}“ noch einmal von vorn.',
  'this list has no previous pages; start again without "before"':
    'Diese Liste hat keine vorherigen Seiten. Beginnen Sie ohne „before“ noch einmal von vorn.',

  'must be given': 'muss angegeben werden',
  'must not be blank': 'darf nicht leer sein',
  'must have at least {0} characters': (least) => `muss mindestens ${characters(least)} haben`,
  'must have at most {0} characters': (most) => `darf höchstens ${characters(most)} haben`,
  'must have at most {0} character': (most) => `darf höchstens ${characters(most)} haben`,
  'must be at least {0}': 'muss mindestens {0} sein',
  'must be at most {0}': 'darf höchstens {0} sein',
  'must be more than {0}': 'muss größer als {0} sein',
  'must be less than {0}': 'muss kleiner als {0} sein',
  'must be a multiple of {0}': 'muss ein Vielfaches von {0} sein',
  'must be an integer between {0} and {1}': 'muss eine ganze Zahl zwischen {0} und {1} sein',
  'must have at least {0} items': (least) => `muss mindestens ${items(least)} haben`,
  'must have at least {0} item': (least) => `muss mindestens ${items(least)} haben`,
  'must have at most {0} items': (most) => `darf höchstens ${items(most)} haben`,
  'must have at most {0} item': (most) => `darf höchstens ${items(most)} haben`,
  'must not have the same item twice': 'darf keinen Eintrag doppelt enthalten',
  'must match {0}': 'muss dem Muster {0} entsprechen',
  'must be one of {0}': 'muss einer dieser Werte sein: {0}',
  'must be a date such as {0}': 'muss ein Datum wie {0} sein',
  'must be a time such as {0}': 'muss eine Uhrzeit wie {0} sein',
  'must be a date and time such as {0}': 'muss ein Datum mit Uhrzeit wie {0} sein',
  'must be a date and time without an offset, such as {0}':
    'muss ein Datum mit Uhrzeit ohne Zeitzone sein, zum Beispiel {0}',
  'must be a time without an offset, such as {0}': 'muss eine Uhrzeit ohne Zeitzone sein, zum Beispiel {0}',
  'must be a decimal number such as {0}, without an exponent': 'muss eine Dezimalzahl wie {0} sein',
  'must be a string; write a decimal number as a string: {0}': 'muss eine Dezimalzahl als Text sein: {0}',
  'must have at most {0} digits before the point': (most) =>
    `darf höchstens ${digits(most)} vor dem Komma haben`,
  'must have at most {0} digit before the point': (most) =>
    `darf höchstens ${digits(most)} vor dem Komma haben`,
  'must have no digit but 0 before the point': 'darf vor dem Komma nur eine 0 haben',
  'must have at most {0} digits after the point': (most) =>
    `darf höchstens ${digits(most)} nach dem Komma haben`,
  'must have at most {0} digit after the point': (most) =>
    `darf höchstens ${digits(most)} nach dem Komma haben`,
  'must be a whole number without a point': 'muss eine ganze Zahl ohne Komma sein',
  'must be base64 with padding, such as {0}': 'muss Base64 mit Füllzeichen sein, wie {0}',
  'must be base64': 'muss Base64 sein',
  'must be an e-mail address': 'muss eine E-Mail-Adresse sein',
  'must be an absolute URL': 'muss eine vollständige Webadresse sein',
  'must be a UUID in lower case': 'muss eine UUID in Kleinbuchstaben sein',
  'must be a valid {0}': 'entspricht nicht dem Format „{0}“',
  'must be a value of the enumeration of its column': 'ist keiner der erlaubten Werte',
  'must be a value that the type {0} can have': 'passt nicht zum Typ {0}',
  'must be a group of attributes': 'muss eine Gruppe von Werten sein',
  'must be JSON': 'muss JSON sein',
  'must number the items that have parts, as in [0][name]': 'muss seine Einträge nummerieren, wie in [0][name]',
  'must be inside "{0}": send {1}': 'gehört in „{0}“: {1}',
  'must be inside "{0}"': 'gehört in „{0}“',
  'must not have more than {0} names': 'darf höchstens {0} Namen haben',
  'must not have more than {0} attributes': 'darf höchstens {0} Angaben haben',
  'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored':
    'enthält Zeichen, die nicht gespeichert werden können',
  'must be a text without U+0000 and unpaired surrogates': 'enthält Zeichen, die nicht gespeichert werden können',
  'must be {0}': (wanted) => `muss ${types(wanted)} sein`,
  'refers to something that does not exist': 'verweist auf etwas, das es nicht gibt',
  'cannot be stored': 'kann nicht gespeichert werden',
  'is already taken': 'ist bereits vergeben',
  'is already taken together with {0}': 'ist zusammen mit „{0}“ bereits vergeben',
  'is not valid': 'ist ungültig',
  'is assigned by the server; leave it out': 'wird automatisch vergeben',
  'consists of {0}; send that instead': 'besteht aus {0}; senden Sie stattdessen diese Angabe',
  'is given more than once': 'ist mehrfach angegeben',
  'is given both as one value and in parts': 'ist doppelt angegeben: als ein Wert und in Teilen',
  'is unknown beside "{0}"; did you mean "{1}"?': 'ist neben „{0}“ unbekannt. Meinten Sie „{1}“?',
  'is unknown beside "{0}"': 'ist neben „{0}“ unbekannt',
  'is unknown; did you mean "{0}"?': 'ist unbekannt. Meinten Sie „{0}“?',
  'is unknown': 'ist unbekannt',
  'is a name of more than {0} characters': 'ist ein Name mit mehr als {0} Zeichen',
  'is not a valid name': 'ist kein gültiger Name',
  'is not a valid name in XML': 'ist kein gültiger Name',
  'is nested deeper than {0} levels': 'ist tiefer als {0} Ebenen verschachtelt',
  'is too complex to be checked': 'ist zu umfangreich für eine Prüfung',
  'has a "-" in its name, which XML clients write for "_"; send "{0}"':
    'hat einen Bindestrich im Namen. Schreiben Sie „{0}“.',
  'has the unknown marker "{0}"': 'hat die unbekannte Markierung „{0}“',
  'has the number {0}, which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308':
    'hat die Zahl {0}, die nicht genau gespeichert werden kann',
  'has no column in the table': 'hat keine Spalte in der Tabelle',
  'a row of the form must have one name, but has several': 'Eine Zeile des Formulars hat mehrere Namen.',
  'a row of the form must have one name and one value': 'Jede Zeile des Formulars braucht einen Namen und einen Wert.'
}
