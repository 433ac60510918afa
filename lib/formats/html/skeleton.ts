import { randomUUID } from 'node:crypto'

/** Gives the mark of a place, which stands in what is rendered where a text belongs. */
export type Mark = (place: string) => string

/** The text that belongs in a place, as markup. */
export type Fill = (textOf: (place: string) => string) => string

/** A skeleton that is made when it is first needed. */
export function compileSkeleton (render: (mark: Mark) => string): Fill {
  let fill: Fill | undefined
  return (textOf) => {
    fill ??= makeSkeleton(render)
    return fill(textOf)
  }
}

/**
 * Renders once, with marks in place of what varies; the function that it gives only joins texts: a page costs what varies
 * in it. The marks are of characters that no escape changes, and of a number that nobody knows: what a client has sent
 * may stand in what is rendered.
 */
export function makeSkeleton (render: (mark: Mark) => string): Fill {
  const names: string[] = []
  const nonce = randomUUID()
  const skeleton = render((name) => {
    if (!names.includes(name)) names.push(name)
    return `${nonce}.${names.indexOf(name)}.`
  })
  const [first = '', ...rest] = skeleton.split(new RegExp(`${nonce}\\.(\\d+)\\.`))
  const places = rest.flatMap((text, index) => index % 2 === 0 ? [{ name: names[Number(text)] as string, after: rest[index + 1] as string }] : [])
  return (textOf) => {
    let text = first
    for (const { name, after } of places) text += textOf(name) + after
    return text
  }
}
