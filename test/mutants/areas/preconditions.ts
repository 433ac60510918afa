import type { Mutant } from '../load.js'

export const tests = ['test/http/request/conditional.test.ts', 'test/http/request/row-tags.test.ts', 'test/http/request/shapes.test.ts', 'test/http/handlers/handler-rows.test.ts', 'test/routing/singletons.test.ts']

const preconditions = 'lib/core/request/preconditions.ts'
const actions = 'lib/core/actions/default-actions.ts'
const guards = 'lib/core/actions/custom/handler-guards.ts'
const handlers = 'lib/core/actions/handlers.ts'
const responder = 'lib/core/response/responder.ts'

export const mutants: readonly Mutant[] = [
  { file: preconditions, find: "if (header.trim() === '*') return '*'", replace: '', why: '* is no list of tags' },
  { file: preconditions, find: 'if (tags.length === 0) throw', replace: 'if (false) throw', why: 'a list without a tag is a list' },
  { file: preconditions, find: 'matchTags.filter(({ weak }) => !weak)', replace: 'matchTags', why: 'If-Match takes weak tags' },
  { file: preconditions, find: "nameVersion = formVersion !== undefined || typeof match === 'object'", replace: 'nameVersion = formVersion !== undefined || match !== undefined', why: 'If-Match: * names a version' },
  { file: preconditions, find: 'nameVersion || noneMatch !== undefined', replace: 'nameVersion', why: 'If-None-Match alone does not need the row' },
  { file: preconditions, find: 'noneMatch === undefined ? findSoleVersion(match, formVersion) : undefined', replace: 'findSoleVersion(match, formVersion)', why: 'If-None-Match beside If-Match is not checked' },
  { file: preconditions, find: "if (match.length === 0) return ''", replace: 'if (match.length === 0) return undefined', why: 'only weak tags mean no precondition of their own' },
  { file: preconditions, find: 'versions.size === 1 ? match[0] : undefined', replace: 'match[0]', why: 'only the first of several tags counts' },
  { file: preconditions, find: "row.version !== '' && (version", replace: '(version', why: 'a row without a version matches an empty one' },
  { file: preconditions, find: 'isNamed && version === row.version', replace: 'version === row.version', why: 'a version without its row fits each row' },
  { file: preconditions, find: "noneMatch === '*' || noneMatch?.some(names) === true", replace: 'noneMatch?.some?.(names) === true', why: 'If-None-Match: * does not stop an update' },
  { file: preconditions, find: '(formVersion === undefined || names(formVersion)) &&', replace: '', why: 'the version of a form does not count beside If-Match' },
  { file: preconditions, find: "typeof match !== 'object' || match.some(names)", replace: "typeof match !== 'object' || match.every(names)", why: 'each tag of If-Match must fit' },
  { file: preconditions, find: ".replaceAll('-', '%2D')", replace: '', why: 'an id with a hyphen makes an ambiguous tag' },
  { file: preconditions, find: "tags === '*' || tags?.some", replace: "tags !== '*' && tags?.some", why: 'If-None-Match: * is never 304' },
  { file: preconditions, find: 'own?.weak === false && tags', replace: 'own !== undefined && tags', why: 'a GET compares weak tags by If-Match' },
  { file: preconditions, find: '{ weak: weak !== undefined, opaque }\n}', replace: '{ weak: false, opaque }\n}', why: 'an own weak tag counts as strong' },
  { file: actions, find: 'checkNew(state)\n    return create', replace: 'return create', why: 'If-Match creates' },
  { file: actions, find: 'if (row !== undefined) throw new ExistsError(singular)', replace: '', why: 'a singleton may be created twice' },
  { file: actions, find: 'checkNoneMatch(row, state)', replace: '', why: 'If-None-Match: * does not prevent a second singleton with 412' },
  { file: actions, find: 'if (read !== undefined) return guardAgainst(read, state)', replace: 'if (read !== undefined) return { version: undefined, scope }', why: 'a row may change between authorize and the write' },
  { file: actions, find: 'if (lacksVersion(state)) return refuseWithoutVersion(state)', replace: '', why: 'requireMatch does not require it' },
  { file: actions, find: 'customAction === undefined &&', replace: '', why: 'requireMatch holds for custom actions too' },
  { file: actions, find: 'preconditions?.nameVersion !== true', replace: 'preconditions === undefined', why: 'If-Match: * satisfies requireMatch' },
  { file: actions, find: 'if (row !== undefined || state.target.store === noStore) throw new MatchRequiredError', replace: 'throw new MatchRequiredError', why: 'requireMatch hides that there is nothing' },
  { file: actions, find: "(!version.includes('-') || !mayBeQualified(version, id))", replace: 'true', why: 'a qualified version reaches the store as it is' },
  { file: actions, find: 'row === undefined ? { version: NO_VERSION, scope } : guardAgainst(row, state)', replace: 'row === undefined ? { version: undefined, scope } : guardAgainst(row, state)', why: 'a row that appears meanwhile is written unchecked' },
  { file: actions, find: '!resource.singleton && row.id === id', replace: 'row.id === id', why: 'a singleton takes the version of the row before it' },
  { file: actions, find: 'isMet(row, state) ? row.version : NO_VERSION, scope: state', replace: 'row.version, scope: state', why: 'an authorized row is written though it is stale' },
  { file: actions, find: 'if (state.found !== undefined) return guardAgainst(state.found, state)', replace: '', why: 'a singleton is read twice for a precondition' },
  { file: guards, find: 'if (preconditions === undefined) return { version: authorizedRow?.version, scope }', replace: 'if (preconditions === undefined) return { version: undefined, scope }', why: 'a handler may write a row that changed since authorize' },
  { file: guards, find: "return guard.version === NO_VERSION ? { kind: 'stale', row } : guard", replace: 'return guard', why: 'a handler runs though the row is stale' },
  { file: guards, find: 'if (match === undefined && formVersion === undefined) return', replace: 'if (match === undefined || formVersion === undefined) return', why: 'a handler runs for a row that is gone' },
  { file: guards, find: '(formVersion !== undefined && !namesRow(formVersion))', replace: 'false', why: 'a form version without its row is taken by an action of the collection' },
  { file: guards, find: '!match.some(namesRow)', replace: 'match.every(namesRow)', why: 'tags that name rows are refused' },
  { file: guards, find: 'authorizedRow?.id === id', replace: 'authorizedRow !== undefined', why: 'the version of the authorized row guards another row' },
  { file: guards, find: 'isMet(row, state) ? row.version : NO_VERSION, scope }', replace: 'row.version, scope }', why: 'a handler writes a row whose tag does not match' },
  { file: handlers, find: 'outcome.row.version === checked.version', replace: 'false', why: 'a lost precondition is tried for ever' },
  { file: handlers, find: "if (outcome?.kind !== 'stale' || isHandled", replace: 'if (true || isHandled', why: 'a write between check and write is 412 though the tag fits' },
  { file: handlers, find: 'if (state.tries > TRIES) throw', replace: 'if (state.tries > 1) throw', why: 'two writes between check and write are 503' },
  { file: handlers, find: 'state.checked = undefined\n', replace: '', why: 'a second try checks the row of the first' },
  { file: handlers, find: 'state.authorizedRow = authorizedRow', replace: '', why: 'a second try has no authorized row' },
  { file: handlers, find: 'if (payload === undefined) state.readConditions =', replace: 'if (payload !== undefined) state.readConditions =', why: 'the preconditions of a GET are ignored' },
  { file: handlers, find: 'if (id === undefined || isId?.(id) === false) throw', replace: 'if (id === undefined) throw', why: 'the constraint of an id does not hold' },
  { file: handlers, find: 'writer.document !== undefined || writer.revised === undefined', replace: 'false', why: 'a client that asks for JSON can ask for other rows in a form' },
  { file: responder, find: "if (row.version === '') return undefined", replace: '', why: 'a row without a version has a tag' },
  { file: responder, find: 'isNamed && !compiled.resource.singleton ? known.version', replace: 'isNamed ? known.version', why: 'two rows of a singleton share a tag' },
  { file: responder, find: '`${version}.${format.name}-${format.shape(request)}`', replace: 'version', why: 'all formats share a tag' },
  { file: responder, find: 'return reply.code(304).send()', replace: 'return reply.code(304).send(\'\')', why: 'a 304 has a body type' },
  { file: responder, find: ' && !hasMoreContent(state)', replace: '', why: 'a page that depends on the user is 304' }
]
