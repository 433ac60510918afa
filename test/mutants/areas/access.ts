import type { Mutant } from '../load.js'

export const tests = ['test/actions/authorize/authorize.test.ts', 'test/actions/authorize/scopes.test.ts', 'test/http/handlers/custom-actions.test.ts']

const authorize = 'lib/core/actions/authorize/authorize.ts'
const level = 'lib/core/actions/authorize/level.ts'
const parents = 'lib/core/actions/authorize/parents.ts'
const refused = 'lib/core/actions/authorize/refused-actions.ts'

export const mutants: readonly Mutant[] = [
  { file: authorize, find: 'hasLooked ? authorizedRow : find(target)', replace: 'find(target)', why: 'a row that was authorized is read once more' },
  { file: authorize, find: 'parameterChecks.length === 0 && parents.length === 0 && !isGuarded(resource)', replace: '!isGuarded(resource)', why: 'a resource without hooks of its own ignores those of its parents' },
  { file: authorize, find: 'if (!isFit(context.request.params[param] as string)) throw', replace: 'if (isFit(context.request.params[param] as string)) throw', why: 'constraints of a path are upside down' },
  { file: authorize, find: '() => forEachInOrder(steps, (step) => this.#resolveScope(step)),', replace: '() => forEachInOrder(this.#parents, (step) => this.#resolveScope(step)),', why: 'the scope of the last resource is forgotten' },
  { file: authorize, find: '() => forEachInOrder(steps, (step) => this.#authorize(step)),', replace: '() => forEachInOrder(this.#parents, (step) => this.#authorize(step)),', why: 'only the parents are authorized' },
  { file: authorize, find: '() => forEachInOrder(steps, (step) => this.#authorize(step)),', replace: '() => forEachInOrder([this.#last], (step) => this.#authorize(step)),', why: 'the parents are not authorized' },
  { file: authorize, find: '() => forEachInOrder(this.#parents, (step) => this.#checkExists(step)),', replace: '', why: 'a parent that does not exist has children' },
  { file: authorize, find: '() => this.#checkAbove(this.#parents[0] ?? this.#last)', replace: '', why: 'a shallow member skips the parents above it' },
  { file: authorize, find: "const action = isLast ? this.#access.action : 'show'", replace: 'const action = this.#access.action', why: 'parents are asked for the action of the child' },
  { file: authorize, find: "id !== undefined || (resource.singleton && action !== 'create' && action !== 'new')", replace: 'id !== undefined', why: 'a singleton is authorized without its row' },
  { file: authorize, find: 'if (row === undefined) throw makeHidden()', replace: 'if (row === undefined) return', why: 'a missing member passes the check of its parents' },
  { file: authorize, find: 'isLast && !this.#access.isCustom ? FORMS_FOR.get(action) : undefined', replace: 'FORMS_FOR.get(action)', why: 'a custom action called new is refused as create' },
  { file: authorize, find: 'Object.hasOwn(scope, foreignKey) && scope[foreignKey] !== value', replace: 'false', why: 'a scope and a path that contradict each other do not matter' },
  { file: authorize, find: 'return { ...scope, [foreignKey]: value }', replace: 'return scope', why: 'a nested list shows the rows of all parents' },
  { file: authorize, find: 'step.read ??= {', replace: 'step.read = {', why: 'each look at a row reads it again' },
  { file: authorize, find: 'if (foreignKey === undefined || parent === undefined) return scope', replace: 'if (foreignKey === undefined || parent === undefined) return {}', why: 'the scope of a resource without a parent is lost' },
  { file: authorize, find: 'authorizedRow: this.#authorizedRow,', replace: 'authorizedRow: undefined,', why: 'the authorized row is not handed on' },
  { file: authorize, find: 'if (id === undefined || !passesChecks(idChecks, id)) throw ofParent', replace: 'if (id === undefined) throw ofParent', why: 'the constraint of a parent id is not checked' },
  { file: level, find: "if (answer === 'hide') throw makeHidden()", replace: '', why: 'hide is 403, which tells that the row exists' },
  { file: level, find: 'if (answer !== true) throw', replace: 'if (answer === false) throw', why: 'authorize that forgets to return allows' },
  { file: level, find: "if (name === 'id') return refuse(", replace: "if (name === '') return refuse(", why: 'a scope may give the id' },
  { file: level, find: 'narrowed.has(name) && narrowed.get(name) !== value', replace: 'false', why: 'an inner scope widens the outer one' },
  { file: level, find: '!isObject(found) || !PLAIN.includes(Object.getPrototypeOf(found))', replace: '!isObject(found)', why: 'a scope may be an instance of a class, whose getters are not seen' },
  { file: level, find: 'value === null || typeof value', replace: 'typeof value', why: 'a scope cannot be null' },
  { file: level, find: 'refusedAction = action', replace: "refusedAction = 'show'", why: 'a refusal names another action' },
  { file: level, find: 'authorize.length > 0 || scope.length > 0', replace: 'authorize.length > 0', why: 'a resource that has only a scope counts as open to all' },
  { file: level, find: 'return checks.every(', replace: 'return checks.length === 0 || checks.some(', why: 'one of several constraints is enough' },
  { file: level, find: "['edit', 'update']", replace: "['edit', 'show']", why: 'a refused edit form names show' },
  { file: parents, find: 'if (parent?.id !== id) throw makeHidden()', replace: '', why: 'a row whose parent is gone or out of scope is shown' },
  { file: parents, find: 'andThen(authorize(level, context.request, question), () =>', replace: 'andThen(undefined, () =>', why: 'the parent of a shallow member is not authorized' },
  { file: parents, find: 'return checkParents(parent, level, makeHidden, context)', replace: '', why: 'grandparents are not checked' },
  { file: parents, find: 'store.get(id, scope, context))', replace: 'store.get(id, {}, context))', why: 'the parent of a shallow member is read outside its scope' },
  { file: parents, find: ' || !passesChecks(idChecks, id)) throw makeHidden()', replace: ') throw makeHidden()', why: 'a shallow member ignores the constraint of its parent' },
  { file: parents, find: 'parent === undefined ? parameters : findParameters(parent, parentLink, parameters, context)', replace: 'parameters', why: 'the path of a grandparent is not found' },
  { file: refused, find: 'answers.includes(true)', replace: '!answers.includes(false)', why: 'a page offers what one of several functions refuses' },
  { file: refused, find: '(answer) => answer !== true), () => false)', replace: '(answer) => answer !== true), () => true)', why: 'a page hides what a function that throws may allow' },
  { file: refused, find: 'refused && !needsRow', replace: 'refused', why: 'a page hides what only the row decides' },
  { file: refused, find: '...(id !== undefined && { id })', replace: '', why: 'a page asks without the id of the row' },
  { file: refused, find: 'usual.filter((action) => resource.actions.has(action))', replace: 'usual', why: 'authorize is asked for actions that do not exist' }
]
