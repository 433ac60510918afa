import { compileMember } from './own-property.js'

/*
 * All code that is made of text while the process runs. V8 compiles such a function for one list of names, where a loop
 * of closures reads and writes members by names that it does not know. Rows of a list take up to a third less time
 * (`npm run bench`). The text contains names as JSON strings only. Everything else is a parameter of the function.
 *
 * A process may forbid generated code (`node --disallow-code-generation-from-strings`). Closures then do the same.
 */

/** The members of an object. */
type Members = Readonly<Record<string, unknown>>

/** A member of the source of a copy, and of the copy itself. */
export interface CopiedMember {
  readonly from: string
  readonly to: string
  /** Returns the value of the copy. If it is `undefined`, the copy lacks the member. */
  readonly convert: (value: unknown) => unknown
}

/** A member between two constant texts. */
export interface TemplateStep {
  readonly name: string
  /** The text after the previous member, if `write` has written that one. */
  readonly before: string
  /** The text between the previous member and this one, if `write` has written both. */
  readonly open: string
  /** The text before this member, if `write` has written only this one. */
  readonly openAlone: string
  /** Returns the text of a value, or `undefined` if `writeOther` must write it. */
  readonly write: (value: unknown) => string | undefined
  /** Writes such a value, together with the texts around it. */
  readonly writeOther: (value: unknown) => string
}

/** The texts at the end of a template. */
export interface TemplateEnd {
  /** The end after a member that `write` has written. */
  readonly last: string
  /** The end after any other member. */
  readonly after: string
}

/** Appends the members of an object, and the constants around them, to a text. */
export type WriteMembers = (text: string, members: Members) => string

/** The most members of a generated function. A larger one would take longer to compile than it saves. */
const MOST_MEMBERS = 200

/** Compiles a function that names the values of an array: `['a']` → `(values) => ({ a: values[0] })`. */
export function compileNaming (
  names: readonly string[],
  make: Generate = generate
): (values: readonly unknown[]) => Members {
  const members = names.map((name, index) => `${keyOf(name)}: values[${index}]`)
  return make(names.length, ['values'], `return { ${members.join(', ')} }`, {}) ?? ((values) => {
    const named: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index++) named[names[index] as string] = values[index]
    return named
  })
}

/** Copies an object. The value is that of the first member, if there is such a member. */
type CopyMembers = (source: Members, value?: unknown) => Members

/**
 * Compiles a function that copies an object with converted members.
 * @param first the name of a member before the others, whose value is given with each object
 */
export function compileCopy (
  members: readonly CopiedMember[],
  first?: string,
  make: Generate = generate
): CopyMembers {
  const reads = members.map(({ from }, index) => `const value${index} = convert${index}(${readOf('source', from)})`)
  const isWhole = members.map((_, index) => `value${index} !== undefined`)
  const begin = first === undefined ? [] : [`${keyOf(first)}: value`]
  const whole = members.map(({ to }, index) => `${keyOf(to)}: value${index}`)
  const adds = members.map(({ to }, index) => `if (value${index} !== undefined) copy[${textOf(to)}] = value${index}`)
  const body = [
    ...reads,
    `if (${['true', ...isWhole].join(' && ')}) return { ${[...begin, ...whole].join(', ')} }`,
    `const copy = { ${begin.join('')} }`,
    ...adds,
    'return copy'
  ]
  const converts = members.map(({ convert }) => convert)
  const copy = make<CopyMembers>(members.length, ['source', 'value'], body.join('\n'), { convert: converts })
  return copy ?? copyMembers(members, first)
}

function copyMembers (members: readonly CopiedMember[], first: string | undefined): CopyMembers {
  const steps = members.map(({ from, to, convert }) => ({ read: compileMember(from), to, convert }))
  return (source, given) => {
    const copy: Record<string, unknown> = first === undefined ? {} : { [first]: given }
    for (const { read, to, convert } of steps) {
      const value = convert(read(source))
      if (value !== undefined) copy[to] = value
    }
    return copy
  }
}

/** Compiles a function that writes members in the order of the steps, without undefined ones. */
export function compileTemplate (
  steps: readonly TemplateStep[],
  { last, after }: TemplateEnd,
  make: Generate = generate
): WriteMembers {
  const parts = steps.map(({ name }, index) => `
    value = ${readOf('members', name)}
    content = value === undefined ? undefined : write${index}(value)
    if (content !== undefined) {
      text += (isOpen ? open${index} : openAlone${index}) + content
      isOpen = true
    } else {
      if (isOpen) text += before${index}
      isOpen = false
      if (value !== undefined) text += writeOther${index}(value)
    }`)
  const body = `let isOpen = true, value, content${parts.join('')}\nreturn text + (isOpen ? last0 : after0)`
  return make(steps.length, ['text', 'members'], body, {
    last: [last],
    after: [after],
    before: steps.map(({ before }) => before),
    open: steps.map(({ open }) => open),
    openAlone: steps.map(({ openAlone }) => openAlone),
    write: steps.map(({ write }) => write),
    writeOther: steps.map(({ writeOther }) => writeOther)
  }) ?? joinSteps(steps, { last, after })
}

function joinSteps (steps: readonly TemplateStep[], { last, after }: TemplateEnd): WriteMembers {
  const reading = steps.map((step) => ({ step, read: compileMember(step.name) }))
  return (text, members) => {
    // Whether the text that closes the previous member must still be written.
    let isOpen = true
    for (const { step, read } of reading) {
      const value = read(members)
      const content = value === undefined ? undefined : step.write(value)
      if (content !== undefined) {
        text += (isOpen ? step.open : step.openAlone) + content
        isOpen = true
        continue
      }
      if (isOpen) text += step.before
      isOpen = false
      if (value !== undefined) text += step.writeOther(value)
    }
    return text + (isOpen ? last : after)
  }
}

/** Returns a text as a literal of JavaScript, which every JSON string is (ECMA-262 §12.9.4). */
function textOf (text: string): string {
  return JSON.stringify(text)
}

/** Returns the key of a member in an object literal. Without the brackets, `__proto__` would set the prototype. */
function keyOf (name: string): string {
  return name === '__proto__' ? '["__proto__"]' : textOf(name)
}

/** Returns the expression that reads an own member. An object also has the members of `Object.prototype`. */
function readOf (object: string, name: string): string {
  const read = `${object}[${textOf(name)}]`
  return name in Object.prototype ? `(Object.hasOwn(${object}, ${textOf(name)}) ? ${read} : undefined)` : read
}

/**
 * Generates a function, or returns `undefined` if closures must do its work.
 * @param size the number of members
 * @param constants lists of values, which the body names by their places: `{ open: ['a'] }` is `open0`
 */
export type Generate = <F>(
  size: number,
  parameters: readonly string[],
  body: string,
  constants: Readonly<Record<string, readonly unknown[]>>
) => F | undefined

const generate: Generate = <F>(
  size: number,
  parameters: readonly string[],
  body: string,
  constants: Readonly<Record<string, readonly unknown[]>>
): F | undefined => {
  if (size > MOST_MEMBERS) return undefined
  const names = Object.entries(constants).flatMap(([name, values]) => values.map((_, index) => `${name}${index}`))
  const text = `'use strict'\nreturn (${parameters.join(', ')}) => {\n${body}\n}`
  try {
    // eslint-disable-next-line no-new-func -- The text contains only literals of names, and words of this file.
    return new Function(...names, text)(...Object.values(constants).flat()) as F
  } catch {
    return undefined
  }
}
