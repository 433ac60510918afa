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
export { html, Markup, raw } from '../../html/html-tag.js'
export { defaultViews } from '../../html/views/views.js'
export { compileMatcher } from '../stores/matcher.js'
export { memoryStore, memoryStores } from '../stores/memory/store.js'
export { BY_ID, comparePositions, positionOf } from '../stores/order.js'
export { postgresStore, postgresStores } from '../../sql/postgres/store.js'
export { sqliteStore, sqliteStores } from '../../sql/sqlite/store.js'
export { describeDatabase } from '../../sql/tables/describe-database.js'
export { xmlSchema } from '../../xsd/routes.js'
