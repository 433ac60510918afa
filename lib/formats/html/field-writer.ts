import { once } from '../../once.js'
import { isLegalText } from '../../representable.js'
import { escapeAttribute } from '../escape.js'
import { MOST_SHOWN } from './beginning.js'
import { LINE, mayHaveRows, type Plan } from './plan.js'
import { makeAround } from './skeleton.js'

/** From a value to the markup of its field. */
export interface FieldWriter {
  write (value: unknown): string
  /** The same of a text that needs no escape; undefined where it is edited in another way than usual, or is no text. */
  writeClean? (text: string): string | undefined
}

/** The same, or undefined for a value that is not of the usual kind. */
type WriteUsual = (value: unknown) => string | undefined
type Render = (value: unknown) => string

/**
 * The same as `render`, which makes a field from its model: what is constant of it is kept, once it has been made, so that
 * a usual value costs an escape and two joins. What is edited in another way than usual is rendered.
 */
export function compileFieldWriter (plan: Plan, render: Render): FieldWriter {
  // Whether there is room for rows depends on what else is in the form.
  const writeBlank = mayHaveRows(plan) ? render : remember(render)
  const or = (writeUsual: WriteUsual): FieldWriter['write'] => (value) =>
    value === undefined || value === null || value === '' ? writeBlank(value) : writeUsual(value) ?? render(value)
  const longest = longestText(plan)
  if (longest === undefined) return { write: or(compileUsual(plan, render)) }
  const { writeText, writeClean } = compileText(plan.mode === 'line', longest, render)
  return { write: or(writeText), writeClean }
}

/** For the few values that there are. */
function remember (render: Render): Render {
  const written = new Map<unknown, string>()
  return (value) => {
    const known = written.get(value)
    if (known !== undefined) return known
    const text = render(value)
    written.set(value, text)
    return text
  }
}

/** Of a text that is edited as it stands; undefined for what is edited otherwise. */
function longestText ({ mode, property: { shape } }: Plan): number | undefined {
  if (shape.only !== 'string') return undefined
  if (mode === 'text') return MOST_SHOWN
  // Each of the formats has a control that shows only what is of the format.
  return mode === 'line' && shape.format === undefined ? LINE : undefined
}

function compileUsual ({ mode, property: { shape } }: Plan, render: Render): WriteUsual {
  if (mode === 'choice') return compileChoice(new Set(shape.choices ?? [true, false]), render)
  if (shape.only === 'integer' || shape.only === 'number') return compileNumber(shape.only === 'integer', render)
  return () => undefined
}

function compileChoice (choices: ReadonlySet<unknown>, render: Render): WriteUsual {
  const write = remember(render)
  return (value) => choices.has(value) ? write(value) : undefined
}

/** A number that no schema names, by which its place is found. */
const NUMBER = 8.76543219871e123

function compileNumber (isInteger: boolean, render: Render): WriteUsual {
  const around = once(() => makeAround((mark) => render(NUMBER).replace(String(NUMBER), mark)))
  const isUsual = isInteger ? Number.isInteger : Number.isFinite
  return (value) => isUsual(value) ? around().before + String(value) + around().after : undefined
}

/** A text without what would have it edited otherwise. */
function compileText (isLine: boolean, longest: number, render: Render): { readonly writeText: WriteUsual, readonly writeClean: (text: string) => string | undefined } {
  const around = once(() => makeAround(render))
  const odd = isLine ? /[\r\n]/ : /^\n|\r/
  const join = (escaped: string): string => around().before + escaped + around().after
  return {
    writeText (value) {
      if (typeof value !== 'string' || value.length > longest || odd.test(value)) return undefined
      const escaped = escapeAttribute(value)
      return escaped === value || isLegalText(value) ? join(escaped) : undefined
    },
    writeClean: (text) => text !== '' && text.length <= longest ? join(text) : undefined
  }
}
