import { channel, type Channel } from 'node:diagnostics_channel'
import type { Store } from '../stores/store.js'

/** A store whose table registration is about to prepare. */
export interface StorePreparation {
  readonly store: Store
  /** Whether the store is only planned. A subscriber sets it, so that no table changes. @default false */
  isPlanned: boolean
}

/** The channel of all preparations. Each copy of this package in a process has the same one. */
export const preparations: Channel = channel('fastify-resources.prepare')
