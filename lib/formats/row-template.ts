import { compileTemplate, type TemplateStep, type WriteMembers } from '../util/generated-code.js'

/** A member of a row or of an object, as a format writes it: usually a text between two constant texts. */
export interface Slot {
  readonly name: string
  readonly open: string
  readonly close: string
  /** Returns the text between, or `undefined` if `writeOther` must write the value. */
  readonly write: (value: unknown) => string | undefined
  /** Writes such a value, together with the texts around it. */
  readonly writeOther: (value: unknown) => string
}

/**
 * Compiles a function that writes members in the order of the slots, without undefined ones. The text that closes one
 * slot and opens the next is one constant. This halves the joins: XML rows cost a tenth less.
 * @param before the constant before the first member
 */
export function compileRowTemplate (slots: readonly Slot[], before: string, after: string): WriteMembers {
  const closes = [before, ...slots.map(({ close }) => close)]
  const steps = slots.map(({ name, open, write, writeOther }, index): TemplateStep => ({
    name,
    before: closes[index] as string,
    open: flatten(closes[index] + open),
    openAlone: open,
    write,
    writeOther
  }))
  return compileTemplate(steps, { last: flatten(closes.at(-1) + after), after })
}

/** Returns the same text in one piece: V8 would carry out a join or a cut again at each use. */
export function flatten (text: string): string {
  return Buffer.from(text).toString()
}
