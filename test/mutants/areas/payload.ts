import type { Mutant } from '../load.js'

export const tests = ['test/http/request/ids.test.ts', 'test/http/request/browsers.test.ts', 'test/http/hostile.test.ts', 'test/http/request/merge-patch.test.ts', 'test/formats/html/forms/emptied-fields.test.ts']

const payload = 'lib/core/request/payload.ts'
const hooks = 'lib/core/request/payload-hooks.ts'

export const mutants: readonly Mutant[] = [
  { file: payload, find: 'if (isUpdate) supplied[name] = undefined', replace: '', why: 'an update removes no attribute' },
  { file: 'lib/core/schema/validation/validation.ts', find: 'else if (attributes.get(name)?.required === true)', replace: 'else if (false)', why: 'an update removes what is required' },
  { file: 'lib/core/actions/handlers.ts', find: 'state.checked = state.merged = row', replace: '', why: 'of concurrent merges one is lost' },
  { file: 'lib/core/actions/handlers.ts', find: '|| (state.payload?.merged.length ?? 0) > 0', replace: '', why: 'a merge whose row has changed is refused' },
  { file: 'lib/core/formats/json/merge-patch.ts', find: "node === null && (resource.open || !types.has('null'))", replace: 'node === null', why: 'a merge patch sets nothing to null' },
  { file: 'lib/html/forms/field-frame.ts', find: 'hasContent(value) &&', replace: '', why: 'a form that nobody touches removes a value that is blank' },
  { file: payload, find: 'claims.addText(member)', replace: '', why: 'the id in the path does not count' },
  { file: payload, find: 'claims.addText(query)', replace: '', why: 'the id in the query does not count' },
  { file: payload, find: 'claims.addMember(entries)', replace: '', why: 'the id beside the group does not count' },
  { file: payload, find: 'if (!isNamedId) claims.addMember(group)', replace: '', why: 'the id in the group does not count' },
  { file: payload, find: 'else if (text !== this.#text)', replace: 'else if (parseId(this.#resource.idType, text) !== parseId(this.#resource.idType, this.#text))', why: 'two ids that are no ids agree' },
  { file: payload, find: 'if (id === undefined) throw new NotFoundError', replace: 'if (false) throw new NotFoundError', why: 'what is no id counts as no claim' },
  { file: payload, find: 'this.#areOfType = false', replace: '', why: 'a JSON id may be of any type' },
  { file: payload, find: "if (value === null || value === '') return", replace: 'if (value === null) return', why: 'an empty id is a claim' },
  { file: payload, find: 'if (!topLevel.includes(name)) throw', replace: 'if (false) throw', why: 'unknown names beside the group are ignored' },
  { file: payload, find: "(name === 'id' && !singleton) || (open && name === foreignKey)", replace: "name === 'id' && !singleton", why: 'a payload may name another parent' },
  { file: payload, find: 'readOnly ? undefined : compile', replace: 'false ? undefined : compile', why: 'readOnly attributes are written' },
  { file: payload, find: 'open && !checkOpenNames(Object.keys(group), singular, issues)', replace: 'false', why: 'an open resource takes any number of names' },
  { file: payload, find: "typeof value !== 'string') throw new MalformedBodyError('\"_version\"", replace: "false) throw new MalformedBodyError('\"_version\"", why: 'a version may be given twice' },
  { file: payload, find: 'version: reader.form ? readVersion(entries, reader) : undefined', replace: 'version: undefined', why: 'the version in a form is ignored' },
  { file: payload, find: "given !== undefined && action !== 'delete'", replace: 'given !== undefined', why: 'the attributes of a deletion are checked' },
  { file: hooks, find: 'if (!reader.form || entries._method === undefined) return method', replace: 'if (entries._method === undefined) return method', why: 'JSON may override the method' },
  { file: hooks, find: "if (method !== 'POST') throw", replace: "if (method === 'DELETE') throw", why: 'a PUT may override its method' },
  { file: hooks, find: "override !== 'PUT' && override !== 'DELETE'", replace: "override === ''", why: 'a form may ask for any method' },
  { file: hooks, find: 'value.toUpperCase()', replace: 'value', why: '_method must be upper case' },
  { file: hooks, find: 'if (id !== undefined && isId?.(id) === false) throw', replace: 'if (false) throw', why: 'the constraint of an id does not hold for the body' },
  { file: hooks, find: 'body.length === 0 ? undefined : reader.parse(body)', replace: 'reader.parse(body)', why: 'an empty body is malformed' }
]
