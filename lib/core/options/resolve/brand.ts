import { InvalidOptionError } from '../../errors.js'
import type { Brand } from '../../../html/style/brand.js'
import { checkObject, show } from '../../util/check-option.js'
import { didYouMean } from '../../util/did-you-mean.js'

type Rule = readonly [isRight: (value: unknown) => boolean, wanted: string]

const PART: Rule = [() => true, '']
const FILE: Rule = [isFile, "a path such as '/logo.svg', or a URL that begins with https://"]

const RULES: Readonly<Record<keyof Brand, Rule>> = {
  name: [(name) => typeof name === 'string' && /\S/.test(name), "a text such as 'Tea shop'"],
  logo: FILE,
  font: [
    (font) => typeof font === 'string' && /^[\p{L}\d ,'"-]+$/u.test(font),
    "a list of fonts such as 'Inter, sans-serif'"
  ],
  density: [(density) => density === 'comfortable' || density === 'compact', "'comfortable' or 'compact'"],
  stylesheet: FILE,
  head: PART,
  header: PART,
  footer: PART
}

/** Returns whether a value is a path of the app, or a URL. The path `//other` would be a URL. */
function isFile (value: unknown): boolean {
  if (typeof value !== 'string' || /[\s"'<>\\]/.test(value)) return false
  return /^\/(?!\/)/.test(value) || (/^https?:\/\//.test(value) && URL.canParse(value))
}

/**
 * Checks the option `brand`.
 * @throws InvalidOptionError
 */
export function checkBrand (option: string, given: unknown): Brand {
  const brand = checkObject(option, given, "an object such as { name: 'Tea shop' }")
  const known = Object.keys(RULES)
  for (const [name, value] of Object.entries(brand)) {
    if (!Object.hasOwn(RULES, name)) {
      throw new InvalidOptionError(option, `has "${name}", which is unknown${didYouMean(name, known)}`)
    }
    const [isRight, wanted] = RULES[name as keyof Brand]
    if (value !== undefined && !isRight(value)) {
      throw new InvalidOptionError(option, `has "${name}", which must be ${wanted}, not ${show(value)}`)
    }
  }
  if (brand.logo !== undefined && brand.name === undefined) {
    throw new InvalidOptionError(option, 'has a "logo", but no "name", which those need who do not see the logo')
  }
  return { ...brand }
}
