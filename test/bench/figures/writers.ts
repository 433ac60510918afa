/** Measures the XML writer alone, beside libraries made for writing XML; in a process of its own. */
import assert from 'node:assert/strict'
import { compileXmlWriter } from '../../../lib/core/formats/xml/write.js'
import type { ListWriter, TextWriter, View } from '../../../lib/core/formats/format.js'
import { makeResource } from '../../../lib/core/resource/resource.js'
import type { Schema } from '../../../lib/core/schema/types.js'
import type { Row } from '../../../lib/index.js'
import { answerQuestions } from '../child.js'
import { makeResult, median, type Result, type Target } from '../result.js'
import { makePost, schema } from '../posts.js'
import type { Row as BenchRow } from '../yardsticks/hand.js'
import { builders, buildList, buildOne } from '../yardsticks/libraries.js'

type Write = () => string

const ROUNDS = 9
const MANY = 10_000
// The XML writer reads nothing of a view.
const view = {} as View
const resource = makeResource({ plural: 'posts', singular: 'post', path: '/posts', memberWrites: false, singleton: false, longestId: 100, key: [], foreignKey: undefined, actions: new Set(['list', 'show', 'create', 'update', 'delete']) }, 'integer', schema as unknown as Schema)
const { record, list } = compileXmlWriter(resource, { selection: undefined }) as TextWriter & { list: ListWriter }

function writeList (rows: readonly Row[]): string {
  let text = list.open
  for (const row of rows) text += list.row(row)
  return text + list.close
}

/**
 * Returns microseconds of CPU time. `byteLength` reads the text, since the engine joins a text only when it is read.
 */
function measure (write: Write, calls: number): number {
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) Buffer.byteLength(write())
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

function compare (name: string, ours: Write, theirs: Write, calls: readonly [ours: number, theirs: number], target: Target): Result {
  assert.equal(ours(), theirs())
  const rounds = Array.from({ length: ROUNDS + 2 }, () => ({ own: measure(ours, calls[0]), other: measure(theirs, calls[1]) })).slice(2)
  return makeResult(name, median(rounds.map(({ own, other }) => other / own)), 'x', target, { 'µs ours': median(rounds.map(({ own }) => own)), 'µs theirs': median(rounds.map(({ other }) => other)) })
}

function measureWriters (): Result[] {
  const known: BenchRow[] = Array.from({ length: MANY }, (_, index) => ({ id: index + 1, version: 1, ...makePost(index + 1) }))
  const rows: Row[] = known.map(({ id }) => ({ id, version: '1', attributes: { ...makePost(id) } }))
  const [row, one] = [rows[0] as Row, known[0] as BenchRow]
  const ours = (): string => record(row, view)
  const all = (): string => writeList(rows)
  const { xmlbuilder2, 'fast-xml-parser': fast } = builders
  return [
    compare('XML of 1 record, beside xmlbuilder2', ours, () => buildOne(xmlbuilder2, one), [50_000, 2_000], { least: 25 }),
    compare('XML of 10,000 records, beside xmlbuilder2', all, () => buildList(xmlbuilder2, known), [10, 1], { least: 20 }),
    compare('XML of 1 record, beside fast-xml-parser', ours, () => buildOne(fast, one), [50_000, 10_000], { least: 4 }),
    compare('XML of 10,000 records, beside fast-xml-parser', all, () => buildList(fast, known), [10, 4], { least: 2.3 })
  ]
}

answerQuestions(measureWriters)
