import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const root = new URL('../..', import.meta.url)

/** A fenced block of code. */
export interface Block {
  readonly language: string
  readonly text: string
}

/** A program that listens, and the commands that the page tries on it. */
export interface Program {
  readonly page: string
  readonly block: Block
  /** The console blocks between this program and the next one of the page. */
  readonly consoles: readonly string[]
}

export interface Table {
  /** The comment above the table, which says what the table lists. */
  readonly comment: string | undefined
  readonly head: readonly string[]
  readonly rows: ReadonlyArray<readonly string[]>
}

/** A page of Markdown: README.md, or a page below `docs`. */
export class Page {
  /** From the root of the repository: `docs/stores.md`. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
  /** The text without the content of code blocks and of code in a line. */
  readonly prose: string

  constructor (path: string) {
    this.path = path
    this.text = readFileSync(new URL(path, root), 'utf8')
    this.blocks = [...this.text.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(
      ([, language = '', text = '']) => ({ language, text })
    )
    this.prose = this.text.replaceAll(/^```.*\n[^]*?^```$/gm, '').replaceAll(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, '``')
  }

  get isReadme (): boolean {
    return this.path === 'README.md'
  }

  get programs (): Program[] {
    const starts = this.blocks.flatMap((block, index) => isProgram(block) ? [index] : [])
    return starts.map((start, index) => {
      const following = this.blocks.slice(start + 1, starts[index + 1])
      return {
        page: this.path,
        block: this.blocks[start] as Block,
        consoles: following.filter(({ language }) =>
          language === 'console').map(({ text }) =>
          text)
      }
    })
  }

  /** The console blocks before the first program: those of the README are tried on the blog of `npm start`. */
  get opening (): string[] {
    const first = this.blocks.findIndex(isProgram)
    return this.blocks.slice(0, first === -1 ? undefined : first).filter(({ language }) =>
      language === 'console').map(({ text }) =>
      text)
  }

  /** The anchors that GitHub gives to the headings. */
  get anchors (): string[] {
    const slugs: string[] = []
    for (const [, heading = ''] of this.text.replaceAll(/^```.*\n[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)) {
      const slug = heading.toLowerCase().replaceAll(/\]\([^)]*\)/g, '').replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-')
      const repeated = slugs.filter((other) => other === slug || other.replace(/-\d+$/, '') === slug).length
      slugs.push(repeated === 0 ? slug : `${slug}-${repeated}`)
    }
    return slugs
  }

  /** The targets of all links and images, without those that lead to other hosts. */
  get links (): string[] {
    const targets = [...this.prose.matchAll(/\]\(([^)\s]+)\)|\b(?:href|src|srcset)="([^"]+)"/g)].map(
      ([, markdown, html]) => (markdown ?? html) as string
    )
    return targets.filter((target) => !/^(?:https?|mailto):/.test(target))
  }

  get tables (): Table[] {
    return [
      ...this.text.matchAll(/(?:^<!-- ((?:(?!-->)[^])*?) -->\n\n?)?^(\|.*\|)\n\|[-:| ]+\|\n((?:^\|.*\|\n)*)/gm)
    ].map(([, comment, head = '', rows = '']) => ({
      comment, head: splitCells(head), rows: rows.trimEnd().split('\n').map(splitCells)
    }))
  }

  /** Returns the path of the file that a relative link leads to, and its anchor. */
  resolveLink (target: string): { readonly path: string, readonly anchor: string | undefined } {
    const [path = '', anchor] = target.split('#')
    return { path: path === '' ? this.path : join(dirname(this.path), decodeURIComponent(path)), anchor }
  }
}

function isProgram ({ language, text }: Block): boolean {
  return ['js', 'ts'].includes(language) && text.includes('app.listen')
}

function splitCells (line: string): string[] {
  return line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim())
}

/** README.md and all pages below `docs`. */
export const allPages: readonly Page[] = ['README.md', ...listPages()].map((path) => new Page(path))

function listPages (): string[] {
  return readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md')).sort().map((name) =>
    `docs/${name}`)
}

/** The pages that the variable PAGES names, `PAGES=docs/stores.md,README.md`; without the variable all of them. */
export const pages: readonly Page[] = selectPages(process.env.PAGES)

function selectPages (names: string | undefined): readonly Page[] {
  if (names === undefined) return allPages
  return names.split(',').map((name) => {
    const page = allPages.find(({ path }) => path === name)
    if (page === undefined) {
      throw new Error(`PAGES names ${name}, which is no page. Use one of ${allPages.map(({ path }) =>
        path).join(', ')}.`)
    }
    return page
  })
}

export const isWhole: boolean = pages.length === allPages.length

/** Returns the names in a cell such as `` `only`, `except` ``, without what stands behind them in parentheses. */
export function namesIn (cell = ''): string[] {
  return [...cell.matchAll(/`([\w.]+)(?:\([^)`]*\))?(?:, (\w+))*`/g)].flatMap(([code]) =>
    code.replaceAll(/`|\(.*?\)/g, '').split(', '))
}
