import type { Stored } from '../stores/store.js'
import { carries, currentOf, isMissing, rowOf, same } from './assertions.js'
import type { Checks } from './scenario.js'
import { holds, times } from './subject.js'

export const guardChecks: Checks = {
  'an update with the current version succeeds': async (subject) => {
    let row = await subject.create({ count: 0 })
    for (const count of times(12, (index) => index)) {
      row = rowOf(await subject.update(row.id, { count }, { version: row.version }), `update number ${count} with the current version`)
      carries(row, { title: 'T', count }, 'the row that update answers')
    }
    await holds(subject, [row], 'the rows after the updates')
  },

  'an update with a stale version changes nothing and hands back the current row': async (subject) => {
    const row = await subject.create({ title: 'First' })
    const current = rowOf(await subject.update(row.id, { title: 'Second' }))
    const answered = currentOf(await subject.update(row.id, { title: 'Third', count: 1 }, { version: row.version }))
    same(answered, current, 'the current row that is answered')
    same(currentOf(await subject.update(row.id, {}, { version: row.version })), current, 'the current row, where nothing is to be changed')
    await holds(subject, [current], 'the rows after the updates')
  },

  'a deletion with the current version succeeds': async (subject) => {
    const row = await subject.create()
    const current = rowOf(await subject.update(row.id, { title: 'Second' }))
    same(rowOf(await subject.delete(row.id, { version: current.version })), current, 'the row that delete answers')
    await holds(subject, [], 'the rows after the deletion')
  },

  'a deletion with a stale version deletes nothing and hands back the current row': async (subject) => {
    const row = await subject.create()
    const current = rowOf(await subject.update(row.id, { title: 'Second' }))
    same(currentOf(await subject.delete(row.id, { version: row.version })), current, 'the current row that is answered')
    await holds(subject, [current], 'the rows after the deletion')
  },

  'a write without a version fits every version': async (subject) => {
    const { id } = await subject.create()
    const row = rowOf(await subject.update(id, { count: 1 }, { version: undefined }))
    same(rowOf(await subject.delete(row.id, { version: undefined })), row, 'the row that delete answers')
  },

  'a version that no row ever had is stale, whatever it looks like': async (subject) => {
    const { id } = await subject.create()
    const row = rowOf(await subject.update(id, { count: 1 }))
    for (const version of strangers(row)) {
      const shown = JSON.stringify(version.slice(0, 40))
      same(currentOf(await subject.update(id, { count: 2 }, { version }), `an update with the version ${shown} must be refused as stale`), row, `the current row, with the version ${shown}`)
      same(currentOf(await subject.delete(id, { version }), `a deletion with the version ${shown} must be refused as stale`), row, `the current row, with the version ${shown}`)
    }
    await holds(subject, [row], 'the rows after the writes')
  },

  'a row that is gone is missing, whatever the version': async (subject) => {
    const { id, version } = await subject.create()
    rowOf(await subject.delete(id))
    for (const guard of [{}, { version }, { version: 'nonsense' }, { version: '' }]) {
      isMissing(await subject.update(id, { count: 1 }, guard), `an update with ${JSON.stringify(guard)}`)
      isMissing(await subject.delete(id, guard), `a deletion with ${JSON.stringify(guard)}`)
    }
  }
}

/** Versions that a client may name, since it may name any text, but that the row has not. */
function strangers ({ version }: Stored): string[] {
  const invented = ['', '0', '00', '01', '1', '1e0', '1.0', '+1', '-1', ' 1', '0x1', '1n', '1_0', '١', 'é', 'nonsense', 'null', 'undefined', 'NaN', 'Infinity', '*', '%', '_', '\'', '" OR ""="', '; --', '9007199254740993', '9223372036854775808', '1e400', '9'.repeat(10_000), 'x'.repeat(10_000)]
  const derived = [`0${version}`, `+${version}`, ` ${version}`, `${version} `, `${version}.0`, `${version}e0`, `${version}n`, `${version}%`, `${version}-`, version.slice(0, -1), `0x${version}`, version.toUpperCase(), version.toLowerCase()]
  return [...invented, ...derived].filter((stranger) => stranger !== version)
}
