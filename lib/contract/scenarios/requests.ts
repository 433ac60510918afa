import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Context, KeptRequests } from '../../core/stores/store.js'
import { rowOf, settle } from '../assertions.js'
import { bounded, type Checks, holds, makeContext, type Subject } from '../subject.js'

const HOUR = 3_600_000
const RESULT = JSON.stringify({ kind: 'createdMany', ids: [1, '9007199254740993', 'ä'] })

export const requestChecks: Checks = {
  'a request is kept with the writes of its transaction': async (subject) => {
    const { requests, key } = await open(subject)
    const row = await subject.transaction(async (inner, context) => {
      assert.equal(await add(requests, key, context), true, 'add of a new key')
      const row = await inner.create()
      await requests.finish(key, RESULT, context)
      return row
    })
    assert.deepEqual(await find(requests, key), { digest: 'd', result: RESULT })
    assert.equal(await find(requests, randomUUID()), undefined, 'a key that is unknown')
    await holds(subject, [row])
  },

  'a request is not kept if its transaction is rolled back': async (subject) => {
    const { requests, key } = await open(subject)
    await settle(subject.transaction(async (_inner, context) => {
      await add(requests, key, context)
      await requests.finish(key, RESULT, context)
      throw new Error('of the app')
    }))
    assert.equal(await find(requests, key), undefined)
  },

  'of transactions with one key, one is carried out, and the others wait for it': async (subject) => {
    const { requests, key } = await open(subject)
    const row = await subject.create({ count: 0 })
    const write = async (inner: Subject, context: Context): Promise<boolean> => {
      if (!await add(requests, key, context)) return false
      rowOf(await inner.update(row.id, { count: 1 }))
      await requests.finish(key, RESULT, context)
      return true
    }
    const all = Promise.all(Array.from({ length: 5 }, () => settle(subject.transaction(write))))
    const written = (await bounded(subject, all, 'transactions with one key'))
      .filter((settled) => settled.answered && settled.value)
    assert.equal(written.length, 1, 'the number of transactions that add the key')
  },

  'an expired request is unknown, and its key is added again': async (subject) => {
    const { requests, key } = await open(subject)
    for (const expires of [Date.now(), Date.now() + HOUR]) {
      assert.equal(await find(requests, key), undefined, 'an expired key')
      await subject.transaction(async (_inner, context) => {
        assert.equal(await add(requests, key, context, expires), true, 'add of an expired key')
        await requests.finish(key, RESULT, context)
      })
    }
    assert.deepEqual(await find(requests, key), { digest: 'd', result: RESULT })
  }
}

/** Prepares the requests of a store, and makes a new key. */
async function open ({ store }: Subject): Promise<{ readonly requests: KeptRequests, readonly key: string }> {
  const requests = store.requests as KeptRequests
  await requests.prepare?.()
  return { requests, key: randomUUID() }
}

async function add (
  requests: KeptRequests,
  key: string,
  context: Context,
  expires = Date.now() + HOUR
): Promise<boolean> {
  return requests.add(key, { digest: 'd', expires }, context)
}

/** Returns what is kept, without other members. */
async function find (requests: KeptRequests, key: string): Promise<unknown> {
  const kept = await requests.find(key, makeContext())
  return kept && { digest: kept.digest, result: kept.result }
}
