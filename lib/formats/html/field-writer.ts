import { isLegalText } from '../../representable.js'
import { escapeAttribute } from '../escape.js'
import { LINE, mayHaveRows, type Plan } from './plan.js'
import { compileSkeleton } from './skeleton.js'

/** From a value to the markup of its field. */
export type WriteField = (value: unknown) => string

/** The same, or undefined for a value that is not of the usual kind. */
type WriteUsual = (value: unknown) => string | undefined

/**
 * The same as `render`, which makes a field from its model: what is constant of it is kept, once it has been made, so that
 * a usual value costs an escape and two joins. What is edited in another way than usual is rendered.
 */
export function compileFieldWriter (plan: Plan, render: WriteField): WriteField {
  const writeUsual = compileUsual(plan, render)
  // Whether there is room for rows depends on what else is in the form.
  const writeBlank = mayHaveRows(plan) ? render : remember(render)
  return (value) => value === undefined || value === null || value === '' ? writeBlank(value) : writeUsual(value) ?? render(value)
}

/** For the few values that there are. */
function remember (render: WriteField): WriteField {
  const written = new Map<unknown, string>()
  return (value) => {
    const known = written.get(value)
    if (known !== undefined) return known
    const text = render(value)
    written.set(value, text)
    return text
  }
}

function compileUsual (plan: Plan, render: WriteField): WriteUsual {
  const { mode, property: { shape } } = plan
  if (mode === 'choice') return compileChoice(new Set(shape.choices ?? [true, false]), render)
  if (shape.only === 'integer' || shape.only === 'number') return compileNumber(shape.only === 'integer', render)
  // Each of the formats has a control that shows only what is of the format.
  if (shape.only === 'string' && (mode === 'text' || (mode === 'line' && shape.format === undefined))) return compileText(mode === 'line', render)
  return () => undefined
}

function compileChoice (choices: ReadonlySet<unknown>, render: WriteField): WriteUsual {
  const write = remember(render)
  return (value) => choices.has(value) ? write(value) : undefined
}

/** A number that no schema names, by which its place is found. */
const NUMBER = 8.76543219871e123

function compileNumber (isInteger: boolean, render: WriteField): WriteUsual {
  const fill = compileSkeleton((mark) => render(NUMBER).replace(String(NUMBER), mark('number')))
  const isUsual = isInteger ? Number.isInteger : Number.isFinite
  return (value) => isUsual(value) ? fill(() => String(value)) : undefined
}

/** A text without what would have it edited otherwise. */
function compileText (isLine: boolean, render: WriteField): WriteUsual {
  const fill = compileSkeleton((mark) => render(mark('text')))
  const odd = isLine ? /[\r\n]/ : /^\n|\r/
  const longest = isLine ? LINE : Infinity
  return (value) => {
    if (typeof value !== 'string' || value.length > longest || odd.test(value)) return undefined
    const escaped = escapeAttribute(value)
    return escaped === value || isLegalText(value) ? fill(() => escaped) : undefined
  }
}
