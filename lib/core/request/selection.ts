import { InvalidQueryError } from '../errors.js'
import type { Format, Selection } from '../formats/format.js'
import type { Resource } from '../resource/resource.js'
import { type Related, selectFrom } from '../resource/visible.js'
import { Cache } from '../util/cache.js'
import { abbreviate, didYouMean } from '../util/words.js'
import { type FormatChoice, makeFormatChoice } from './accept.js'

/** The most selections whose writers are kept. Clients choose them. */
const KEPT = 60

/** A format that can write a selection. */
interface Selectable<F> extends Format {
  select (selection: Selection): F
}

/**
 * Returns the choice of a format whose answers have only the attributes that `?only=title,rating` names, and these
 * relations.
 */
export type Select<F extends Selectable<F>> = (
  only: string | undefined,
  related: readonly Related[],
  choice: FormatChoice<F>
) => FormatChoice<F>

/**
 * Compiles the selection of attributes and relations.
 * @throws InvalidQueryError, when it selects
 */
export function compileSelect<F extends Selectable<F>> (resource: Resource): Select<F> {
  const { attributes, plural } = resource
  const visible = [...attributes.values()].flatMap(({ name, writeOnly }) => (writeOnly ? [] : [name]))
  const known = new Set([...visible, 'id'])
  const kept = new Cache<string, F>(KEPT)

  return (text, related, { format, mediaType }) => {
    const named = text === undefined ? undefined : parseNames('only', text, known, `an attribute of ${plural}`)
    const only = named && visible.filter((name) => named.has(name))
    const include = related.map(({ name }) => name)
    const key = `${format.name} ${only === undefined ? 'all' : `only ${only.join()}`} ${related.map(keyOf).join()}`
    const selected = kept.get(key, () =>
      format.select({ resource: selectFrom(resource, only, related), only, include }))
    return makeFormatChoice(selected, mediaType)
  }
}

/** Returns a text that distinguishes related resources, also by the attributes that the request does not see. */
function keyOf ({ name, resource: { hidden } }: Related): string {
  return hidden.size === 0 ? name : `${name}-(${[...hidden].join()})`
}

/**
 * Parses the names that a parameter has.
 * @param kind what each of them must be
 * @throws InvalidQueryError
 */
export function parseNames (parameter: string, text: string, known: ReadonlySet<string>, kind: string): Set<string> {
  const named = new Set<string>()
  for (const name of text.split(',')) {
    if (name === '') {
      const example = known.size === 0 ? '' : `, such as "${[...known].slice(0, 2).join()}"`
      throw new InvalidQueryError(`"${parameter}" must be names separated by commas${example}`)
    }
    if (!known.has(name)) {
      const hint = didYouMean(name, [...known])
      throw new InvalidQueryError(`"${parameter}" names "${abbreviate(name)}", which is not ${kind}${hint}`)
    }
    if (named.has(name)) throw new InvalidQueryError(`"${parameter}" names "${name}" twice`)
    named.add(name)
  }
  return named
}
