import { compilePlural, compileTypes, type Language } from '../../grammar.js'

const characters = compilePlural('es', { one: '# carácter', other: '# caracteres' })
const items = compilePlural('es', { one: '# elemento', other: '# elementos' })
const digits = compilePlural('es', { one: '# cifra', other: '# cifras' })
const types = compileTypes({
  'a string': 'un texto',
  'an integer': 'un número entero',
  'a number': 'un número',
  'true or false': 'verdadero o falso',
  'an array': 'una lista',
  'an object': 'un grupo de valores',
  null: 'vacío'
}, ' o ')

const atMostCharacters = (most: string): string => `debe tener como máximo ${characters(most)}`
const atLeastItems = (least: string): string => `debe tener como mínimo ${items(least)}`
const atMostItems = (most: string): string => `debe tener como máximo ${items(most)}`
const digitsBefore = (most: string): string => `debe tener como máximo ${digits(most)} en la parte entera`
const digitsAfter = (most: string): string => `debe tener como máximo ${digits(most)} en la parte decimal`

/** The texts of the server in Spanish. */
export const phrases: Language['phrases'] = {
  'Bad Request': 'Solicitud incorrecta',
  Unauthorized: 'Debe iniciar sesión',
  'Payment Required': 'Se requiere un pago',
  Forbidden: 'Acceso denegado',
  'Not Found': 'Página no encontrada',
  'Method Not Allowed': 'Acción no disponible aquí',
  'Not Acceptable': 'Formato no disponible',
  'Request Timeout': 'Tiempo de espera agotado',
  Conflict: 'Conflicto',
  Gone: 'Contenido eliminado',
  'Precondition Failed': 'Modificado mientras tanto',
  'Payload Too Large': 'Demasiados datos',
  'URI Too Long': 'Dirección demasiado larga',
  'Unsupported Media Type': 'Tipo de datos no admitido',
  'Unprocessable Entity': 'Datos no válidos',
  'Precondition Required': 'Falta la versión',
  'Too Many Requests': 'Demasiadas solicitudes',
  'Internal Server Error': 'Error del servidor',
  'Bad Gateway': 'Respuesta incorrecta de otro servidor',
  'Service Unavailable': 'Servicio no disponible',
  'Gateway Timeout': 'Sin respuesta',
  'Insufficient Storage': 'Almacenamiento lleno',

  'something went wrong on the server': 'Se ha producido un error en el servidor.',
  'the store is not available now, and nothing was written; try again':
    'El almacén de datos no está disponible en este momento. No se ha guardado nada. Inténtelo de nuevo.',
  'the store is full, and nothing was written': 'El almacén de datos está lleno. No se ha guardado nada.',
  'the sequence of the ids is behind the rows, and nothing was written; it must go on from the greatest id':
    'La base de datos generó un identificador que ya existe. No se ha guardado nada. Su secuencia debe ' +
      'continuar desde el mayor identificador.',
  'the store did not answer, and it is not known whether anything was written; look before you try again':
    'El almacén de datos no ha respondido. Compruebe si se ha guardado antes de volver a intentarlo.',
  'you are not allowed to {0} {1}': 'No tiene permiso para realizar esta acción.',
  'there is no {0} with the id {1}': (_, id) => `No existe ningún elemento con el ID ${id}.`,
  'there is no {0} here': 'Aquí no hay nada. Es posible que el elemento se haya eliminado.',
  'there is nothing here: leave out the slash at the end of the path':
    'Aquí no hay nada. Quite la barra del final de la dirección.',
  '{0} is not allowed here; use {1}': 'Esta acción no está disponible aquí.',
  'none of the types in Accept is available here; choose one of {0}': 'Formatos disponibles: {0}.',
  'there is no format "{0}"; choose one of {1}': 'El formato «{0}» no existe. Formatos disponibles: {1}.',
  '{0} cannot be read here; send {1}': 'Aquí no se puede leer este tipo de datos.',
  'the request comes from {0}': 'La solicitud procede de otro sitio web y se ha rechazado.',
  'the {0} exists already': 'Este elemento ya existe.',
  '{0} is already taken': 'El valor de «{0}» ya está en uso.',
  '{0} is already taken together with {1}': 'El valor de «{0}» ya está en uso junto con «{1}».',
  '{0} still refer to it; delete or change them first':
    'Otros elementos todavía hacen referencia a este ({0}). Elimínelos o cámbielos primero.',
  'it refers to something that does not exist, or something else refers to it':
    'El elemento hace referencia a algo que no existe, o algo hace referencia a él.',
  'it refers to something that does not exist': 'El elemento hace referencia a algo que no existe.',
  'a row with these values exists already': 'Ya existe un elemento con estos valores.',
  'a value that must be given is missing': 'Falta un valor obligatorio.',
  'the database refuses a value': 'La base de datos rechaza un valor.',
  'an attribute is too long or too large, or has characters that cannot be stored':
    'Un valor es demasiado largo o demasiado grande, o tiene caracteres que no se pueden guardar.',
  'the rows of this table cannot be written, because no key of it is unique':
    'Esta tabla no se puede modificar, porque no tiene una clave única.',
  'the {0} does not meet the If-Match, If-None-Match or _version of the request; read it again':
    'El elemento se ha modificado mientras tanto. Vuelva a cargarlo.',
  'the {0} has been replaced meanwhile; read it again':
    'El elemento se ha sustituido mientras tanto. Vuelva a cargarlo.',
  'a new {0} has no version yet; leave out If-Match and _version':
    'Un elemento nuevo todavía no tiene versión. Quite If-Match y _version.',
  'send If-Match with the ETag of the {0} that you have read':
    'Falta la versión del elemento (If-Match). Vuelva a cargarlo.',
  '{0} is not a list of entity tags such as "1.xml"': '{0} no es una lista de ETags como "1.xml".',
  'the version in If-Match or _version does not say which row it belongs to; {0}':
    'La versión de If-Match o _version no indica a qué elemento pertenece.',
  'the request names two ids: "{0}" and "{1}"': 'La solicitud indica dos ID: «{0}» y «{1}».',
  'the body has more than {0} values': 'La solicitud tiene más de {0} valores.',
  'the URL must have at most {0} characters': 'La dirección debe tener como máximo {0} caracteres.',
  'Request body is too large': 'La solicitud es demasiado grande.',
  'the body is not valid UTF-8': 'La solicitud no está en UTF-8 válido.',
  'the body looks like {0}, but its Content-Type says that it is a form; send the header Content-Type: {1}':
    'La solicitud parece ser {0}, pero se ha enviado como formulario. Envíe el encabezado Content-Type: {1}',
  'the form has a percent escape that is not valid UTF-8': 'El formulario tiene caracteres no válidos.',
  'the form has more than {0} fields': 'El formulario tiene más de {0} campos.',
  'the form asks to add or remove a row, which only a page (text/html) can show':
    'Solo una página (text/html) puede añadir o quitar filas.',
  'the field name "{0}" is malformed': 'El nombre de campo «{0}» no es válido.',
  'the field name "{0}" is nested too deep': 'El nombre de campo «{0}» tiene demasiados niveles.',
  'a row of the form must have one name, but has several': 'Una fila del formulario tiene varios nombres.',
  'a row of the form must have one name and one value': 'Cada fila del formulario debe tener un nombre y un valor.',
  '"id", "_method", "_version" and "commit" must be single fields, not parts such as id[a]':
    '«id», «_method», «_version» y «commit» deben ser campos simples, sin partes como id[a].',
  '"_method" must be PUT or DELETE, and given once': '«_method» debe ser PUT o DELETE y aparecer una sola vez.',
  '"_method" is allowed in a POST only; leave it out': '«_method» solo se admite en un POST.',
  '"_version" must be given once': '«_version» debe aparecer una sola vez.',

  'a query must have at most {0} parameters': 'La dirección debe tener como máximo {0} parámetros.',
  'the parameter "{0}" is unknown; did you mean "{1}"?': 'El parámetro «{0}» no existe. ¿Quería decir «{1}»?',
  'the parameter "{0}" is unknown; {1}': 'El parámetro «{0}» no existe.',
  'the parameter "{0}" is unknown': 'El parámetro «{0}» no existe.',
  'the parameter "{0}" must be given once': 'El parámetro «{0}» debe aparecer una sola vez.',
  '"limit" must be a number from 1 to {0}': '«limit» debe ser un número del 1 al {0}.',
  '"blank" must be "any", which ignores parameters without a value': '«blank» debe ser «any».',
  '"count" must be "true", or "estimate" if an estimate is enough': '«count» debe ser «true» o «estimate».',
  '"q" must have a word': 'Escriba una palabra para buscar.',
  '"q" must have at most {0} words': 'La búsqueda debe tener como máximo {0} palabras.',
  '"{0}" must not be empty': '«{0}» no puede estar vacío.',
  '"{0}" needs "{1}"': '«{0}» necesita «{1}».',
  '"{0}" must have at most {1} values': '«{0}» debe tener como máximo {1} valores.',
  '"{0}" has a backslash without a meaning; write {1}':
    '«{0}» tiene una barra inversa sin efecto. Escriba \\, para una coma y \\\\ para \\.',
  '"{0}" names "{1}" twice': '«{0}» indica «{1}» dos veces.',
  '"{0}" must be names separated by commas, such as "{1}"':
    '«{0}» debe tener nombres separados por comas, como «{1}».',
  '"sort" names "{0}", by which this list cannot be sorted; did you mean "{1}"?':
    'Esta lista no se puede ordenar por «{0}». ¿Quería decir «{1}»?',
  '"sort" names "{0}", by which this list cannot be sorted': 'Esta lista no se puede ordenar por «{0}».',
  '"sort" names "{0}" after "id", where it can have no effect: no two rows have the same id':
    'Ordenar por «{0}» después de «id» no tiene efecto.',
  '"sort" must name at most {0} attributes': '«sort» debe tener como máximo {0} nombres.',
  '"only" names "{0}", which is not an attribute of {1}': '«only» indica «{0}», que no existe aquí.',
  '"include" names "{0}", which is not a relation of {1}': '«include» indica «{0}», que no existe aquí.',
  '"{0}" and "{1}" exclude each other; send one of them': '«{0}» y «{1}» se excluyen mutuamente.',
  '"offset" must be a number from 0 to {0}; follow the "next" links to read on':
    '«offset» debe ser un número del 0 al {0}; para seguir leyendo, use los enlaces a la página siguiente.',
  '"{0}" must come from a "{1}" link of this list with the same order':
    'Esta página de la lista no existe. Quite «{0}» para volver al principio.',
  'the row at which the page {0} has been deleted; start again without "{1}"':
    'El elemento del límite de esta página se ha eliminado. Quite «{1}» para volver al principio.',
  'this list has no previous pages; start again without "before"':
    'Esta lista no tiene páginas anteriores. Quite «before» para volver al principio.',

  'must be given': 'es obligatorio',
  'must not be blank': 'no puede estar en blanco',
  'must have at least {0} characters': (least) => `debe tener como mínimo ${characters(least)}`,
  'must have at most {0} characters': atMostCharacters,
  'must have at most {0} character': atMostCharacters,
  'must be at least {0}': 'debe ser mayor o igual que {0}',
  'must be at most {0}': 'debe ser menor o igual que {0}',
  'must be more than {0}': 'debe ser mayor que {0}',
  'must be less than {0}': 'debe ser menor que {0}',
  'must be a multiple of {0}': 'debe ser múltiplo de {0}',
  'must be an integer between {0} and {1}': 'debe ser un número entero entre {0} y {1}',
  'must have at least {0} items': atLeastItems,
  'must have at least {0} item': atLeastItems,
  'must have at most {0} items': atMostItems,
  'must have at most {0} item': atMostItems,
  'must not have the same item twice': 'no puede tener elementos repetidos',
  'must match {0}': 'debe seguir el patrón {0}',
  'must be one of {0}': 'debe ser uno de estos valores: {0}',
  'must be a date such as {0}': 'debe ser una fecha como {0}',
  'must be a time such as {0}': 'debe ser una hora como {0}',
  'must be a date and time such as {0}': 'debe ser una fecha con hora como {0}',
  'must be a date and time without an offset, such as {0}': 'debe ser una fecha con hora sin zona horaria, como {0}',
  'must be a time without an offset, such as {0}': 'debe ser una hora sin zona horaria, como {0}',
  'must be a decimal number such as {0}, without an exponent': 'debe ser un número decimal como {0}',
  'must be a string; write a decimal number as a string: {0}': 'debe ser un número decimal escrito como texto: {0}',
  'must have at most {0} digits before the point': digitsBefore,
  'must have at most {0} digit before the point': digitsBefore,
  'must have no digit but 0 before the point': 'solo puede tener un 0 en la parte entera',
  'must have at most {0} digits after the point': digitsAfter,
  'must have at most {0} digit after the point': digitsAfter,
  'must be a whole number without a point': 'debe ser un número entero, sin decimales',
  'must be base64 with padding, such as {0}': 'debe ser base64 con relleno, como {0}',
  'must be base64': 'debe ser base64',
  'must be an e-mail address': 'debe ser una dirección de correo electrónico',
  'must be an absolute URL': 'debe ser una dirección web completa',
  'must be a UUID in lower case': 'debe ser un UUID en minúsculas',
  'must be a valid {0}': 'no tiene el formato «{0}»',
  'must be a value of the enumeration of its column': 'no es uno de los valores posibles',
  'must be a value that the type {0} can have': 'no es compatible con el tipo {0}',
  'must be a group of attributes': 'debe ser un grupo de valores',
  'must be JSON': 'debe ser JSON',
  'must number the items that have parts, as in [0][name]': 'debe numerar los elementos con partes, como [0][name]',
  'must be inside "{0}": send {1}': 'debe estar dentro de «{0}»: {1}',
  'must be inside "{0}"': 'debe estar dentro de «{0}»',
  'must not have more than {0} names': 'no puede tener más de {0} nombres',
  'must not have more than {0} attributes': 'no puede tener más de {0} datos',
  'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored':
    'contiene caracteres que no se pueden guardar',
  'must be a text without U+0000 and unpaired surrogates': 'contiene caracteres que no se pueden guardar',
  'must be {0}': (wanted) => `debe ser ${types(wanted)}`,
  'refers to something that does not exist': 'hace referencia a algo que no existe',
  'cannot be stored': 'no se puede guardar',
  'is already taken': 'ya está en uso',
  'is already taken together with {0}': 'ya está en uso junto con «{0}»',
  'is not valid': 'no es válido',
  'is assigned by the server; leave it out': 'se asigna automáticamente',
  'consists of {0}; send that instead': 'consta de {0}; envíe eso en su lugar',
  'is given more than once': 'aparece varias veces',
  'is given both as one value and in parts': 'aparece a la vez entero y en partes',
  'is unknown beside "{0}"; did you mean "{1}"?': 'no existe junto a «{0}». ¿Quería decir «{1}»?',
  'is unknown beside "{0}"': 'no existe junto a «{0}»',
  'is unknown; did you mean "{0}"?': 'no existe. ¿Quería decir «{0}»?',
  'is unknown': 'no existe',
  'is a name of more than {0} characters': 'es un nombre de más de {0} caracteres',
  'is not a valid name': 'no es un nombre válido',
  'is not a valid name in XML': 'no es un nombre válido',
  'is nested deeper than {0} levels': 'tiene más de {0} niveles',
  'is too complex to be checked': 'es demasiado complejo para comprobarlo',
  'has a "-" in its name, which XML clients write for "_"; send "{0}"': 'tiene un guion en el nombre. Escriba «{0}».',
  'has the unknown marker "{0}"': 'tiene la marca desconocida «{0}»',
  'has the number {0}, which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308':
    'tiene el número {0}, que no se puede guardar con exactitud',
  'has no column in the table': 'no tiene columna en la tabla'
}
