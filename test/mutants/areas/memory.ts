import type { Mutant } from '../load.js'

export const tests = ['test/stores/memory-store.test.ts', 'test/stores/contract/store-contract.test.ts']

const memory = 'lib/stores/memory.ts'
const order = 'lib/stores/order.ts'
const unique = 'lib/stores/unique.ts'

export const mutants: readonly Mutant[] = [
  { file: memory, find: 'row !== undefined && hasValues(row, scope) ? row : undefined', replace: 'row', why: 'get ignores the scope' },
  { file: memory, find: '...freezeValues(given), ...freezeValues(scope)', replace: '...freezeValues(scope), ...freezeValues(given)', why: 'a payload overrides the scope of a new row' },
  { file: memory, find: 'freezeValues(omit(guard.scope, changes))', replace: 'freezeValues(changes)', why: 'an update moves a row out of its scope' },
  { file: memory, find: 'version !== undefined && version !== row.version', replace: 'version !== row.version', why: 'an update without a version is stale' },
  { file: memory, find: 'String(Number(previous.version) + 1)', replace: 'previous.version', why: 'an update keeps the version' },
  { file: memory, find: 'this.#unique?.remove(previous)', replace: '', why: 'the old value stays taken' },
  { file: memory, find: 'this.#unique?.remove(checked.row)', replace: '', why: 'a deleted value stays taken' },
  { file: memory, find: 'this.#unique?.check(id, attributes, guard.scope)', replace: '', why: 'an update may take a value twice' },
  { file: memory, find: '(ids, (id) => id > last)', replace: '(ids, (id) => id >= last)', why: 'a page begins with the last row of the one before' },
  { file: memory, find: '(ids, (id) => id >= last)) - 1', replace: '(ids, (id) => id > last)) - 1', why: 'a descending page begins with the last row of the one before' },
  { file: memory, find: '(ownMember(attributes, name) ?? null) !== values[name]', replace: 'ownMember(attributes, name) !== values[name]', why: 'a filter for null misses what has no value' },
  { file: memory, find: '(hasValues(entry.row, scope) && hasValues(entry.row, filter))', replace: 'hasValues(entry.row, scope)', why: 'a list by id ignores the filter' },
  { file: memory, find: '!hasValues(row, scope) || !hasValues(row, filter)', replace: '!hasValues(row, filter)', why: 'an ordered list ignores the scope' },
  { file: memory, find: 'comparePositions(order, position, after) <= 0', replace: 'comparePositions(order, position, after) < 0', why: 'an ordered page repeats a row' },
  { file: memory, find: 'entry.write > since ||', replace: '', why: 'an ordered list gives a row that changed its place meanwhile' },
  { file: memory, find: 'return Object.freeze(value.map(freezeCopy))', replace: 'return value', why: 'a caller can change an array within the store' },
  { file: memory, find: 'this.#ids.push(id)', replace: 'this.#ids.unshift(id)', why: 'ids are not in order' },
  { file: memory, find: 'if (size > LARGEST_BATCH_SIZE && batch.length > 0) break', replace: '', why: 'a batch may be of any size' },
  { file: order, find: '=== true ? -compared : compared', replace: '=== true ? compared : compared', why: 'the descending order ascends' },
  { file: order, find: 'if (a === null) return -1', replace: 'if (a === null) return 1', why: 'null is greater than all' },
  { file: order, find: 'isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1', replace: 'one - other', why: 'texts are in the order of UTF-16' },
  { file: order, find: 'return a.length - b.length', replace: 'return 0', why: 'a beginning equals the whole' },
  { file: unique, find: 'if (values.some((value) => value == null)) return undefined', replace: '', why: 'null may be taken once' },
  { file: unique, find: 'owner !== undefined && owner !== id', replace: 'owner !== undefined', why: 'a row is in its own way' },
  { file: unique, find: '`"${value}`', replace: 'value', why: 'a text is taken by its JSON' },
  { file: unique, find: '!Object.hasOwn(scope, attribute)', replace: 'Object.hasOwn(scope, attribute)', why: 'the attribute of the scope is at fault' }
]
