import { ScopeChangeError } from '../errors.js'
import type { Scope } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { isEmpty } from '../util/own-property.js'

/** Returns the changes without the attributes of the scope, which no write changes. */
export function omitScope (changes: Attributes, scope: Scope): Attributes {
  if (isEmpty(scope)) return changes
  return Object.fromEntries(Object.entries(changes).filter(([name]) => !Object.hasOwn(scope, name)))
}

/**
 * Checks that changes leave the scope as it is. A client's values for it are left out before, so that only a handler of
 * the app can have them: it would never learn that its change was ignored.
 * @throws ScopeChangeError
 */
export function checkScope (changes: Attributes, scope: Scope): void {
  for (const name in scope) {
    if (Object.hasOwn(changes, name) && (changes[name] ?? null) !== scope[name]) throw new ScopeChangeError(name)
  }
}
