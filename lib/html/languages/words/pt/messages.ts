import type { Operator } from '../../../../core/stores/store.js'
import { uncapitalize } from '../../../../core/util/words.js'
import { compileCondition, compilePlural, type Language } from '../../grammar.js'

const characters = compilePlural('pt', { one: '# caractere', other: '# caracteres' })
const blank = compilePlural('pt', { one: '# valor em branco', other: '# valores em branco' })
const count = compilePlural('pt', { one: '# item', other: '# itens' })

const OPERATORS = {
  eq: 'é',
  gte: 'no mínimo',
  gt: 'mais de',
  lte: 'no máximo',
  lt: 'menos de',
  not: 'não é',
  in: 'é um dos valores',
  contains: 'contém',
  starts: 'começa com'
} as const

const OPERATORS_OF_TIMES = { ...OPERATORS, gte: 'a partir de', gt: 'depois de', lte: 'até', lt: 'antes de' } as const

function writeOperator (operator: Operator, value: string, isTime: boolean): string {
  if (operator === 'null') return value === 'true' ? 'sem valor' : 'com valor'
  return (isTime ? OPERATORS_OF_TIMES : OPERATORS)[operator]
}

const TAKEN = { json: ' Isto é JSON.', text: ' Isto é texto simples.' }

/** The words of the pages in Portuguese, as it is written in Brazil. */
export const messages: Language['messages'] = {
  id: 'ID',
  record: (singular, id) => `${singular} ${id}`,
  new: (singular) => `Criar ${singular}`,
  edit: (name) => `Editar: ${name}`,
  editButton: 'Editar',
  create: (singular) => `Criar ${singular}`,
  save: 'Salvar alterações',
  another: 'Salvar e criar outro item',
  cancel: 'Cancelar',
  saved: 'Alterações salvas.',
  created: 'Item criado.',
  deleted: 'Item excluído.',
  done: 'Ação concluída.',
  delete: (singular) => `Excluir ${singular}`,
  deleteWarning: (name) => `Esta ação excluirá “${name}” definitivamente.`,
  deleteConfirm: 'Sim, excluir',
  blank: (number) => blank(number),
  empty: (plural) => `Ainda não há ${uncapitalize(plural)}`,
  emptyAdvice: () => 'Crie o primeiro item com o formulário abaixo.',
  noMore: (plural) => `Não há mais ${uncapitalize(plural)}`,
  noMatch: (plural) => `Não há ${uncapitalize(plural)} correspondentes`,
  all: () => 'Ver tudo',
  total: (rows, digits, plural, singular) => `${digits} ${rows === 1 ? singular : uncapitalize(plural)}`,
  moreThan: (digits, plural) => `mais de ${digits} ${uncapitalize(plural)}`,
  about: (digits, plural) => `cerca de ${digits} ${uncapitalize(plural)}`,
  range: (first, last, total) => `${first}–${last} de ${total}`,
  relatedBy: (plural, relation) => `${plural}: ${relation}`,
  moreRelated: (digits) => `mais de ${digits}`,
  search: 'Pesquisar',
  condition: compileCondition(writeOperator, ': '),
  operator: writeOperator,
  filterBy: 'Filtrar por',
  chooseFilter: 'Escolher',
  chooseOne: (label) => `Escolher: ${label}`,
  back: 'Voltar',
  removeCondition: (condition) => `Remover “${condition}”`,
  filter: 'Filtro',
  applyFilter: 'Aplicar filtro',
  clearFilter: 'Limpar filtro',
  next: 'Próxima página',
  previous: 'Página anterior',
  first: 'Primeira página',
  navigation: 'Seções',
  allResources: 'Todas as seções',
  resourceName: 'Seção',
  resourceRows: 'Itens',
  noResources: 'Ainda não há nada aqui',
  alsoAs: 'Também como',
  breadcrumb: 'Você está aqui',
  skip: 'Ir para o conteúdo',
  skipToRows: 'Ir para a lista',
  yes: 'sim',
  no: 'não',
  items: count,
  listed: (values, value) => `${values}, ${value}`,
  none: 'sem valor',
  choose: 'Escolha…',
  optional: 'opcional',
  oneALine: 'Um valor por linha.',
  asJson: 'Em formato JSON.',
  jsonOrText: (taken) => `JSON ou texto simples.${taken === undefined ? '' : TAKEN[taken]}`,
  dateHint: 'Por exemplo, 2026-01-31.',
  dateTimeHint: 'Por exemplo, 2026-01-31T12:00:00Z.',
  offset: 'Diferença em relação ao UTC',
  offsetHint: 'Z para UTC ou, por exemplo, +02:00.',
  keepHidden: 'Deixe em branco para manter o valor atual.',
  removeHidden: (label) => `Remover ${uncapitalize(label)}`,
  typeAgain: 'Digite novamente: o valor nunca é exibido.',
  atMost: (count) => `No máximo ${characters(count)}.`,
  atLeast: (items) => `No mínimo ${items}.`,
  item: (label, number) => `${label} ${number}`,
  addTo: (label) => `Adicionar ${uncapitalize(label)}`,
  removeItem: 'Remover',
  remove: (label, number) => `Remover ${uncapitalize(label)} ${number}`,
  kept: '(o valor é mantido, porque este formulário não consegue exibi-lo por inteiro)',
  fixed: '(o valor não pode ser alterado, porque faz parte do ID)',
  beginning: 'Apenas o início é exibido: os primeiros 100 mil caracteres.',
  attributeName: 'Nome',
  attributeValue: 'Valor',
  furtherAttributes: 'Outros dados',
  addAttribute: 'Adicionar um dado',
  fieldError: (label, error) => `${label}: ${error}`,
  labelled: (label, value) => `${label}: ${value}`,
  problem: 'Há um problema',
  problemTitle: (title) => `Erro: ${title}`,
  stale: (singular) => `Conflito de edição: ${singular}`,
  staleAdvice: 'Outra pessoa salvou alterações desde que você abriu esta página. As suas ainda não foram aplicadas, ' +
    'mas nada foi perdido.',
  staleDeletion: 'Outra pessoa salvou alterações desde que você abriu esta página; por isso, nada foi excluído. ' +
    'Excluir mesmo assim?',
  staleChoose: 'Para cada diferença, escolha o valor que deve ser mantido e depois salve.',
  yours: 'Seu valor',
  theirs: 'O outro valor',
  keepYours: 'Manter seu valor',
  keepTheirs: 'Manter o outro valor',
  bothChanged: 'Alterado por você e por outra pessoa',
  theyChanged: 'Alterado por outra pessoa',
  keepOld: 'Manter o valor anterior',
  takeNew: 'Usar o novo valor',
  same: 'Não alterado por outras pessoas',
  gone: (singular) => `Não existe mais: ${singular}`,
  goneAdvice: 'Alguém excluiu este item desde que você abriu esta página. Suas alterações não foram salvas, mas o ' +
    'que você digitou continua aqui.',
  createAgain: 'Criar novamente',
  leave: 'Voltar sem alterar nada'
}
