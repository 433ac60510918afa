import type { Mutant } from '../load.js'

export const tests = ['test/stores/memory-store.test.ts', 'test/stores/memory-stores.test.ts', 'test/stores/contract/store-contract.test.ts', 'test/http/request/decimals.test.ts']

const sorted = 'lib/core/stores/memory/sorted-rows.ts'
const memory = 'lib/core/stores/memory/table.ts'
const matcher = 'lib/core/stores/matcher.ts'
const order = 'lib/core/stores/order.ts'
const decimal = 'lib/core/util/decimal.ts'
const unique = 'lib/core/stores/unique.ts'
const foreignKey = 'lib/core/stores/memory/foreign-key.ts'

export const mutants: readonly Mutant[] = [
  { file: matcher, find: '...Object.keys(scope).map((name) => compileTest(name, equals(scope[name] as Scalar))),', replace: '', why: 'a list ignores the scope' },
  { file: matcher, find: 'return (value) => keyOf(value) !== other', replace: 'return (value) => value !== null && keyOf(value) !== other', why: '`not` leaves out rows without a value' },
  { file: matcher, find: 'isComparable(value) && isMet', replace: 'isMet', why: 'null is less than any value' },
  { file: matcher, find: "type === 'decimal' ? keyOfDecimal : identity", replace: 'identity', why: '`1.10` does not equal `1.1`' },
  { file: matcher, find: '(value as Scalar, wanted, type)', replace: '(value as Scalar, wanted, undefined)', why: 'a range of decimals compares them as texts' },
  { file: matcher, find: 'return words.map', replace: 'return words.slice(0, 1).map', why: 'a search takes one word' },
  { file: memory, find: 'row !== undefined && hasValues(row, scope) ? row : undefined', replace: 'row', why: 'get ignores the scope' },
  { file: memory, find: 'mergeMembers(freezeValues(given), freezeValues(scope))', replace: 'mergeMembers(freezeValues(scope), freezeValues(given))', why: 'a payload overrides the scope of a new row' },
  { file: memory, find: 'checkScope(changes, guard.scope)', replace: '', why: 'an update that would move a row out of its scope is ignored' },
  { file: memory, find: 'if (changes[name] === undefined) delete changed[name]', replace: '', why: 'an attribute that an update removes is undefined' },
  { file: memory, find: 'version !== undefined && version !== row.version', replace: 'version !== row.version', why: 'an update without a version is stale' },
  { file: memory, find: 'String(Number(previous.version) + 1)', replace: 'previous.version', why: 'an update keeps the version' },
  { file: memory, find: 'this.#unique?.remove(row)', replace: '', why: 'an old or a deleted value stays taken' },
  { file: memory, find: 'this.#unique?.check(id, attributes, guard.scope)', replace: '', why: 'an update may take a value twice' },
  { file: memory, find: '(ids, (id) => id > last)', replace: '(ids, (id) => id >= last)', why: 'a page begins with the last row of the one before' },
  { file: memory, find: '(ids, (id) => id >= last)) - 1', replace: '(ids, (id) => id > last)) - 1', why: 'a descending page begins with the last row of the one before' },
  { file: memory, find: '(ownMember(attributes, name) ?? null) !== values[name]', replace: 'ownMember(attributes, name) !== values[name]', why: 'a filter for null misses what has no value' },
  { file: memory, find: 'row !== undefined && matches(row)', replace: 'row !== undefined', why: 'a list by id ignores scope and filter' },
  { file: memory, find: 'if (!matches(row)) continue\n        size', replace: 'size', why: 'an ordered list ignores scope and filter' },
  { file: sorted, find: 'after === undefined ? [0, 0] : this.#find(after, 1)', replace: 'after === undefined ? [0, 0] : this.#find(after, 0)', why: 'an ordered page repeats a row' },
  { file: memory, find: 'for (const sorted of this.#sorted.values()) sorted.remove(row)', replace: '', why: 'an ordered list gives a row that was changed or deleted' },
  { file: sorted, find: 'if (block.length > BLOCK) this.#blocks.splice(number + 1, 0, block.splice(BLOCK / 2))', replace: 'if (block.length > BLOCK) block.splice(BLOCK / 2)', why: 'half of a full block is lost' },
  { file: 'lib/core/util/own-property.ts', find: 'return Object.freeze(value.map(freezeCopy))', replace: 'return value', why: 'a caller can change an array within the store' },
  { file: memory, find: 'this.#ids.push(id)', replace: 'this.#ids.unshift(id)', why: 'ids are not in order' },
  { file: memory, find: 'if (size > LARGEST_BATCH_SIZE && batch.length > 0) break\n            batch.push(row)', replace: 'batch.push(row)', why: 'a batch may be of any size' },
  { file: memory, find: 'this.#hasLargeRows ? sizeOf(row) : 0', replace: '0', why: 'the sizes of rows are never counted' },
  { file: memory, find: 'if (all !== undefined && !this.#hasLargeRows)', replace: 'if (all !== undefined)', why: 'a list of all rows has batches of any size' },
  { file: memory, find: 'last = batch.at(-1)?.id', replace: '', why: 'a list begins again once there is a large row' },
  { file: order, find: 'descending ? -compared : compared', replace: 'compared', why: 'the descending order ascends' },
  { file: order, find: 'if (a === null) return -1', replace: 'if (a === null) return 1', why: 'null is greater than all' },
  { file: order, find: 'isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1', replace: 'one - other', why: 'texts are in the order of UTF-16' },
  { file: order, find: 'return a.length - b.length', replace: 'return 0', why: 'a beginning equals the whole' },
  { file: order, find: 'isNumber !== isDecimal(b)', replace: 'false', why: 'a text that is no decimal has no place among decimals' },
  { file: decimal, find: 'if (one === other) return 0', replace: '', why: 'a decimal is less than itself' },
  { file: decimal, find: 'isNearer === isNegative', replace: '!isNearer', why: 'negative decimals are in the reversed order' },
  { file: decimal, find: 'difference === 0 ? one < other : difference < 0', replace: 'one < other', why: '10 is less than 9' },
  { file: decimal, find: "while (digits[end - 1] === '0') end--", replace: '', why: '1.10 is greater than 1.1' },
  { file: unique, find: 'if (values.some((value) => value == null)) return undefined', replace: '', why: 'null may be taken once' },
  { file: unique, find: 'owner !== undefined && owner !== id', replace: 'owner !== undefined', why: 'a row is in its own way' },
  { file: unique, find: '`"${value}`', replace: 'value', why: 'a text is taken by its JSON' },
  { file: unique, find: '!Object.hasOwn(scope, attribute)', replace: 'Object.hasOwn(scope, attribute)', why: 'the attribute of the scope is at fault' },
  { file: memory, find: 'for (const foreignKey of this.#foreignKeys) foreignKey.remove(row)', replace: '', why: 'a deleted row still refers to its parent' },
  { file: memory, find: 'for (const foreignKey of this.#foreignKeys) foreignKey.check(attributes, guard.scope)', replace: '', why: 'an update refers to a row that does not exist' },
  { file: memory, find: 'if (this.#referrers.length > 0) deleteReferrers(this, id)', replace: '', why: 'a row is deleted to which others refer' },
  { file: foreignKey, find: 'if (isDeleted(foreignKey.rows, row)) continue', replace: '', why: 'a row is in the way of its own deletion' },
  { file: foreignKey, find: 'left.push([foreignKey.rows, row.id])', replace: '', why: 'a cascade ends after one step' },
  { file: foreignKey, find: 'if (row !== undefined) rows.replace', replace: 'rows.replace', why: 'a foreign key of a deleted row is set to null' }
]
