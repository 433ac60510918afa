/** Gives the mark of a place, which stands in what is rendered where a text belongs. */
export type Mark = (place: string) => string

/** The text that belongs in a place, as markup. */
export type Fill = (textOf: (place: string) => string) => string

/**
 * Renders when it is first needed, with marks in place of what varies, and after that only joins texts: a page costs what
 * varies in it. The marks are characters that nobody writes (Unicode's private use area) and that no escape changes.
 */
export function compileSkeleton (render: (mark: Mark) => string): Fill {
  let fill: Fill | undefined
  return (textOf) => {
    fill ??= split(render)
    return fill(textOf)
  }
}

function split (render: (mark: Mark) => string): Fill {
  const names: string[] = []
  const skeleton = render((name) => {
    if (!names.includes(name)) names.push(name)
    return `\ue000${names.indexOf(name)}\ue001`
  })
  const [first = '', ...rest] = skeleton.split(/\ue000(\d+)\ue001/)
  const places = rest.flatMap((text, index) => index % 2 === 0 ? [{ name: names[Number(text)] as string, after: rest[index + 1] as string }] : [])
  return (textOf) => {
    let text = first
    for (const { name, after } of places) text += textOf(name) + after
    return text
  }
}
