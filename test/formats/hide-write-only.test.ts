import t from 'tap'
import { hideWriteOnly } from '../../lib/core/formats/hide-write-only.js'
import type { ListWriter, Services, Writer } from '../../lib/core/formats/format.js'
import type { Row } from '../../lib/core/resource/row.js'
import { escapeAttribute, escapeLegal, escapeText } from '../../lib/core/formats/escape.js'

const row = (id: number): Row => ({ id, version: '1', attributes: { title: `T${id}`, secret: 'S' } })
const shown = (id: number): Row => ({ id, version: '1', attributes: { title: `T${id}` } })

function hide ({ attributes: { secret, ...attributes }, ...others }: Row): Row {
  return { ...others, attributes }
}

/** Wraps a writer with these members. */
function wrap (members: object): Record<string, (...given: unknown[]) => unknown> {
  return hideWriteOnly(members as Writer, hide) as never
}

t.test('a writer gets rows and views without write-only values, and anything else as it is', async (t) => {
  const writer = wrap({ echo: (...given: unknown[]) => given, name: 'N' })
  const cases: ReadonlyArray<readonly [given: unknown, shown: unknown]> = [
    [row(1), shown(1)],
    [[row(1), row(2)], [shown(1), shown(2)]],
    [{ input: { row: row(1), other: 1 }, more: 2 }, { input: { row: shown(1), other: 1 }, more: 2 }],
    ...[
      { input: { row: undefined } }, { input: undefined }, {}, { id: 1 }, { attributes: {} }, 'text', 1, null, undefined
    ]
      .map((same) => [same, same] as const)
  ]
  for (const [given, expected] of cases) t.strictSame(writer.echo?.(given, 'x'), [expected, 'x'])
  t.strictSame(['name', 'echo', 'table'].map((name) => name in writer), [true, true, false])
  t.equal(writer.name, 'N')
  t.equal(writer.table, undefined)
  t.equal(writer.prepare, undefined, 'a writer without the method gets none')
})

t.test('a list and a frame of a page write rows without write-only values', async (t) => {
  const list: ListWriter = { open: '[', row: (row) => JSON.stringify(row), separator: ',', close: ']' }
  const frame = (...given: unknown[]): ListWriter => ({ ...list, open: JSON.stringify(given) })
  const writer = wrap({ list, frame })
  const given = [[row(1)], { input: { row: row(2) } }]
  const open = JSON.stringify([[shown(1)], { input: { row: shown(2) } }])
  for (
    const [written, begin] of [
      [writer.list, '['], [writer.frame?.(...given), open]
    ] as ReadonlyArray<[ListWriter, string]>
  ) {
    const { open, separator, close } = written
    t.strictSame([open, separator, close, written.row(row(3))], [begin, ',', ']', JSON.stringify(shown(3))])
    t.equal(written.rows, undefined, 'a faster way would show what it reads elsewhere')
  }
  t.equal(wrap({}).list, undefined)
})

t.test('the preparation of an answer gets outcomes without write-only values', async (t) => {
  const writer = wrap({ prepare: async (outcome: unknown) => ({ content: outcome }) })
  const listed = { kind: 'listed', rows: [row(1)], more: 'source', last: undefined, first: undefined, order: [] }
  const shownList = { ...listed, rows: [shown(1)], more: undefined }
  const chosen = { node: 1, rows: [{ id: 1, row: row(1) }, { id: 2, row: undefined }] }
  const preview = { columns: [], rows: [{ line: 2, row: row(1) }] }
  const cases: ReadonlyArray<readonly [given: object, shown: object]> = [
    [listed, shownList],
    [{ ...listed, last: row(2), first: row(3) }, { ...shownList, last: shown(2), first: shown(3) }],
    [{ ...listed, first: 'end' }, { ...shownList, first: 'end' }],
    [{ kind: 'found', row: row(1), etag: 'x' }, { kind: 'found', row: shown(1), etag: 'x' }],
    [{ kind: 'revised', row: undefined }, { kind: 'revised', row: undefined }],
    [{ kind: 'done' }, { kind: 'done' }],
    [{ kind: 'selected', chosen }, {
      kind: 'selected', chosen: { node: 1, rows: [{ id: 1, row: shown(1) }, { id: 2, row: undefined }] }
    }],
    [{ kind: 'importing' }, { kind: 'importing' }],
    [
      { kind: 'importing', preview },
      { kind: 'importing', preview: { columns: [], rows: [{ line: 2, row: shown(1) }] } }
    ]
  ]
  for (const [given, expected] of cases) {
    t.strictSame(await writer.prepare?.(given, {}), { content: expected }, JSON.stringify(given))
  }
})

