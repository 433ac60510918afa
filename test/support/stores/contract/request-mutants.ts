import type { KeptRequests } from '../../../../lib/core/stores/store.js'
import { type MakeStore, type Mutant, over } from './altered-stores.js'
import type { Table } from './reference-store.js'

const EXPIRED = 'an expired request is unknown, and its key is added again'

/** Replaces methods of the requests. */
const withRequests = (
  replace: (requests: KeptRequests, table: Table) => Partial<KeptRequests>
): MakeStore => over(({ requests }, table) => ({
  requests: { ...requests as KeptRequests, ...replace(requests as KeptRequests, table) }
}))

export const requestMutants: readonly Mutant[] = [
  ['keeps no result', withRequests(() => ({ finish: () => {} })),
    'a request is kept with the writes of its transaction', EXPIRED],
  ['keeps a request whatever becomes of its transaction', withRequests((requests, table) => ({
    async finish (key, result, context) {
      await requests.finish(key, result, context)
      table.requests.set(key, { digest: 'd', result, expires: Infinity })
    }
  })), 'a request is not kept if its transaction is rolled back'],
  ['adds a key that is kept', withRequests((requests) => ({
    async add (...given) {
      await requests.add(...given)
      return true
    }
  })), 'of transactions with one key, one is carried out, and the others wait for it'],
  ['keeps a request for ever', withRequests((requests) => ({
    add: (key, request, context) => requests.add(key, { ...request, expires: Infinity }, context)
  })), EXPIRED]
]
