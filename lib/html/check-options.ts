import { InvalidOptionError, UnknownOptionError } from '../core/errors.js'
import { checkShown } from '../core/registration/check-resource.js'
import type { Resource } from '../core/resource/resource.js'
import type { Row } from '../core/resource/row.js'
import { compileVisibleRow } from '../core/resource/visible.js'
import type { Property } from '../core/schema/shape.js'
import {
  checkEach, checkKnown, checkMembers, checkNames, checkObject, checkOneOf, checkThat, isFunction, show
} from '../core/util/check-option.js'
import { didYouMean } from '../core/util/words.js'
import { findWords, KNOWN_LANGUAGES, type Languages, loadLanguages } from './languages/language.js'
import { makeMessages } from './languages/make-messages.js'
import type { PageMessages } from './messages.js'
import type { ImportBounds } from './multipart.js'
import type { AppearanceOptions, HtmlOptions, PageLanguage, ResolvedHtmlOptions } from './options.js'
import type { Brand } from './style/brand.js'
import { parseColour } from './style/stylesheet.js'
import type { RowTitle } from './values/row-names.js'
import type { Views } from './views/types.js'
import { defaultViews } from './views/views.js'

const OPTIONS: ReadonlyArray<keyof HtmlOptions> = [
  'lang', 'messages', 'accent', 'brand', 'timeZone', 'contentSecurityPolicy', 'title', 'columns', 'badges', 'pageSize',
  'import', 'views'
]

/**
 * Checks the options of pages, and loads the words of their languages.
 * @throws InvalidOptionError, UnknownOptionError
 */
export async function resolveHtmlOptions (given: HtmlOptions): Promise<ResolvedHtmlOptions> {
  const { views = {}, timeZone, title, columns, badges = {}, import: imports = false } = given
  for (const name of Object.keys(given)) {
    if (OPTIONS.some((known) => known === name)) continue
    throw new UnknownOptionError(`html.${name}`, didYouMean(name, OPTIONS))
  }
  return {
    ...await resolveAppearance(given, 'html.'),
    views: checkMembers<Views>('html.views', views, defaultViews),
    timeZone: checkTimeZone('html.timeZone', timeZone),
    title: checkTitle('html.title', title),
    columns: checkNames('html.columns', columns),
    badges: checkBadges('html.badges', badges),
    import: checkImport('html.import', imports)
  }
}

/**
 * Checks the options of the face of an app.
 * @param owner what stands before the names of the options in errors
 * @throws InvalidOptionError
 */
export async function resolveAppearance (
  { lang = 'en', messages = {}, accent = '#1d5fd1', brand = {}, contentSecurityPolicy = {} }: AppearanceOptions,
  owner: '' | 'html.' = ''
): Promise<Pick<ResolvedHtmlOptions, 'languages' | 'accent' | 'brand' | 'contentSecurityPolicy'>> {
  const tags = checkLanguages(`${owner}lang`, lang)
  return {
    languages: checkMessages(`${owner}messages`, messages, tags, await loadLanguages(tags)),
    accent: checkAccent(`${owner}accent`, accent),
    brand: checkBrand(`${owner}brand`, brand),
    contentSecurityPolicy: checkPolicy(`${owner}contentSecurityPolicy`, contentSecurityPolicy)
  }
}

/**
 * Checks the option `lang`. Returns the tags of the languages that are offered, the default one first.
 * @throws InvalidOptionError
 */
function checkLanguages (option: string, lang: unknown): readonly string[] {
  if (lang === 'auto') return KNOWN_LANGUAGES
  if (!Array.isArray(lang)) return [checkLanguage(option, lang)]
  const tags = lang.map((tag) => checkLanguage(option, tag))
  if (tags.length === 0) throw new InvalidOptionError(option, "must name a language such as 'de', or be 'auto'")
  const [twice] = tags.filter((tag, index) => tags.indexOf(tag) < index)
  if (twice !== undefined) throw new InvalidOptionError(option, `has '${twice}' twice`)
  return tags
}

function checkLanguage (option: string, lang: unknown): string {
  try {
    const [canonical] = typeof lang === 'string' ? Intl.getCanonicalLocales(lang) : []
    if (canonical !== undefined) return canonical
  } catch {}
  throw new InvalidOptionError(option, `must be a language tag such as 'de' or 'pt-BR', not ${show(lang)}`)
}

/**
 * Checks the option `timeZone`.
 * @throws InvalidOptionError
 */
