import { isPortableName } from '../../core/schema/legal-text.js'

/**
 * Names the attributes of columns. An attribute has the name of its column if that is a name in XML, and not `id`.
 * Otherwise each other character becomes `_`: `first name` becomes `first_name`, `2nd` becomes `_2nd`, and `id` becomes
 * `id_`. A number at the end, such as in `first_name_2`, distinguishes the name from those of other columns.
 */
export function nameAttributes (columns: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(['id', ...columns.filter(isName)])
  return new Map(columns.map((column) => [column, isName(column) ? column : makeName(column, taken)]))
}

function isName (column: string): boolean {
  return isPortableName(column) && column !== 'id'
}

function makeName (column: string, taken: Set<string>): string {
  const plain = Array.from(column, (character) => (isPortableName(`_${character}`) ? character : '_')).join('')
  const base = plain === 'id' ? 'id_' : isPortableName(plain) ? plain : `_${plain}`
  let name = base
  for (let number = 2; taken.has(name); number++) name = `${base}_${number}`
  taken.add(name)
  return name
}
