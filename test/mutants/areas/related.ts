import type { Mutant } from '../load.js'

export const tests = ['test/http/related-lists.test.ts', 'test/formats/html/values/row-links.test.ts', 'test/formats/html/pages/page-bytes.test.ts']

const count = 'lib/actions/include/count-related.ts'
const lists = 'lib/http/related-lists.ts'
const content = 'lib/http/handlers/page-content.ts'
const links = 'lib/formats/html/pages/related-links.ts'

export const mutants: readonly Mutant[] = [
  { file: count, find: 'const { store, scope } = opened', replace: 'const { store, scope } = target', why: 'rows outside the scope are counted' },
  { file: count, find: "action: 'list'", replace: "action: 'show'", why: 'the number is shown to those who may not list' },
  { file: count, find: 'opened === undefined || !isCounted', replace: 'opened === undefined', why: 'rows behind hooks are counted' },
  { file: count, find: 'requestFor(context, parameters)', replace: 'context.request', why: 'the guards of a list see the id of the parent' },
  { file: lists, find: 'other.isPlain && ', replace: '', why: 'a link has a parameter that means something else' },
  { file: lists, find: '|| !isFilterable ', replace: '', why: 'a link leads to a list that refuses its filter' },
  { file: lists, find: '|| !isLocated', replace: '', why: 'a link has a path without its parameters' },
  { file: lists, find: "!resource.actions.has('list') || ", replace: '', why: 'a link leads to a list that does not exist' },
  { file: lists, find: " && !routing.handlers.has('list')", replace: '', why: 'rows are counted although a handler lists others' },
  { file: lists, find: '[from.appHooks(), from.options.routing.hooks]', replace: '[from.options.routing.hooks]', why: 'hooks around both count as those of one' },
  { file: lists, find: '[appHooks(), routing.hooks, ', replace: '[routing.hooks, ', why: 'the hooks of an instance protect no number' },
  { file: lists, find: ' && hasPage(resource, id)', replace: '', why: 'a value leads to a page that does not exist' },
  { file: lists, find: ' && isAllowed?.(id) !== false', replace: '', why: 'a value that no path may have is a link' },
  { file: lists, find: ' && parseId(resource.idType, String(id)) === id', replace: '', why: 'a value that is no id is a link' },
  { file: content, find: "outcome.kind !== 'found' || state.choice.format.writer.list !== undefined) return\n  return Promise", replace: "outcome.kind !== 'found') return\n  return Promise", why: 'documents cost a count' },
  { file: links, find: 'rows < most', replace: 'rows <= most', why: 'a number that is cut off is shown as exact' },
  { file: links, find: 'most - 1', replace: 'most', why: 'more rows are claimed than were counted' },
  { file: links, find: '.length === 1', replace: '.length > 0', why: 'two links have the same label' },
  { file: 'lib/formats/html/values/shown-attributes.ts', find: '{ ...shape, format: undefined }', replace: 'shape', why: 'the link of an address stands in another' }
]
