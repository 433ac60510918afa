import { compileMember } from '../util/own-property.js'

/** Appends the members of an object, and the constants around them, to a text. */
export type WriteMembers = (text: string, members: Readonly<Record<string, unknown>>) => string

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
 * Compiles a function that writes members in the order of the slots, without undefined ones.
 * @param before the constant before the first member
 */
export function compileRowTemplate (slots: readonly Slot[], before: string, after: string): WriteMembers {
  const reading = slots.map((slot) => ({ slot, read: compileMember(slot.name) }))
  return (text, members) => {
    text += before
    for (const { slot, read } of reading) {
      const value = read(members)
      if (value === undefined) continue
      const content = slot.write(value)
      text += content === undefined ? slot.writeOther(value) : slot.open + content + slot.close
    }
    return text + after
  }
}

/** Returns the same text in one piece: V8 would carry out a join or a cut again at each use. */
export function flatten (text: string): string {
  return Buffer.from(text).toString()
}
