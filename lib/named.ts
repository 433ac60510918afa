// All that there is beside the plugin, but for types.
export { DuplicateError, InvalidError, MalformedBodyError, NotFoundError, StoreFullError, UnavailableError, UnknownOutcomeError } from './errors.js'
export { html, Markup, raw } from './formats/html/markup.js'
export { defaultViews } from './formats/html/views.js'
export { memoryStore } from './stores/memory.js'
export { BY_ID, comparePositions, positionOf } from './stores/order.js'
export { postgresStore } from './stores/postgres.js'
export { sqliteStore } from './stores/sqlite.js'
export { xmlSchema } from './xml-schema.js'