function checkTimeZone (option: string, zone: unknown): string | undefined {
  if (zone === undefined) return undefined
  try {
    if (typeof zone === 'string') return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {}
  throw new InvalidOptionError(option, `must be a time zone such as 'Europe/Berlin', not ${show(zone)}`)
}

/** @throws InvalidOptionError */
function checkBadges (option: string, given: unknown): ResolvedHtmlOptions['badges'] {
  const badges = checkObject(option, given, "an object such as { status: { paid: 'good' } }")
  return checkEach(badges, (attribute, tones) => {
    const own = `${option}.${attribute}`
    return checkEach(checkObject(own, tones, "an object such as { paid: 'good' }"), (value, tone) =>
      checkOneOf(`${own}.${value}`, tone, ['good', 'bad']))
  })
}

/** Returns the options for the pages of a resource without the names and values of attributes that it hides. */
function withoutHidden<O extends Pick<ResolvedHtmlOptions, 'columns' | 'title' | 'badges'>> (
  options: O,
  resource: Resource
): O {
  const { hidden } = resource
  if (hidden.size === 0) return options
  const { columns, title, badges } = options
  const see = compileVisibleRow(resource)
  return {
    ...options,
    columns: columns?.filter((name) => !hidden.has(name)),
    title: typeof title === 'function'
      ? (row: Row) => title(see(row))
      : title === undefined || hidden.has(title) ? undefined : title,
    badges: new Map([...badges].filter(([name]) => !hidden.has(name)))
  }
}

/**
 * Checks that a resource has the attributes and values that its options name. Returns the options without those that it
 * hides.
 * @throws InvalidOptionError
 */
export function checkNamedAttributes<O extends Pick<ResolvedHtmlOptions, 'columns' | 'title' | 'badges'>> (
  resource: Resource,
  options: O
): O {
  const own = withoutHidden(options, resource)
  const { columns = [], title, badges } = own
  checkShown(resource, 'html.columns', columns)
  if (typeof title === 'string' && title !== 'id') checkShown(resource, 'html.title', [title])
  checkShown(resource, 'html.badges', [...badges.keys()])
  for (const [attribute, tones] of badges) {
    const { shape: { choices } } = resource.attributes.get(attribute) as Property
    if (choices === undefined) throw new InvalidOptionError('html.badges', `names "${attribute}", which has no "enum"`)
    for (const value of tones.keys()) checkKnown(`html.badges.${attribute}`, value, choices.map(String))
  }
  return own
}

/**
 * Checks the option `messages`. Returns the languages of the pages with the words of the app.
 * @throws InvalidOptionError
 */
function checkMessages (
  option: string,
  given: unknown,
  tags: readonly string[],
  languages: Languages
): readonly PageLanguage[] {
  return tags.map((tag) => {
    const own = isFunction<(tag: string) => unknown>(given) ? given(tag) : given
    return { tag, words: findWords(tag, languages), messages: checkWords(option, own) }
  })
}

const EVERY = makeMessages({ plural: '', singular: '' }, { words: undefined, messages: {} })

function checkWords (option: string, given: unknown): Partial<PageMessages> {
  const messages = checkMembers<PageMessages>(option, given, EVERY)
  const { phrases = {} } = messages
  for (const [phrase, words] of Object.entries<unknown>(phrases)) {
    if (typeof words !== 'string') {
      throw new InvalidOptionError(option, `has the phrase "${phrase}", whose translation must be a string`)
    }
    if (/\{\d\}/.test(phrase)) {
      throw new InvalidOptionError(option, `has the phrase "${phrase}" with a placeholder; give a function by the ` +
        'code of the message instead, such as mustBeAtMost: ({ most }) => …')
    }
  }
  return { ...messages, phrases: { ...phrases } }
}

/**
 * Checks the option `import`. Returns `undefined` if there is no import.
 * @throws InvalidOptionError
 */
function checkImport (option: string, given: unknown): ImportBounds | undefined {
  if (given === false) return undefined
  const own = given === true ? {} : checkObject(option, given, "true, false or bounds such as { bytes: '16MB' }")
  const { rows = 20_000, bytes = '16MB', ...others } = own
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw new InvalidOptionError(option, `has "${unknown}", which is unknown${didYouMean(unknown, ['rows', 'bytes'])}`)
  }
  const isNumber = (value: unknown, most: number): value is number =>
    Number.isInteger(value) && (value as number) > 0 && (value as number) <= most
  const size = typeof bytes === 'string' ? readSize(bytes) : bytes
  return {
    rows: checkThat(`${option}.rows`, rows, (rows) => isNumber(rows, 50_000), 'a number of rows from 1 to 50000'),
    bytes: isNumber(size, MOST_BYTES)
      ? size
      : checkThat(`${option}.bytes`, bytes, (_): _ is never => false, "a size up to 100 MB, such as '16MB'")
  }
}

const MOST_BYTES = 104_857_600

const UNITS: Readonly<Record<string, number>> = { KB: 1024, MB: 1_048_576 }

/** Returns the number of bytes that a text such as `16MB` stands for. */
function readSize (text: string): number | undefined {
  const [, number, unit = ''] = /^(\d+) ?(kB|KB|MB)$/.exec(text) ?? []
  return number === undefined ? undefined : Number(number) * (UNITS[unit.toUpperCase()] as number)
}

function checkTitle (option: string, title: unknown): RowTitle | undefined {
  const isTitle = (value: unknown): value is RowTitle | undefined =>
    ['string', 'function', 'undefined'].includes(typeof value)
  return checkThat(option, title, isTitle, "an attribute such as 'name', a function of the row, or 'id'")
}

function checkAccent (option: string, accent: unknown): string {
  const isColour = (value: unknown): value is string => typeof value === 'string' && parseColour(value) !== undefined
  return checkThat(option, accent, isColour, "a colour such as '#1d5fd1'")
}

/**
 * Checks directives of a policy. A semicolon or a comma would begin another directive or policy (CSP Level 3 §2.2).
 * @throws InvalidOptionError
 */
function checkPolicy (option: string, given: unknown): ResolvedHtmlOptions['contentSecurityPolicy'] {
  if (given === false) return undefined
  const policy = checkObject(option, given, 'false or directives such as { \'img-src\': "\'self\'" }')
  return Object.fromEntries(
    Object.entries(policy).map(([name, value]) => {
      const isValid = /^[a-z][a-z-]*$/.test(name) && typeof value === 'string' && /^[!-+\--:<-~ ]*$/.test(value)
      if (isValid) return [name, value]
      throw new InvalidOptionError(
        option,
        `has the directive "${name}", which must be a name in small letters with its values in one text`
      )
    })
  )
}

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
function checkBrand (option: string, given: unknown): Brand {
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
