import type { Mutant } from '../load.js'

export const tests = ['test/http/relations/related-lists.test.ts', 'test/http/relations/row-links.test.ts', 'test/http/relations/choices.test.ts', 'test/http/relations/choose.test.ts', 'test/formats/html/values/row-links.test.ts', 'test/formats/html/pages/page-bytes.test.ts', 'test/plugin/home.test.ts', 'test/system/stores/keys/references.test.ts']

const first = 'lib/core/relations/include/first-rows.ts'
const lists = 'lib/core/relations/related-lists.ts'
const guards = 'lib/core/relations/hook-guards.ts'
const links = 'lib/core/relations/row-links.ts'
const choices = 'lib/core/relations/choices.ts'
const onForms = 'lib/core/relations/form-choices.ts'
const content = 'lib/html/page-content.ts'
const related = 'lib/html/pages/related.ts'

export const mutants: readonly Mutant[] = [
  { file: first, find: 'opened?.target ?? all', replace: 'all', why: 'rows outside the scope are counted' },
  { file: first, find: "action: 'list'", replace: "action: 'show'", why: 'rows are shown to those who may not list' },
  { file: first, find: 'requestFor(context, parameters)', replace: 'context.request', why: 'the guards of a list see the id of the parent' },
  { file: first, find: 'if (!hasMore) return { rows, total', replace: 'return { rows, total', why: 'the number of many rows is that of the shown ones' },
  { file: lists, find: 'if (!isReadable) ', replace: 'if (false) ', why: 'rows behind hooks are shown' },
  { file: lists, find: 'other.isPlain && ', replace: '', why: 'a link has a parameter that means something else' },
  { file: lists, find: '|| !isFilterable ', replace: '', why: 'a link leads to a list that refuses its filter' },
  { file: lists, find: '|| !isLocated', replace: '', why: 'a link has a path without its parameters' },
  { file: lists, find: "!resource.actions.has('list') || ", replace: '', why: 'a link leads to a list that does not exist' },
  { file: lists, find: "!routing.handlers.has('list') && ", replace: '', why: 'rows are shown although a handler lists others' },
  { file: guards, find: '[from.appHooks(), from.options.routing.hooks]', replace: '[from.options.routing.hooks]', why: 'hooks around both count as those of one' },
  { file: guards, find: '[appHooks(), routing.hooks, ', replace: '[routing.hooks, ', why: 'the hooks of an instance protect no number' },
  { file: links, find: " || linked.options.routing.handlers.has('show')", replace: '', why: 'a row is named although a handler may hide it' },
  { file: links, find: " || guardsMore(linked, from, 'show')", replace: '', why: 'a row is named behind the hooks that protect it' },
  { file: links, find: ' && hasPage(resource, id)', replace: '', why: 'a value leads to a page that does not exist' },
  { file: choices, find: '.filter(canSend)', replace: '', why: 'a form offers a key that it cannot send' },
  { file: lists, find: 'String(referenceTo(row, referenced))', replace: 'String(row.id)', why: 'the list of related rows is filtered by an id instead of a key' },
  { file: 'lib/core/relations/include/load-one.ts', find: 'filter(isId))].filter(fits)', replace: 'filter(isId))]', why: 'a store is asked for a value that is no id' },
  { file: 'lib/core/relations/include/load-one.ts', find: ' && await isAllowed(row, context) === true', replace: '', why: 'a hidden row is named' },
  { file: 'lib/core/actions/handlers.ts', find: 'state.choice.format.writer.list === undefined\n', replace: 'true\n', why: 'documents cost a query' },
  { file: content, find: 'if (!OUTCOME_RESPONSES[outcome.kind].browser.body) {', replace: 'if (false) {', why: 'a redirect costs questions' },
  { file: content, find: 'state.unlisted = NONE_UNLISTED', replace: '', why: 'the bar is empty' },
  { file: 'lib/core/response/failure.ts', find: '(!state.hasPassedHooks && hasGuards(compiled))', replace: 'false', why: 'strangers learn the names of resources' },
  { file: 'lib/core/actions/authorize/unlisted.ts', find: '() => resource)', replace: '() => undefined)', why: 'the bar links to lists that the user may not open' },
  { file: choices, find: 'isHandled || ', replace: '', why: 'rows are offered although a handler lists others' },
  { file: choices, find: "if (guardsMore(listed, from, 'list')) return undefined\n", replace: '', why: 'rows behind hooks are offered' },
  { file: choices, find: 'if (hasMore) return { rows: undefined }\n', replace: '', why: 'a form offers the first of many rows as if there were no more' },
  { file: choices, find: '.sort((a, b) => BY_NAME.compare(a.name, b.name))', replace: '', why: 'names are offered in the order of their ids' },
  { file: choices, find: '{ ...ALL, ...conditions, after: position, scope, limit: MOST_FOUND }', replace: '{ ...ALL, ...conditions, scope, limit: MOST_FOUND }', why: 'the next page of a search is the first one again' },
  { file: choices, find: 'if (searchable.length > 0) return', replace: 'if (false) return', why: 'a choice passes over the search of the other list' },
  { file: 'lib/core/formats/form/flatten.ts', find: "'writeOnly' in found && found.writeOnly", replace: 'false', why: 'a page shows a secret that was typed' },
  { file: 'lib/core/formats/form/parse.ts', find: '!ASKING.has(part)', replace: 'true', why: 'a form that has its choice asks for it again' },
  { file: onForms, find: 'actions.has(action) && !actions.has(form)', replace: 'actions.has(action)', why: 'a page without a form costs a query for its choices' },
  { file: 'lib/html/forms/choices.ts', find: 'isAlone(name, rows) ? name', replace: 'true ? name', why: 'two rows are offered under the same name' },
  { file: related, find: 'rows < most', replace: 'rows <= most', why: 'a number that is cut off is shown as exact' },
  { file: related, find: 'most - 1', replace: 'most', why: 'more rows are claimed than were counted' },
  { file: related, find: '.length === 1', replace: '.length > 0', why: 'two links have the same label' },
  { file: 'lib/html/values/shown-attributes.ts', find: '{ ...shape, ...ID_SHAPE }', replace: 'shape', why: 'the link of an address stands in another' }
]
