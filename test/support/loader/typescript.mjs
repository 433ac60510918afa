// Loads TypeScript without a compiler. Blanks replace types, so that each line and column keeps its position.
import module from 'node:module'
import * as hooks from './typescript-hooks.mjs'

if (module.registerHooks === undefined) module.register('./typescript-hooks.mjs', import.meta.url)
else module.registerHooks(hooks)
