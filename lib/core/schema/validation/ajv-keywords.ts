import type { Ajv, CodeKeywordDefinition, KeywordCxt } from 'ajv'
import { renderCanonicalJson } from '../../util/own-property.js'
import { loadAjv } from './ajv.js'

/** The cost that the validation of a body may still have. */
export interface Budget {
  /** The number of references that may still be followed. It is `REFERENCES` at the start of each body. */
  left: number
}

/**
 * The most references to follow for one body: two for each value that it may have. Without a limit, several
 * alternatives that refer to the schema around them would at least double the cost with each level of a value.
 */
export const REFERENCES = 100_000

/**
 * Replaces the keywords and formats of Ajv whose cost grows faster than the value. A validator throws a `RangeError`
 * when the budget of references is used up.
 */
export function boundKeywords (ajv: Ajv, budget: Budget = { left: REFERENCES }): void {
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    before: 'items',
    validate: (isAsked: boolean, items: readonly unknown[]) => !isAsked || areDifferent(items)
  })
  ajv.addFormat('url', isUrl)
  countReferences(ajv, budget)
}

/**
 * Returns whether all items differ (JSON Schema draft-07 §4.2.3). Numbers with the same value are equal, and so are
 * objects with the same members in another order.
 */
function areDifferent (items: readonly unknown[]): boolean {
  const simple = new Set<unknown>()
  const others = new Set<string>()
  for (const item of items) {
    if (typeof item === 'object') others.add(renderCanonicalJson(item))
    else simple.add(item)
  }
  return simple.size + others.size === items.length
}

/** The length of the longest URL, in characters. */
const MAX_URL_LENGTH = 2048
// The expression is that of ajv-formats, except for `\S+@` before the host. The original `\S+(?::\S*)?@` matches a text
// with colons in several ways, which takes quadratic time.
const URL = new RegExp(
  [
    String.raw`^(?:https?|ftp):\/\/(?:\S+@)?(?:`,
    // Private and reserved IPv4 addresses do not match, nor does an address of a network or of a broadcast.
    String.raw`(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})`,
    String.raw`(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})`,
    String.raw`(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}`,
    String.raw`(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))`,
    // A host name ends with a domain of letters.
    String.raw`|(?:(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)`,
    String.raw`(?:\.(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)*(?:\.(?:[a-z\u{a1}-\u{ffff}]{2,}))`,
    String.raw`)(?::\d{2,5})?(?:\/\S*)?$`
  ].join(''),
  'iu'
)

function isUrl (text: string): boolean {
  // With a space at the end, the expression would try each `@` and read on to the space each time.
  return text.length <= MAX_URL_LENGTH && !/\s/.test(text) && URL.test(text)
}

function countReferences (ajv: Ajv, budget: Budget): void {
  const spend = (): void => {
    if (--budget.left < 0) throw new RangeError(`more than ${REFERENCES} references`)
  }
  // This is Ajv's own definition of `$ref`. The copy belongs to this instance alone.
  const { definition } = ajv.RULES.all.$ref as { definition: CodeKeywordDefinition }
  const { code } = definition
  const { _ } = loadAjv()
  definition.code = (context: KeywordCxt) => {
    const { gen } = context
    gen.code(_`${gen.scopeValue('func', { ref: spend })}()`)
    code(context)
  }
}
