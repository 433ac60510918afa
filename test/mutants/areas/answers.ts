import type { Mutant } from '../load.js'

export const tests = ['test/http/response/cache-control.test.ts', 'test/http/response/answers.test.ts', 'test/routing/hooks.test.ts', 'test/resource/paths.test.ts', 'test/routing/convention.test.ts', 'test/routing/maps.test.ts', 'test/formats/html/pages/pages.test.ts']

const cache = 'lib/core/options/cache-control.ts'
const responder = 'lib/core/response/responder.ts'
const errors = 'lib/core/errors.ts'
const helpers = 'lib/draw/path-helpers.ts'
const rowPath = 'lib/core/resource/row-path.ts'

export const mutants: readonly Mutant[] = [
  { file: cache, find: '/(?:^|[\\s,])no-store(?:[\\s,]|$)/i', replace: '/no-store/', why: 'NO-STORE is stored' },
  { file: cache, find: '!DIRECTIVES.test(value)', replace: 'false', why: 'an option may break the header' },
  { file: cache, find: 'filter(([, value]) => isUnstored(value))', replace: 'slice()', why: 'errors are public' },
  { file: responder, find: 'state?.isAnswered !== true || reply.statusCode >= 400', replace: 'reply.statusCode >= 400', why: 'an answer of a hook has the cache control of the action' },
  { file: responder, find: '?? PRIVATE)', replace: "?? 'no-cache')", why: 'shared caches keep what one user sees' },
  { file: responder, find: "reply.header('x-content-type-options', 'nosniff')", replace: '', why: 'a browser guesses the type' },
  { file: responder, find: 'cacheControl !== undefined && !isUnstored(String(cacheControl))', replace: 'false', why: 'an error is cached as its page' },
  { file: responder, find: "'etag', 'location',", replace: "'etag',", why: 'an error has a location' },
  { file: responder, find: 'validateHeaderValue(name, value)', replace: '', why: 'a broken header of an error is 500' },
  { file: responder, find: 'isOfParent(thrown) ? hideParent(view)', replace: 'false ? hideParent(view)', why: 'the page of an error links to a hidden parent' },
  { file: 'lib/core/options/hooks.ts', find: '[...joined.get(name) ?? [], ...list]', replace: '[...list, ...joined.get(name) ?? []]', why: 'inner hooks run first' },
  { file: 'lib/core/options/hooks.ts', find: 'return isFor(request) ? hook', replace: 'return true ? hook', why: 'the hook of one action runs for all' },
  { file: 'lib/core/options/hooks.ts', find: "HOOKS.filter((name) => name !== 'preParsing')", replace: 'HOOKS', why: 'preParsing of an action is taken and never runs' },
  { file: errors, find: 'status >= 500 ? serverDetail(thrown) : error.message', replace: 'error.message', why: 'a client reads the message of a failure' },
  { file: errors, find: 'status >= 400 && status <= 599', replace: 'status >= 200 && status <= 599', why: 'an error may be 200' },
  { file: errors, find: 'status < 500 && hasMessages(thrown)', replace: 'hasMessages(thrown)', why: 'a failure tells attributes' },
  { file: helpers, find: "value === '.' || value === '..'", replace: 'false', why: 'a helper leaves its path' },
  { file: helpers, find: "if (!isText || value === '') {", replace: 'if (!isText) {', why: 'a helper makes a path with an empty id' },
  { file: helpers, find: 'if (parameters.length > names.length) {', replace: 'if (false) {', why: 'a helper ignores a parameter too many' },
  { file: helpers, find: 'if (value === undefined) return []', replace: '', why: 'a query has undefined' },
  { file: helpers, find: '!Object.hasOwn(value, \'id\')', replace: 'true', why: 'a row is taken for options' },
  { file: helpers, find: 'if (other !== undefined) {\n      throw new InvalidPathError(\n', replace: 'if (false) {\n      throw new InvalidPathError(\n', why: 'the first of two helpers of one name is taken' },
  { file: helpers, find: 'format !== undefined && !formats.includes(format)', replace: 'false', why: 'a helper takes any format' },
  { file: rowPath, find: "suffixes.includes(text.slice(at + 1)) ? '%2E' : dot", replace: 'dot', why: 'the id a.xml is read as a with a suffix' },
  { file: rowPath, find: '`%25${dot.slice(1)}`', replace: 'dot', why: 'the id a%2Exml has the path of a.xml' },
  { file: rowPath, find: 'encodeURIComponent(text.toWellFormed())', replace: 'text', why: 'an id with a slash is two' },
  { file: 'lib/core/resource/path-pattern.ts', find: 'encodeSegment(parameters', replace: 'String(parameters', why: 'parameters of a path are not escaped' },
  { file: 'lib/core/resource/location.ts', find: 'given[param] !== undefined ||', replace: '', why: 'the parent in the path is overridden by the row' }
]
