import type { Attributes } from '../schema/types.js'
import { compileMember } from '../util/own-property.js'

/** A member of a row or of an object, as a format writes it: usually a text between two constant texts. */
export interface Slot {
  readonly name: string
  readonly open: string
  readonly close: string
  /** Returns the text between, or `undefined` if `writeOther` must write the value. */
  write (value: unknown): string | undefined
  /** Writes such a value, together with the texts around it. */
  writeOther (value: unknown): string
}

/** Appends the members, and the constants around them, to a text. */
export type WriteSlots = (text: string, members: Attributes) => string

/**
 * Compiles a function that writes members in the order of the slots, without undefined ones. The text that closes one
 * slot and opens the next is one constant. This halves the joins: XML rows cost a tenth less.
 * @param before the constant before the first member
 */
export function compileRowTemplate (slots: readonly Slot[], before: string, after: string): WriteSlots {
  const closes = [before, ...slots.map(({ close }) => close)]
  const steps = slots.map((slot, index) => ({
    slot,
    read: compileMember(slot.name),
    before: closes[index] as string,
    open: flatten(closes[index] + slot.open)
  }))
  const last = flatten(closes.at(-1) + after)
  return (text, members) => {
    // Whether the text that closes the previous slot must still be written.
    let isOpen = true
    for (const { slot, read, before, open } of steps) {
      const value = read(members)
      const content = value === undefined ? undefined : slot.write(value)
      if (content !== undefined) {
        text += (isOpen ? open : slot.open) + content
        isOpen = true
        continue
      }
      if (isOpen) text += before
      isOpen = false
      if (value !== undefined) text += slot.writeOther(value)
    }
    return text + (isOpen ? last : after)
  }
}

/** Returns the same text in one piece: V8 would carry out a join or a cut again at each use. */
export function flatten (text: string): string {
  return Buffer.from(text).toString()
}
