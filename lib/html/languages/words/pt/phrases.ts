import { compilePlural, compileTypes, type Language } from '../../grammar.js'

const characters = compilePlural('pt', { one: '# caractere', other: '# caracteres' })
const items = compilePlural('pt', { one: '# item', other: '# itens' })
const digits = compilePlural('pt', { one: '# dígito', other: '# dígitos' })
const types = compileTypes({
  'a string': 'um texto',
  'an integer': 'um número inteiro',
  'a number': 'um número',
  'true or false': 'verdadeiro ou falso',
  'an array': 'uma lista',
  'an object': 'um grupo de valores',
  null: 'vazio'
}, ' ou ')

const atMostCharacters = (most: string): string => `deve ter no máximo ${characters(most)}`
const atLeastItems = (least: string): string => `deve ter no mínimo ${items(least)}`
const atMostItems = (most: string): string => `deve ter no máximo ${items(most)}`
const digitsBefore = (most: string): string => `deve ter no máximo ${digits(most)} na parte inteira`
const digitsAfter = (most: string): string => `deve ter no máximo ${digits(most)} na parte decimal`

/** The texts of the server in Portuguese, as it is written in Brazil. */
export const phrases: Language['phrases'] = {
  'Bad Request': 'Solicitação incorreta',
  Unauthorized: 'É necessário fazer login',
  'Payment Required': 'Pagamento necessário',
  Forbidden: 'Acesso negado',
  'Not Found': 'Página não encontrada',
  'Method Not Allowed': 'Ação indisponível aqui',
  'Not Acceptable': 'Formato indisponível',
  'Request Timeout': 'Tempo esgotado',
  Conflict: 'Conflito',
  Gone: 'Conteúdo excluído',
  'Precondition Failed': 'Alterado nesse meio-tempo',
  'Payload Too Large': 'Dados em excesso',
  'URI Too Long': 'Endereço longo demais',
  'Unsupported Media Type': 'Tipo de dados não aceito',
  'Unprocessable Entity': 'Dados inválidos',
  'Precondition Required': 'Falta a versão',
  'Too Many Requests': 'Solicitações em excesso',
  'Internal Server Error': 'Erro no servidor',
  'Bad Gateway': 'Resposta incorreta de outro servidor',
  'Service Unavailable': 'Serviço indisponível',
  'Gateway Timeout': 'Sem resposta',
  'Insufficient Storage': 'Armazenamento cheio',

  'something went wrong on the server': 'Ocorreu um erro no servidor.',
  'the store is not available now, and nothing was written; try again':
    'O serviço de dados está indisponível no momento. Nada foi salvo. Tente novamente.',
  'the store is full, and nothing was written': 'O armazenamento está cheio. Nada foi salvo.',
  'the sequence of the ids is behind the rows, and nothing was written; it must go on from the greatest id':
    'O banco de dados gerou um identificador que já existe. Nada foi salvo. A sequência deve continuar a ' +
      'partir do maior identificador.',
  'the store did not answer, and it is not known whether anything was written; look before you try again':
    'O serviço de dados não respondeu. Verifique se os dados foram salvos antes de tentar novamente.',
  'you are not allowed to {0} {1}': 'Você não tem permissão para realizar esta ação.',
  'there is no {0} with the id {1}': (_, id) => `Não existe nenhum item com o ID ${id}.`,
  'there is no {0} here': 'Não há nada aqui. O item pode ter sido excluído.',
  'there is nothing here: leave out the slash at the end of the path':
    'Não há nada aqui. Retire a barra do fim do endereço.',
  '{0} is not allowed here; use {1}': 'Esta ação não está disponível aqui.',
  'none of the types in Accept is available here; choose one of {0}': 'Formatos disponíveis: {0}.',
  'there is no format "{0}"; choose one of {1}': 'O formato “{0}” não existe. Formatos disponíveis: {1}.',
  '{0} cannot be read here; send {1}': 'Este tipo de dados não pode ser lido aqui.',
  'the request comes from {0}': 'A solicitação veio de outro site e foi recusada.',
  'the {0} exists already': 'Este item já existe.',
  '{0} is already taken': 'O valor de “{0}” já está em uso.',
  '{0} is already taken together with {1}': 'O valor de “{0}” já está em uso junto com “{1}”.',
  '{0} still refer to it; delete or change them first':
    'Outros itens ainda fazem referência a este ({0}). Exclua-os ou altere-os primeiro.',
  'it refers to something that does not exist, or something else refers to it':
    'O item faz referência a algo que não existe, ou algo faz referência a ele.',
  'it refers to something that does not exist': 'O item faz referência a algo que não existe.',
  'a row with these values exists already': 'Já existe um item com estes valores.',
  'a value that must be given is missing': 'Falta um valor obrigatório.',
  'the database refuses a value': 'O banco de dados recusa um valor.',
  'an attribute is too long or too large, or has characters that cannot be stored':
    'Um valor é longo ou grande demais, ou tem caracteres que não podem ser salvos.',
  'the rows of this table cannot be written, because no key of it is unique':
    'Esta tabela não pode ser alterada, porque não tem uma chave única.',
  'the {0} does not meet the If-Match, If-None-Match or _version of the request; read it again':
    'O item foi alterado nesse meio-tempo. Carregue-o novamente.',
  'the {0} has been replaced meanwhile; read it again':
    'O item foi substituído nesse meio-tempo. Carregue-o novamente.',
  'a new {0} has no version yet; leave out If-Match and _version':
    'Um item novo ainda não tem versão. Retire If-Match e _version.',
  'send If-Match with the ETag of the {0} that you have read':
    'Falta a versão do item (If-Match). Carregue-o novamente.',
  '{0} is not a list of entity tags such as "1.xml"': '{0} não é uma lista de ETags como "1.xml".',
  'the version in If-Match or _version does not say which row it belongs to; {0}':
    'A versão em If-Match ou _version não indica a qual item pertence.',
  'the request names two ids: "{0}" and "{1}"': 'A solicitação indica dois IDs: “{0}” e “{1}”.',
  'the body has more than {0} values': 'A solicitação tem mais de {0} valores.',
  'the URL must have at most {0} characters': 'O endereço deve ter no máximo {0} caracteres.',
  'Request body is too large': 'A solicitação é grande demais.',
  'the body is not valid UTF-8': 'A solicitação não está em UTF-8 válido.',
  'the body looks like {0}, but its Content-Type says that it is a form; send the header Content-Type: {1}':
    'A solicitação parece ser {0}, mas foi enviada como formulário. Envie o cabeçalho Content-Type: {1}',
  'the form has a percent escape that is not valid UTF-8': 'O formulário tem caracteres inválidos.',
  'the form has more than {0} fields': 'O formulário tem mais de {0} campos.',
  'the form asks to add or remove a row, which only a page (text/html) can show':
    'Somente uma página (text/html) pode adicionar ou remover linhas.',
  'the field name "{0}" is malformed': 'O nome de campo “{0}” é inválido.',
  'the field name "{0}" is nested too deep': 'O nome de campo “{0}” tem níveis demais.',
  'a row of the form must have one name, but has several': 'Uma linha do formulário tem vários nomes.',
  'a row of the form must have one name and one value': 'Cada linha do formulário deve ter um nome e um valor.',
  '"id", "_method", "_version" and "commit" must be single fields, not parts such as id[a]':
    '“id”, “_method”, “_version” e “commit” devem ser campos simples, sem partes como id[a].',
  '"_method" must be PUT or DELETE, and given once': '“_method” deve ser PUT ou DELETE e aparecer uma só vez.',
  '"_method" is allowed in a POST only; leave it out': '“_method” só é aceito em um POST.',
  '"_version" must be given once': '“_version” deve aparecer uma só vez.',

  'a query must have at most {0} parameters': 'O endereço deve ter no máximo {0} parâmetros.',
  'the parameter "{0}" is unknown; did you mean "{1}"?': 'O parâmetro “{0}” não existe. Você quis dizer “{1}”?',
  'the parameter "{0}" is unknown; {1}': 'O parâmetro “{0}” não existe.',
  'the parameter "{0}" is unknown': 'O parâmetro “{0}” não existe.',
  'the parameter "{0}" must be given once': 'O parâmetro “{0}” deve aparecer uma só vez.',
  '"limit" must be a number from 1 to {0}': '“limit” deve ser um número de 1 a {0}.',
  '"blank" must be "any", which ignores parameters without a value': '“blank” deve ser “any”.',
  '"count" must be "true", or "estimate" if an estimate is enough': '“count” deve ser “true” ou “estimate”.',
  '"q" must have a word': 'Digite uma palavra para pesquisar.',
  '"q" must have at most {0} words': 'A pesquisa deve ter no máximo {0} palavras.',
  '"{0}" must not be empty': '“{0}” não pode ficar vazio.',
  '"{0}" needs "{1}"': '“{0}” precisa de “{1}”.',
  '"{0}" must have at most {1} values': '“{0}” deve ter no máximo {1} valores.',
  '"{0}" has a backslash without a meaning; write {1}':
    '“{0}” tem uma barra invertida sem efeito. Escreva \\, para uma vírgula e \\\\ para \\.',
  '"{0}" names "{1}" twice': '“{0}” indica “{1}” duas vezes.',
  '"{0}" must be names separated by commas, such as "{1}"':
    '“{0}” deve ter nomes separados por vírgulas, como “{1}”.',
  '"sort" names "{0}", by which this list cannot be sorted; did you mean "{1}"?':
    'Esta lista não pode ser ordenada por “{0}”. Você quis dizer “{1}”?',
  '"sort" names "{0}", by which this list cannot be sorted': 'Esta lista não pode ser ordenada por “{0}”.',
  '"sort" names "{0}" after "id", where it can have no effect: no two rows have the same id':
    'Ordenar por “{0}” depois de “id” não tem efeito.',
  '"sort" must name at most {0} attributes': '“sort” deve ter no máximo {0} nomes.',
  '"only" names "{0}", which is not an attribute of {1}': '“only” indica “{0}”, que não existe aqui.',
  '"include" names "{0}", which is not a relation of {1}': '“include” indica “{0}”, que não existe aqui.',
  '"{0}" and "{1}" exclude each other; send one of them': '“{0}” e “{1}” não podem ser usados juntos.',
  '"offset" must be a number from 0 to {0}; follow the "next" links to read on':
    '“offset” deve ser um número de 0 a {0}; para continuar, siga os links para a próxima página.',
  '"{0}" must come from a "{1}" link of this list with the same order':
    'Esta página da lista não existe. Retire “{0}” para voltar ao início.',
  'the row at which the page {0} has been deleted; start again without "{1}"':
    'O item no limite desta página foi excluído. Retire “{1}” para voltar ao início.',
  'this list has no previous pages; start again without "before"':
    'Esta lista não tem páginas anteriores. Retire “before” para voltar ao início.',

  'must be given': 'é obrigatório',
  'must not be blank': 'não pode ficar em branco',
  'must have at least {0} characters': (least) => `deve ter no mínimo ${characters(least)}`,
  'must have at most {0} characters': atMostCharacters,
  'must have at most {0} character': atMostCharacters,
  'must be at least {0}': 'deve ser maior ou igual a {0}',
  'must be at most {0}': 'deve ser menor ou igual a {0}',
  'must be more than {0}': 'deve ser maior que {0}',
  'must be less than {0}': 'deve ser menor que {0}',
  'must be a multiple of {0}': 'deve ser múltiplo de {0}',
  'must be an integer between {0} and {1}': 'deve ser um número inteiro entre {0} e {1}',
  'must have at least {0} items': atLeastItems,
  'must have at least {0} item': atLeastItems,
  'must have at most {0} items': atMostItems,
  'must have at most {0} item': atMostItems,
  'must not have the same item twice': 'não pode ter itens repetidos',
  'must match {0}': 'deve seguir o padrão {0}',
  'must be one of {0}': 'deve ser um destes valores: {0}',
  'must be a date such as {0}': 'deve ser uma data como {0}',
  'must be a time such as {0}': 'deve ser um horário como {0}',
  'must be a date and time such as {0}': 'deve ser uma data com horário como {0}',
  'must be a date and time without an offset, such as {0}': 'deve ser uma data com horário sem fuso, como {0}',
  'must be a time without an offset, such as {0}': 'deve ser um horário sem fuso, como {0}',
  'must be a decimal number such as {0}, without an exponent': 'deve ser um número decimal como {0}',
  'must be a string; write a decimal number as a string: {0}': 'deve ser um número decimal escrito como texto: {0}',
  'must have at most {0} digits before the point': digitsBefore,
  'must have at most {0} digit before the point': digitsBefore,
  'must have no digit but 0 before the point': 'só pode ter um 0 na parte inteira',
  'must have at most {0} digits after the point': digitsAfter,
  'must have at most {0} digit after the point': digitsAfter,
  'must be a whole number without a point': 'deve ser um número inteiro, sem casas decimais',
  'must be base64 with padding, such as {0}': 'deve ser base64 com preenchimento, como {0}',
  'must be base64': 'deve ser base64',
  'must be an e-mail address': 'deve ser um endereço de e-mail',
  'must be an absolute URL': 'deve ser um endereço web completo',
  'must be a UUID in lower case': 'deve ser um UUID em letras minúsculas',
  'must be a valid {0}': 'não está no formato “{0}”',
  'must be a value of the enumeration of its column': 'não é um dos valores possíveis',
  'must be a value that the type {0} can have': 'não é compatível com o tipo {0}',
  'must be a group of attributes': 'deve ser um grupo de valores',
  'must be JSON': 'deve ser JSON',
  'must number the items that have parts, as in [0][name]': 'deve numerar os itens com partes, como [0][name]',
  'must be inside "{0}": send {1}': 'deve estar dentro de “{0}”: {1}',
  'must be inside "{0}"': 'deve estar dentro de “{0}”',
  'must not have more than {0} names': 'não pode ter mais de {0} nomes',
  'must not have more than {0} attributes': 'não pode ter mais de {0} dados',
  'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored':
    'contém caracteres que não podem ser salvos',
  'must be a text without U+0000 and unpaired surrogates': 'contém caracteres que não podem ser salvos',
  'must be {0}': (wanted) => `deve ser ${types(wanted)}`,
  'refers to something that does not exist': 'faz referência a algo que não existe',
  'cannot be stored': 'não pode ser salvo',
  'is already taken': 'já está em uso',
  'is already taken together with {0}': 'já está em uso junto com “{0}”',
  'is not valid': 'não é válido',
  'is assigned by the server; leave it out': 'é atribuído automaticamente',
  'consists of {0}; send that instead': 'consiste em {0}; envie isso em vez dele',
  'is given more than once': 'aparece mais de uma vez',
  'is given both as one value and in parts': 'aparece ao mesmo tempo inteiro e em partes',
  'is unknown beside "{0}"; did you mean "{1}"?': 'não existe ao lado de “{0}”. Você quis dizer “{1}”?',
  'is unknown beside "{0}"': 'não existe ao lado de “{0}”',
  'is unknown; did you mean "{0}"?': 'não existe. Você quis dizer “{0}”?',
  'is unknown': 'não existe',
  'is a name of more than {0} characters': 'é um nome com mais de {0} caracteres',
  'is not a valid name': 'não é um nome válido',
  'is not a valid name in XML': 'não é um nome válido',
  'is nested deeper than {0} levels': 'tem mais de {0} níveis',
  'is too complex to be checked': 'é complexo demais para ser verificado',
  'has a "-" in its name, which XML clients write for "_"; send "{0}"': 'tem um hífen no nome. Escreva “{0}”.',
  'has the unknown marker "{0}"': 'tem a marca desconhecida “{0}”',
  'has the number {0}, which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308':
    'tem o número {0}, que não pode ser salvo com exatidão',
  'has no column in the table': 'não tem coluna na tabela'
}
