// Loads TypeScript without a compiler: types are replaced by blanks, so that each line and column stays where it is.
import module from 'node:module'
import * as hooks from './typescript-hooks.mjs'

if (module.registerHooks === undefined) module.register('./typescript-hooks.mjs', import.meta.url)
else module.registerHooks(hooks)
