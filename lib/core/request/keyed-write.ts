import { KeyInUseError, KeyReusedError } from '../errors.js'
import type { Outcome, RowCounts } from '../actions/outcome.js'
import type { Id } from '../resource/row.js'
import type { Context, KeptRequests } from '../stores/store.js'

/** What a request has done. */
export interface KeptResult {
  readonly kind: Outcome['kind']
  /** The ids of the rows of its answer. */
  readonly ids: readonly Id[]
  /** The numbers of the rows of a request with many rows. */
  readonly counts?: RowCounts
}

/** A write with a key, which is kept in the transaction of the write itself. */
export class KeyedWrite {
  readonly #requests: KeptRequests
  readonly #key: string
  readonly #digest: string
  readonly #keepMs: number

  constructor (requests: KeptRequests, key: string, digest: string, keepMs: number) {
    this.#requests = requests
    this.#key = key
    this.#digest = digest
    this.#keepMs = keepMs
  }

  /**
   * Finds what a request with the key has done.
   * @throws KeyReusedError if it was another request
   */
  async find (context: Context): Promise<KeptResult | undefined> {
    const kept = await this.#requests.find(this.#key, context)
    if (kept === undefined) return undefined
    const result: KeptResult = JSON.parse(kept.result)
    if (kept.digest === this.#digest) return result
    throw new KeyReusedError(result.kind === 'created' ? result.ids[0] : undefined)
  }

  /**
   * Begins the write in a transaction. The key comes first, so that another request with it waits before it writes.
   * @throws KeyInUseError if another request with the key was carried out meanwhile, or takes too long
   */
  async begin (context: Context): Promise<void> {
    const request = { digest: this.#digest, expires: Date.now() + this.#keepMs }
    if (!await this.#requests.add(this.#key, request, context)) throw new KeyInUseError()
  }

  /** Keeps the result in the same transaction. */
  async finish (result: KeptResult, context: Context): Promise<void> {
    await this.#requests.finish(this.#key, JSON.stringify(result), context)
  }
}
