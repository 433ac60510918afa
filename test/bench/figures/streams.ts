/**
 * Measures the writing of a million rows as XML without a network, beside a handwritten loop; in a process of its own.
 */
import { list } from '../../../lib/core/actions/list.js'
import { compileXmlRow } from '../../../lib/core/formats/xml/write.js'
import { BY_ID, memoryStore } from '../../../lib/index.js'
import { makeResource } from '../../../lib/core/resource/resource.js'
import { writeList } from '../../../lib/core/response/list-stream.js'
import { answerQuestions } from '../child.js'
import { makePost, schema } from '../posts.js'
import { makeResult, median, type Result } from '../result.js'
import { writeXml } from '../yardsticks/hand.js'

const ROWS = 1_000_000
const ROUNDS = 5
const CHUNK = 49_152

/** Returns bytes per nanosecond of CPU time. */
async function measure (write: () => Promise<number> | number): Promise<number> {
  globalThis.gc?.()
  const before = process.cpuUsage()
  const bytes = await write()
  const { user, system } = process.cpuUsage(before)
  return bytes / (user + system) / 1e3
}

function makeByHand (): () => number {
  const rows = new Map(Array.from({ length: ROWS }, (_, index) => [index + 1, { id: index + 1, version: 1, ...makePost(index + 1) }]))
  return () => {
    let bytes = 0
    let text = ''
    for (const row of rows.values()) {
      text += writeXml(row)
      if (text.length < CHUNK) continue
      bytes += Buffer.from(text).length
      text = ''
    }
    return bytes + Buffer.from(text).length
  }
}

function makeOurs (): () => Promise<number> {
  const resource = makeResource({ plural: 'posts', singular: 'post', path: '/posts', memberWrites: false, singleton: false, foreignKey: undefined, longestId: 100, key: [], actions: new Set(['list', 'show', 'create', 'update', 'delete']) }, 'integer', schema)
  const store = memoryStore()
  for (let index = 1; index <= ROWS; index++) store.create({ ...makePost(index) }, {})
  const writer = { open: '', row: compileXmlRow(resource), separator: '', close: '' }
  const context = { signal: new AbortController().signal }
  return async () => {
    let bytes = 0
    const listed = await list({ resource, store, scope: {} }, { order: BY_ID, after: undefined, before: undefined, limit: undefined, filter: [], search: undefined, count: undefined }, context)
    for await (const chunk of await writeList(listed, writer)) bytes += (chunk as Buffer).length
    return bytes
  }
}

async function compare (): Promise<Result[]> {
  const [hand, ours] = [makeByHand(), makeOurs()]
  const speeds: Array<readonly [hand: number, ours: number]> = []
  for (let round = 0; round < ROUNDS; round++) speeds.push([await measure(hand), await measure(ours)])
  const details = { 'GB/s by hand': median(speeds.map(([hand]) => hand)), 'GB/s': median(speeds.map(([, ours]) => ours)) }
  return [makeResult('1,000,000 rows as XML, without a network, beside a loop by hand', median(speeds.map(([hand, ours]) => ours / hand)), 'x', undefined, details)]
}

answerQuestions(compare)
