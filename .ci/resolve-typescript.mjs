// Node.js strips types by itself, but looks for the file that an import names: `./index.js`, of which there is the source alone.
import { registerHooks } from 'node:module'

registerHooks({
  resolve (specifier, context, next) {
    const isOurs = /^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true
    if (!isOurs) return next(specifier, context)
    try {
      return next(specifier.replace(/\.js$/, '.ts'), context)
    } catch {
      return next(specifier, context)
    }
  }
})
