import type { Mutant } from '../load.js'

export const tests = ['test/http/request/queries.test.ts', 'test/http/handlers/handler-rows.test.ts', 'test/http/response/stream.test.ts', 'test/http/response/page-links.test.ts', 'test/http/response/totals.test.ts', 'test/formats/html/pages/place.test.ts']

const cursor = 'lib/core/request/cursor.ts'
const query = 'lib/core/request/list-query.ts'
const filter = 'lib/core/request/filter-query.ts'
const selection = 'lib/core/request/selection.ts'
const list = 'lib/core/actions/list.ts'
const sources = 'lib/core/actions/sources.ts'
const bounds = 'lib/core/response/page-bounds.ts'
const response = 'lib/core/response/list-response.ts'
const stream = 'lib/core/response/list-stream.ts'
const links = 'lib/html/pages/links.ts'

export const mutants: readonly Mutant[] = [
  { file: links, find: 'Object.hasOwn(changes, name) ? changes[name] : parameters[name]', replace: 'parameters[name]', why: 'a link keeps the parameter that it changes' },
  { file: 'lib/html/pages/filter.ts', find: "if (name !== 'q') fields.push", replace: 'fields.push', why: 'a search sends the old words too' },
  { file: 'lib/html/pages/pages.ts', find: 'href === undefined ? undefined : { label: name.alone, href }', replace: 'undefined', why: 'no breadcrumb of a conflict names the row' },
  { file: cursor, find: 'encode(parts) !== text', replace: 'false', why: 'a cursor may be spelt in several ways' },
  { file: cursor, find: "sort !== '' && parts[0] !== sort", replace: 'false', why: 'a cursor of another order is taken' },
  { file: cursor, find: '&& whole.length <= LONGEST', replace: '', why: 'a long text makes a cursor that is refused' },
  { file: cursor, find: 'length <= LONGEST && isPosition', replace: 'isPosition', why: 'a client may send a cursor of any length' },
  { file: cursor, find: 'parseId(idType, String(value)) === value', replace: 'true', why: 'a cursor may hold what is no id' },
  { file: cursor, find: "shape?.only === 'string' && isStorableText(value)", replace: "shape?.only === 'string'", why: 'a cursor may hold unpaired surrogates' },
  { file: cursor, find: "format === 'uuid' ? isUuid(text) : ", replace: '', why: 'a cursor may hold a text where a UUID is' },
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
  { file: query, find: 'isPlain: !RESERVED.has(attribute.name)', replace: 'isPlain: true', why: 'an attribute takes the name of a parameter' },
  { file: query, find: 'can && !attribute.writeOnly && isUsable', replace: 'can && isUsable', why: 'a client may sort by passwords' },
  { file: query, find: 'if (attribute.writeOnly) return refuse', replace: 'if (false) return refuse', why: 'an app may filter by passwords' },
  { file: query, find: 'texts.length > MOST_CRITERIA', replace: 'false', why: 'a client may sort by any number of attributes' },
  { file: query, find: 'order.some(({ by }) => by === criterion.by)', replace: 'false', why: 'an attribute may be named twice' },
  { file: query, find: "if (order.at(-1)?.by === 'id') {", replace: 'if (false) {', why: 'attributes after the id are taken' },
  { file: query, find: "first?.by === 'id' && !first.descending", replace: "first?.by === 'id'", why: 'the order -id is id' },
  { file: query, find: "by === 'id' ? order : [...order, { by: 'id', descending }]", replace: 'order', why: 'rows with the same value have no order' },
  { file: query, find: "[...order, { by: 'id', descending }]", replace: '[...order, ...BY_ID]', why: 'ties do not follow the last criterion' },
  { file: filter, find: "blank === undefined ? name === 'q' : names.has(name)", replace: 'true', why: 'blank=any leaves out any parameter' },
  { file: filter, find: 'if (!isStorableText(text)) {', replace: 'if (false) {', why: 'a filter may hold U+0000' },
  { file: filter, find: 'ordered?.isValid(value) === false', replace: 'false', why: 'a filter takes a date that is none' },
  { file: query, find: 'descending ? text.slice(1) : text', replace: 'text', why: 'a descending attribute is unknown' },
  { file: filter, find: '...(isText(attribute) ? TEXTS : [])', replace: '...TEXTS', why: 'numbers contain texts' },
  { file: filter, find: '...(hasRange ? RANGES : [])', replace: '...RANGES', why: 'texts have ranges' },
  { file: filter, find: 'all.filter((operator) => filter.includes(operator))', replace: 'all', why: 'a list offers operators that the store lacks' },
  { file: filter, find: "if (values.push('') <= MOST_VALUES) continue", replace: "values.push(''); if (values.length > 0) continue", why: 'a list of values has any length' },
  { file: filter, find: "part.startsWith('\\\\') ? part.slice(1) : part", replace: 'part', why: 'a backslash stays in a value' },
  { file: filter, find: 'if (words.length > MOST_WORDS) throw', replace: 'if (false) throw', why: 'a search has any number of words' },
  { file: filter, find: 'if (words.length === 0) throw', replace: 'if (false) throw', why: 'a search without words finds all rows' },
  { file: query, find: 'options.search !== undefined || filterable.some((other) => other.attribute === attribute)', replace: 'true', why: 'a search reveals what no filter may' },
  { file: selection, find: 'writeOnly ? [] : [name]', replace: '[name]', why: 'a client selects a password' },
  { file: selection, find: 'if (named.has(name)) throw', replace: 'if (false) throw', why: 'an attribute may be selected twice' },
  { file: list, find: 'collected.rows.length > limit ? rows.at(-1)', replace: 'collected.rows.length >= limit ? rows.at(-1)', why: 'the last full page has a next one' },
  { file: list, find: 'rows = collected.rows.slice(0, limit)\n', replace: 'rows = collected.rows\n', why: 'a page has a row too many' },
  { file: list, find: 'const remaining = limit - rows.length', replace: 'const remaining = limit', why: 'a page of large rows is too long' },
  { file: sources, find: 'if (++count > limit) {', replace: 'if (++count >= limit) {', why: 'a page of large rows is one row short' },
  { file: list, find: 'end) <= 0)', replace: 'end) < 0)', why: 'a page of large rows lacks its last one' },
  { file: sources, find: 'signal.throwIfAborted()', replace: '', why: 'a client that is gone keeps a list going' },
  { file: sources, find: 'await source.return?.()', replace: '', why: 'the end of a page leaves the store open' },
  { file: sources, find: 'rows.length < most ? undefined : andThen(batches.return?.(), () => ({ rows, rest: undefined }))', replace: 'rows.length < most ? undefined : { rows, rest: undefined }', why: 'a full page leaves the store open' },
  { file: sources, find: 'rows = gathered ??= [...rows]', replace: 'rows = gathered ??= rows as Row[]', why: 'the batch of a store is changed' },
  { file: list, find: 'first = collected.rows.length > limit ? rows[0] : undefined', replace: 'first = rows[0]', why: 'the first page has a previous one' },
  { file: list, find: '.slice(0, limit).reverse()', replace: '.slice(0, limit)', why: 'the page before a position is upside down' },
  { file: list, find: 'open(reverse(order), end, limit + 1)', replace: 'open(order, end, limit + 1)', why: 'the page before a position is the one after it' },
  { file: list, find: 'collected.rows[0] ?? \'end\' : undefined', replace: 'collected.rows[0] : undefined', why: 'an empty page has no way back' },
  { file: list, find: 'pullFirst(endAt(source, order, rows[0] as Row), order)', replace: 'pullFirst(source, order)', why: 'a page of large rows before a position goes on to the end' },
  { file: list, find: 'first: next && listed.rows[0], last }', replace: 'first: listed.rows[0], last }', why: 'the first page of large rows has a previous one' },
  { file: list, find: 'positionOf(row, order), before) < 0)', replace: 'positionOf(row, order), before) <= 0)', why: 'a list before a position has the row at it' },
  { file: bounds, find: 'before: found, after: found + 1', replace: 'before: found + 1, after: found + 1', why: 'the page of a handler before a row has that row' },
  { file: bounds, find: 'Math.max(0, end - limit)', replace: '0', why: 'the page of a handler before a row has all rows before it' },
  { file: 'lib/core/actions/total.ts', find: 'Math.max(0, total - following - 1)', replace: 'Math.max(0, total - following)', why: 'the place of a page is one row too late' },
  { file: 'lib/core/actions/total.ts', find: 'andThen(more?.return?.(), () => { throw error })', replace: '{ throw error }', why: 'a failed count leaves the store open' },
  { file: response, find: '!isCustom && size > LARGEST_BATCH_SIZE', replace: 'size > LARGEST_BATCH_SIZE', why: 'the list of a custom action is cut off' },
  { file: response, find: 'last: rows.at(-1) }', replace: 'last: undefined }', why: 'a page that is cut off has no next one' },
  { file: response, find: 'CLEAN.test(name) && CLEAN.test(value)', replace: 'true', why: 'the next link is not escaped' },
  { file: response, find: "reply.raw.once('close', () => { stream.destroy() })", replace: '', why: 'a client that is gone leaves the store open' },
  { file: response, find: "method !== 'HEAD' || typeof body === 'string'", replace: 'true', why: 'HEAD reads the whole list' },
  { file: response, find: "let header = state.linksBefore.join(', ')", replace: "let header = ''", why: 'the next link replaces the links of an app' },
  { file: stream, find: '0xd800 && unit <= 0xdbff ? position - 1', replace: '0xd800 && unit <= 0xdbff ? position', why: 'a piece may end within a character' },
  { file: stream, find: 'this.#separator = separator', replace: '', why: 'a streamed list has no commas' },
  { file: stream, find: 'this.#text += this.#writer.close', replace: '', why: 'a streamed list does not end' },
  { file: stream, find: "if (this.#ended && this.#text === '') this.push(null)", replace: 'if (this.#ended) this.push(null)', why: 'a long end is cut off' },
  { file: stream, find: 'Promise.resolve(this.#source.return?.())', replace: 'Promise.resolve()', why: 'a list that breaks off leaves the store open' }
]