t.test('a preparation adds further rows without write-only values', async (t) => {
  const added: unknown[] = []
  const addRows = async (rows: readonly Row[]): Promise<void> => { added.push(...rows) }
  const prepared = { content: 1, addRows }
  const given = await wrap({ prepare: async () => prepared }).prepare?.({ kind: 'done' }, {}) as typeof prepared
  await given.addRows([row(1)])
  t.strictSame([given.content, added], [1, [shown(1)]])
  for (const other of [{ content: 1 }, undefined]) {
    t.equal(await wrap({ prepare: async () => other }).prepare?.({ kind: 'done' }, {}), other)
  }
})

t.test('the services find rows without write-only values, for an answer and for an error', async (t) => {
  async function * batches (limit: number): AsyncGenerator<Row[]> { yield [row(limit)] }
  const services = {
    action: 'list',
    formRow: async () => row(1),
    chosen: async () => ({ rows: [{ id: 2, row: row(2) }] }),
    listed: { parameters: { q: 'x' }, read: async (limit: number) => batches(limit) }
  }
  const nothing = { formRow: async () => undefined, chosen: async () => undefined, listed: undefined }
  const read = async (_about: unknown, { action, formRow, chosen, listed }: Services): Promise<unknown> => {
    const rows: unknown[] = []
    for await (const batch of await listed?.read(3) ?? []) rows.push(batch)
    return { content: [action, await formRow(), await chosen(), listed?.parameters, rows] }
  }
  const writer = wrap({ prepare: read, prepareProblem: read })
  const found = ['list', shown(1), { rows: [{ id: 2, row: shown(2) }] }, { q: 'x' }, [[shown(3)]]]
  for (const name of ['prepare', 'prepareProblem']) {
    t.strictSame(await writer[name]?.({ kind: 'done' }, services), { content: found }, name)
    const missing = { content: [undefined, undefined, undefined, undefined, []] }
    t.strictSame(await writer[name]?.({ kind: 'done' }, nothing), missing, name)
  }
})

t.test('a writer may be a proxy or a class with private members, and a request is no row', async (t) => {
  class Own {
    readonly #headers = { 'x-own': '1' }
    readonly list = new List()
    get problemType (): string { return Object.keys(this.#headers).join() }
    record (...given: unknown[]): unknown { return [this.#headers, ...given] }
    redirected (write: unknown, request: unknown): unknown { return [this.#headers, write, request] }
  }
  class List {
    readonly #end = ']'
    readonly open = '['
    readonly separator = ','
    get close (): string { return this.#end }
    row (row: Row): string { return JSON.stringify(row) + this.#end }
  }
  const own = new Own()
  const bound = (_target: object, name: string): unknown => {
    const member: unknown = Reflect.get(own, name)
    return typeof member === 'function' ? member.bind(own) : member
  }
  const request = { id: 1, attributes: { secret: 'S' } }
  for (const members of [own, new Proxy({}, { get: bound as never })]) {
    const writer = wrap(members)
    t.strictSame(writer.redirected?.('write', request), [{ 'x-own': '1' }, 'write', request])
    t.strictSame([writer.problemType, writer.record?.(row(1))], ['x-own', [{ 'x-own': '1' }, shown(1)]])
    const { open, row: write, separator, close } = writer.list as unknown as ListWriter
    t.strictSame([open, write(row(1)), separator, close], ['[', `${JSON.stringify(shown(1))}]`, ',', ']'])
  }
})

const GONE = '\ufffd'

t.test('a text is escaped as content and as an attribute, and is legal if XML can carry it', async (t) => {
  const cases: ReadonlyArray<readonly [text: string, content: string, attribute: string, isLegal?: false]> = [
    ['plain', 'plain', 'plain'],
    ['a & b', 'a &amp; b', 'a &amp; b'],
    ['<b>', '&lt;b&gt;', '&lt;b&gt;'],
    ['"', '"', '&quot;'],
    ['[<]', '[&lt;]', '[&lt;]'],
    ['\r', '&#13;', '&#13;'],
    ['\t', '\t', '&#9;'],
    ['\n', '\n', '&#10;'],
    [' !#%\'-;=?~', ' !#%\'-;=?~', ' !#%\'-;=?~'],
    ['\ud7ff\ue000\ufffd😀', '\ud7ff\ue000\ufffd😀', '\ud7ff\ue000\ufffd😀'],
    ...['\0', '\b', '\v', '\f', '\x0e', '\x1f', '\ufffe', '\uffff', '\ud83d', '\ude00']
      .map((text) => [text, GONE, GONE, false] as const),
    ['<\0>', `&lt;${GONE}&gt;`, `&lt;${GONE}&gt;`, false]
  ]
  for (const [text, content, attribute, isLegal] of cases) {
    const what = JSON.stringify(text)
    t.equal(escapeText(text), content, what)
    t.equal(escapeAttribute(text), attribute, what)
    t.equal(escapeLegal(text), isLegal === false ? undefined : content, what)
  }
})
