import { randomUUID } from 'node:crypto'
import { flatten } from '../slots.js'

/** Gives the mark of a place, which stands in what is rendered where a text belongs. */
export type Mark = (place: string) => string

/** Constant texts with places between them; the texts of the places are given in the order of `names`. */
export interface Skeleton {
  /** Of the places that there are, each once, though it may stand in many. */
  readonly names: readonly string[]
  fill (texts: readonly string[]): string
}

/** What stands around the one place of a text that is rendered with a mark in it. */
export function makeAround (render: (mark: string) => string): { readonly before: string, readonly after: string } {
  const mark = randomUUID()
  const [before = '', after = ''] = render(mark).split(mark).map(flatten)
  return { before, after }
}

/**
 * Renders once, with marks in place of what varies; the function that it gives only joins texts: a page costs what varies
 * in it. The marks are of characters that no escape changes, and of a number that nobody knows: what a client has sent
 * may stand in what is rendered.
 */
export function makeSkeleton (render: (mark: Mark) => string): Skeleton {
  const marked: string[] = []
  const nonce = randomUUID()
  const skeleton = render((name) => {
    if (!marked.includes(name)) marked.push(name)
    return `${nonce}.${marked.indexOf(name)}.`
  })
  const [first = '', ...rest] = skeleton.split(new RegExp(`${nonce}\\.(\\d+)\\.`)).map(flatten)
  const numbers = rest.filter((_, index) => index % 2 === 0).map(Number)
  const used = [...new Set(numbers)]
  const places = numbers.map((number, index) => ({ place: used.indexOf(number), after: rest[index * 2 + 1] as string }))
  return {
    names: used.map((number) => marked[number] as string),
    fill (texts) {
      let text = first
      for (const { place, after } of places) text += (texts[place] as string) + after
      return text
    }
  }
}
