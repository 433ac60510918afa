import type { Mutant } from '../load.js'

export const tests = ['test/http/request/queries.test.ts', 'test/http/handlers/handler-rows.test.ts', 'test/http/response/stream.test.ts', 'test/formats/html/pages/place.test.ts']

const cursor = 'lib/http/request/cursor.ts'
const query = 'lib/http/request/list-query.ts'
const list = 'lib/actions/list.ts'
const response = 'lib/http/response/list-response.ts'
const stream = 'lib/http/response/list-stream.ts'

export const mutants: readonly Mutant[] = [
  { file: cursor, find: 'encode(parts) !== text', replace: 'false', why: 'a cursor may be spelt in several ways' },
  { file: cursor, find: "sort !== '' && parts[0] !== sort", replace: 'false', why: 'a cursor of another order is taken' },
  { file: cursor, find: '&& whole.length <= LONGEST', replace: '', why: 'a long text makes a cursor that is refused' },
  { file: cursor, find: 'length <= LONGEST && isPosition', replace: 'isPosition', why: 'a client may send a cursor of any length' },
  { file: cursor, find: 'parseId(idType, String(value)) === value', replace: 'true', why: 'a cursor may hold what is no id' },
  { file: cursor, find: "shape?.only === 'string' && isLegalText(value)", replace: "shape?.only === 'string'", why: 'a cursor may hold control characters' },
  { file: cursor, find: "(shape.format !== 'uuid' || isUuid(value))", replace: 'true', why: 'a cursor may hold a text where a UUID is' },
  { file: cursor, find: 'Number.isFinite(value)', replace: 'true', why: 'a cursor may hold 1e999' },
  { file: cursor, find: 'Number.isSafeInteger(value)', replace: 'true', why: 'a cursor may hold a fraction for an integer' },
  { file: cursor, find: 'value === null || isOfShape', replace: 'isOfShape', why: 'a page cannot end at null' },
  { file: cursor, find: "typeof value === 'boolean' && shape", replace: 'shape', why: 'a cursor may hold an object for a boolean' },
  { file: cursor, find: 'values.length === order.length &&', replace: '', why: 'a cursor may be longer than its order' },
  { file: cursor, find: 'order.at(-1)?.descending === true ? order : order.slice(0, -1)', replace: 'order.slice(0, -1)', why: 'cursors of ascending and descending ids are the same' },
  { file: cursor, find: 'named.length === 1 && isId', replace: 'isId', why: 'a cursor may have something after its id' },
  { file: query, find: String.raw`/^[1-9]\d{0,15}$/`, replace: String.raw`/^\d{1,16}$/`, why: 'a page may have no rows' },
  { file: query, find: '!(limit <= maxLimit)', replace: 'limit > maxLimit', why: 'a limit that is no number means none' },
  { file: query, find: '(isPage ? pageSize : undefined)', replace: 'pageSize', why: 'lists for machines have pages' },
  { file: query, find: 'store.get(place, state.target.scope, state)', replace: 'store.get(place, {}, state)', why: 'a cursor reads rows outside the scope' },
  { file: query, find: 'if (row === undefined) {', replace: 'if (false) {', why: 'a page after a row that is gone fails' },
  { file: query, find: 'can && isUsable(attribute) && !isReserved(attribute.name)', replace: 'can && isUsable(attribute)', why: 'an attribute takes the name of a parameter' },
  { file: query, find: 'return !writeOnly && SIMPLE', replace: 'return SIMPLE', why: 'a client may sort by passwords' },
  { file: query, find: 'if (attribute.writeOnly) return refuse', replace: 'if (false) return refuse', why: 'an app may filter by passwords' },
  { file: query, find: 'texts.length > MOST_CRITERIA', replace: 'false', why: 'a client may sort by any number of attributes' },
  { file: query, find: 'order.some(({ by }) => by === criterion.by)', replace: 'false', why: 'an attribute may be named twice' },
  { file: query, find: "if (order.at(-1)?.by === 'id') {", replace: 'if (false) {', why: 'attributes after the id are taken' },
  { file: query, find: "first?.by === 'id' && !first.descending", replace: "first?.by === 'id'", why: 'the order -id is id' },
  { file: query, find: "order.at(-1)?.by === 'id' ? order : [...order, ...BY_ID]", replace: 'order', why: 'rows with the same value have no order' },
  { file: query, find: "value !== '' || !names.has(name)", replace: "value !== ''", why: 'blank=any leaves out any parameter' },
  { file: query, find: 'if (!isLegalText(text)) {', replace: 'if (false) {', why: 'a filter may hold control characters' },
  { file: query, find: 'moment?.isValid(value) === false', replace: 'false', why: 'a filter takes a date that is none' },
  { file: query, find: 'if (value === UNCONVERTIBLE) throw', replace: 'if (false) throw', why: 'a filter takes a text for a number' },
  { file: query, find: 'descending ? text.slice(1) : text', replace: 'text', why: 'a descending attribute is unknown' },
  { file: list, find: 'open(after, limit + 1), limit + 1,', replace: 'open(after, limit), limit,', why: 'no page has a next one' },
  { file: list, find: 'collected.rows.length > limit ? rows.at(-1)', replace: 'collected.rows.length >= limit ? rows.at(-1)', why: 'the last full page has a next one' },
  { file: list, find: 'collected.rows.slice(0, limit)', replace: 'collected.rows', why: 'a page has a row too many' },
  { file: list, find: 'const remaining = limit - rows.length', replace: 'const remaining = limit', why: 'a page of large rows is too long' },
  { file: list, find: 'if (++count > limit) {', replace: 'if (++count >= limit) {', why: 'a page of large rows is one row short' },
  { file: list, find: 'end) <= 0)', replace: 'end) < 0)', why: 'a page of large rows lacks its last one' },
  { file: list, find: 'signal.throwIfAborted()', replace: '', why: 'a client that is gone keeps a list going' },
  { file: list, find: 'await source.return?.()', replace: '', why: 'the end of a page leaves the store open' },
  { file: list, find: 'rows.length < most ? undefined : andThen(batches.return?.(), () => ({ rows, rest: undefined }))', replace: 'rows.length < most ? undefined : { rows, rest: undefined }', why: 'a full page leaves the store open' },
  { file: list, find: 'rows = gathered ??= [...rows]', replace: 'rows = gathered ??= rows as Row[]', why: 'the batch of a store is changed' },
  { file: response, find: "if (name !== 'after') link +=", replace: 'link +=', why: 'the next link has two cursors' },
  { file: response, find: '!isCustom && size > LARGEST_BATCH_SIZE', replace: 'size > LARGEST_BATCH_SIZE', why: 'the list of a custom action is cut off' },
  { file: response, find: 'last: rows.at(-1) }', replace: 'last: undefined }', why: 'a page that is cut off has no next one' },
  { file: response, find: 'CLEAN.test(name) && CLEAN.test(value)', replace: 'true', why: 'the next link is not escaped' },
  { file: response, find: "reply.raw.once('close', () => { stream.destroy() })", replace: '', why: 'a client that is gone leaves the store open' },
  { file: response, find: "method !== 'HEAD' || typeof body === 'string'", replace: 'true', why: 'HEAD reads the whole list' },
  { file: response, find: "[...state.linksBefore, link].join(', ')", replace: 'link', why: 'the next link replaces the links of an app' },
  { file: stream, find: '0xd800 && unit <= 0xdbff ? position - 1', replace: '0xd800 && unit <= 0xdbff ? position', why: 'a piece may end within a character' },
  { file: stream, find: 'this.#separator = separator', replace: '', why: 'a streamed list has no commas' },
  { file: stream, find: 'this.#text += this.#writer.close', replace: '', why: 'a streamed list does not end' },
  { file: stream, find: "if (this.#ended && this.#text === '') this.push(null)", replace: 'if (this.#ended) this.push(null)', why: 'a long end is cut off' },
  { file: stream, find: 'Promise.resolve(this.#source.return?.())', replace: 'Promise.resolve()', why: 'a list that breaks off leaves the store open' }
]
