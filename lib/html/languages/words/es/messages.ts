import type { Operator } from '../../../../core/stores/store.js'
import { uncapitalize } from '../../../../core/util/words.js'
import { compileCondition, compilePlural, type Language, TIME_OF_DAY } from '../../grammar.js'

const characters = compilePlural('es', { one: '# carácter', other: '# caracteres' })
const blank = compilePlural('es', { one: '# valor vacío', other: '# valores vacíos' })
const count = compilePlural('es', { one: '# elemento', other: '# elementos' })

const OPERATORS = {
  eq: 'es',
  gte: 'como mínimo',
  gt: 'más de',
  lte: 'como máximo',
  lt: 'menos de',
  not: 'no es',
  in: 'es uno de los valores',
  contains: 'contiene',
  starts: 'empieza por'
} as const

const OPERATORS_OF_DATES = {
  ...OPERATORS,
  gte: 'desde el',
  gt: 'después del',
  lte: 'hasta el',
  lt: 'antes del'
} as const

const OPERATORS_OF_HOURS = { ...OPERATORS, gte: 'desde', gt: 'después de', lte: 'hasta', lt: 'antes de' } as const

function writeOperator (operator: Operator, value: string, isTime: boolean): string {
  if (operator === 'null') return value === 'true' ? 'sin valor' : 'con valor'
  if (!isTime) return OPERATORS[operator]
  // A date has an article, and a time of day has none. The choice of an operator has no value yet.
  return (value === '' || TIME_OF_DAY.test(value) ? OPERATORS_OF_HOURS : OPERATORS_OF_DATES)[operator]
}

const TAKEN = { json: ' Esto es JSON.', text: ' Esto es texto sin formato.' }

/** The words of the pages in Spanish, chosen so that they are usual in Spain and in America. */
export const messages: Language['messages'] = {
  id: 'ID',
  record: (singular, id) => `${singular} ${id}`,
  new: (singular) => `Crear ${singular}`,
  edit: (name) => `Editar: ${name}`,
  editButton: 'Editar',
  create: (singular) => `Crear ${singular}`,
  save: 'Guardar cambios',
  another: 'Guardar y crear otro elemento',
  cancel: 'Cancelar',
  saved: 'Cambios guardados.',
  created: 'Elemento creado.',
  deleted: 'Elemento eliminado.',
  done: 'Acción completada.',
  delete: (singular) => `Eliminar ${singular}`,
  deleteWarning: (name) => `«${name}» se eliminará definitivamente.`,
  deleteConfirm: 'Sí, eliminar',
  blank: (number) => blank(number),
  empty: (plural) => `Todavía no hay ${uncapitalize(plural)}`,
  emptyAdvice: () => 'Cree el primer elemento con el formulario de abajo.',
  noMore: (plural) => `No hay más ${uncapitalize(plural)}`,
  noMatch: (plural) => `No hay ${uncapitalize(plural)} que coincidan`,
  all: () => 'Ver todo',
  total: (rows, digits, plural, singular) => `${digits} ${rows === 1 ? singular : uncapitalize(plural)}`,
  moreThan: (digits, plural) => `más de ${digits} ${uncapitalize(plural)}`,
  about: (digits, plural) => `aproximadamente ${digits} ${uncapitalize(plural)}`,
  range: (first, last, total) => `${first}–${last} de ${total}`,
  relatedBy: (plural, relation) => `${plural}: ${relation}`,
  moreRelated: (digits) => `más de ${digits}`,
  search: 'Buscar',
  condition: compileCondition(writeOperator, ': '),
  operator: writeOperator,
  filterBy: 'Filtrar por',
  chooseFilter: 'Elegir',
  chooseOne: (label) => `Elegir: ${label}`,
  back: 'Volver',
  removeCondition: (condition) => `Quitar «${condition}»`,
  filter: 'Filtro',
  applyFilter: 'Aplicar filtro',
  clearFilter: 'Quitar filtro',
  next: 'Página siguiente',
  previous: 'Página anterior',
  first: 'Primera página',
  navigation: 'Secciones',
  allResources: 'Todas las secciones',
  resourceName: 'Sección',
  resourceRows: 'Elementos',
  noResources: 'Todavía no hay nada aquí',
  alsoAs: 'También como',
  breadcrumb: 'Usted está aquí',
  skip: 'Saltar al contenido',
  skipToRows: 'Saltar a la lista',
  yes: 'sí',
  no: 'no',
  items: count,
  listed: (values, value) => `${values}, ${value}`,
  none: 'sin valor',
  choose: 'Elija…',
  optional: 'opcional',
  oneALine: 'Un valor por línea.',
  asJson: 'En formato JSON.',
  jsonOrText: (taken) => `JSON o texto sin formato.${taken === undefined ? '' : TAKEN[taken]}`,
  dateHint: 'Por ejemplo, 2026-01-31.',
  dateTimeHint: 'Por ejemplo, 2026-01-31T12:00:00Z.',
  offset: 'Diferencia con UTC',
  offsetHint: 'Z para UTC o, por ejemplo, +02:00.',
  keepHidden: 'Déjelo en blanco para conservar el valor actual.',
  removeHidden: (label) => `Quitar ${uncapitalize(label)}`,
  typeAgain: 'Escríbalo de nuevo: nunca se muestra.',
  atMost: (count) => `Como máximo, ${characters(count)}.`,
  atLeast: (items) => `Como mínimo, ${items}.`,
  item: (label, number) => `${label} ${number}`,
  addTo: (label) => `Añadir ${uncapitalize(label)}`,
  removeItem: 'Quitar',
  remove: (label, number) => `Quitar ${uncapitalize(label)} ${number}`,
  kept: '(el valor se conserva, porque este formulario no puede mostrarlo entero)',
  fixed: '(el valor no se puede cambiar, porque forma parte del ID)',
  beginning: 'Solo se muestra el principio: los primeros 100\u00a0000 caracteres.',
  attributeName: 'Nombre',
  attributeValue: 'Valor',
  furtherAttributes: 'Otros datos',
  addAttribute: 'Añadir un dato',
  fieldError: (label, error) => `${label}: ${error}`,
  labelled: (label, value) => `${label}: ${value}`,
  problem: 'Hay un problema',
  problemTitle: (title) => `Error: ${title}`,
  stale: (singular) => `Conflicto de edición: ${singular}`,
  staleAdvice: 'Otra persona ha guardado cambios desde que usted abrió esta página. Los de usted aún no se han ' +
    'aplicado, pero no se ha perdido nada.',
  staleDeletion: 'Otra persona ha guardado cambios desde que usted abrió esta página, así que no se ha eliminado ' +
    'nada. ¿Eliminar de todos modos?',
  staleChoose: 'Elija en cada diferencia el valor que quiere conservar y, después, guarde.',
  yours: 'Su valor',
  theirs: 'El otro valor',
  keepYours: 'Conservar su valor',
  keepTheirs: 'Conservar el otro valor',
  bothChanged: 'Cambiado por usted y por otra persona',
  theyChanged: 'Cambiado por otra persona',
  keepOld: 'Conservar el valor anterior',
  takeNew: 'Usar el valor nuevo',
  same: 'Sin cambios de otras personas',
  gone: (singular) => `Ya no existe: ${singular}`,
  goneAdvice: 'Alguien ha eliminado este elemento desde que usted abrió esta página. Sus cambios no se han guardado, ' +
    'pero lo que escribió sigue aquí.',
  createAgain: 'Crear de nuevo',
  leave: 'Volver sin cambiar nada'
}
