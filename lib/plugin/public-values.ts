// The exported values beside those of `plugin.ts`. `require()` returns them as members of the plugin.
export {
  DuplicateError,
  InvalidError,
  MalformedBodyError,
  NotFoundError,
  StoreFullError,
  UnavailableError,
  UnknownOutcomeError
} from '../errors.js'
export { html, Markup, raw } from '../formats/html/html-tag.js'
export { defaultViews } from '../formats/html/views/views.js'
export { memoryStore } from '../stores/memory.js'
export { BY_ID, comparePositions, positionOf } from '../stores/order.js'
export { postgresStore } from '../stores/postgres/store.js'
export { sqliteStore } from '../stores/sqlite/store.js'
export { xmlSchema } from './xsd.js'
