import { SaxesParser } from 'saxes'

/** An element of a page, with all the text in it. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  text: string
}

/** Returns the elements of a page. Pages are well-formed XML, so an XML parser reads them. */
export function elementsOf (page: string): Element[] {
  const all: Element[] = []
  const around: Element[] = []
  const parser = new SaxesParser({ xmlns: false })
  parser.on('error', (error) => { throw error })
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: { ...attributes }, text: '' }
    all.push(element)
    around.push(element)
  })
  parser.on('text', (text) => { for (const element of around) element.text += text })
  parser.on('closetag', () => { around.pop() })
  parser.write(page).close()
  return all
}
