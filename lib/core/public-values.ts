// The values that the main entry exports from the core. `require()` returns them as members of the plugin.
export {
  DuplicateError,
  InvalidError,
  KeyInUseError,
  MalformedBodyError,
  NotFoundError,
  ReferencedError,
  StoreFullError,
  UnavailableError,
  UnknownOutcomeError
} from './errors.js'
export { csv } from './formats/csv/csv.js'
export { json } from './formats/json/json.js'
export { xml } from './formats/xml/xml.js'
export { defineResource } from './plugin.js'
export { compileMatcher } from './stores/order.js'
export { memoryStore, memoryStores } from './stores/memory.js'
export { BY_ID, comparePositions, positionOf } from './stores/order.js'
export { Transactions } from './stores/transaction.js'
