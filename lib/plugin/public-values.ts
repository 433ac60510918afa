// The exported values beside those of `plugin.ts`. `require()` returns them as members of the plugin.
export {
  DuplicateError,
  InvalidError,
  MalformedBodyError,
  NotFoundError,
  ReferencedError,
  StoreFullError,
  UnavailableError,
  UnknownOutcomeError
} from '../errors.js'
export { html, Markup, raw } from '../formats/html/html-tag.js'
export { defaultViews } from '../formats/html/views/views.js'
export { compileMatcher } from '../stores/matcher.js'
export { memoryStore, memoryStores } from '../stores/memory/store.js'
export { BY_ID, comparePositions, positionOf } from '../stores/order.js'
export { postgresStore, postgresStores } from '../stores/postgres/store.js'
export { sqliteStore, sqliteStores } from '../stores/sqlite/store.js'
export { describeDatabase } from '../stores/sql/tables/describe-database.js'
export { xmlSchema } from './routes/xsd.js'
