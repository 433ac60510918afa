import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt } from 'ajv'
import { renderCanonicalJson } from '../../util/canonical-json.js'

/** How much a body may still cost that is checked. */
export interface Budget {
  /** As at the beginning. */
  reset (): void
}

/**
 * References that are followed for one body: two for each value that it may have. Alternatives that each refer to what
 * they stand in would make each level of a value cost twice what the one inside does, or more.
 */
const REFERENCES = 100_000

/**
 * Replaces the keywords and formats of Ajv whose cost outgrows what they check. A value that costs more than the budget
 * makes a validator throw.
 */
export function boundKeywords (ajv: Ajv): Budget {
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    before: 'items',
    validate: (isAsked: boolean, items: readonly unknown[]) => !isAsked || areDifferent(items)
  })
  ajv.addFormat('url', isUrl)
  return countReferences(ajv)
}

/** JSON Schema (draft-07) §4.2.3: numbers are the same by their value, objects whatever the order of their members. */
function areDifferent (items: readonly unknown[]): boolean {
  const simple = new Set<unknown>()
  const others = new Set<string>()
  for (const item of items) {
    if (typeof item === 'object') others.add(renderCanonicalJson(item))
    else simple.add(item)
  }
  return simple.size + others.size === items.length
}

/** In characters. */
const MAX_URL_LENGTH = 2048
// That of ajv-formats, in which what may stand before the host is told in one way and not in two, which is quadratic.
const URL =
  /^(?:https?|ftp):\/\/(?:\S+@)?(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))|(?:(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)(?:\.(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)*(?:\.(?:[a-z\u{a1}-\u{ffff}]{2,})))(?::\d{2,5})?(?:\/\S*)?$/iu

function isUrl (text: string): boolean {
  // A space in the end would let each `@` be tried up to there.
  return text.length <= MAX_URL_LENGTH && !/\s/.test(text) && URL.test(text)
}

function countReferences (ajv: Ajv): Budget {
  let left = REFERENCES
  const spend = (): void => {
    if (--left < 0) throw new RangeError(`more than ${REFERENCES} references`)
  }
  // Ajv's own, and of this instance alone.
  const { definition } = ajv.RULES.all.$ref as { definition: CodeKeywordDefinition }
  const { code } = definition
  definition.code = (context: KeywordCxt) => {
    const { gen } = context
    gen.code(_`${gen.scopeValue('func', { ref: spend })}()`)
    code(context)
  }
  return { reset () { left = REFERENCES } }
}
