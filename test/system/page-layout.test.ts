import fastify from 'fastify'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { database } from '../../lib/database/index.js'
import { draw, memoryStore } from '../../lib/index.js'
import { findViolations, launchChromium, reasonToSkip, showPages, takeSpecimenPages } from '../support/html/chromium.js'
import { addSpecimens, specimens } from '../support/html/schemas.js'
import { makeDatabase } from '../support/stores/databases/music-database.js'

/** The widths of the windows, in pixels. */
const WIDTHS = [320, 768, 1600]
/** The most pixels of a row of a list. Below this width, rows are cards. */
const HIGHEST_ROW = 44
const NARROW = 640

/** How a page is looked at: the width of its window, and the colour scheme. */
const LOOKS = [320, 768, 1280].flatMap((width) => [[width, 'light'], [width, 'dark']] as const)

t.test('in Chromium', { skip: reasonToSkip() ?? false }, testAll)
t.test('axe finds nothing', { skip: reasonToSkip() ?? false }, testAccessibility)

/**
 * The pages that axe looks at: a list, and a form with faults, of each schema; and all pages of one from right to left.
 */
const LOOKED_AT = /^(?:the list|faults) of \w+$|invoices, right to left$/

/** Looks at each page in one way. All schemas together are looked at in all of them. */
async function testAccessibility (t: Test): Promise<void> {
  const taken = await takeSpecimenPages(t)
  const { url } = await showPages(t, taken)
  const browser = await launchChromium(t)
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  let looked = 0
  for (const [index, { name }] of taken.pages.entries()) {
    if (!LOOKED_AT.test(name)) continue
    const [width, colorScheme] = LOOKS[looked++ % LOOKS.length] as typeof LOOKS[number]
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    await page.goto(`${url}/pages/${index}`)
    await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
    // In a window as high as the page, the buttons that stick to its lower edge cover no field.
    await page.setViewportSize({ width, height: await page.evaluate<number>('document.documentElement.scrollHeight') })
    t.strictSame(await findViolations(page), [], `${name}, ${width} pixels, ${colorScheme}`)
  }
}

async function testAll (t: Test): Promise<void> {
  const app = fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  // A reference names a resource of its own scope.
  app.register(async (scope) => { addSpecimens(scope) })
  app.register(async (scope) => { addSpecimens(scope, { html: { lang: 'ar' } }) }, { prefix: '/ar' })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await launchChromium(t)
  const page = await browser.newPage({ javaScriptEnabled: false, reducedMotion: 'reduce' })
  const paths = new Map<string, readonly string[]>()
  for (const { options: { name } } of specimens) {
    const rows = (await app.inject(`/${name}.json`)).json<Record<string, Array<{ id: unknown }>>>()[name] ?? []
    paths.set(name, [
      `/${name}`, `/${name}/${String(rows[0]?.id)}`, `/${name}/${String(rows[0]?.id)}/edit`, `/${name}/new`
    ])
  }

  for (const [name, pages] of paths) {
    t.test(`no word of the ${name} is broken, no number or time cut off, no page wider than its window`, async (t) => {
      for (const path of pages) {
        await page.goto(url + path)
        // tsx gives inner functions their names by this helper, which a page does not have.
        await page.evaluate('globalThis.__name = (value) => value')
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 })
          const {
            wide, broken, cut, high, cells
          } = await page.evaluate(measure, { width, highest: width > NARROW ? HIGHEST_ROW : Infinity })
          t.ok(cells > 0, `${path} has something to measure`)
          t.strictSame(
            { wide, broken, cut, high }, { wide: [], broken: [], cut: [], high: [] }, `${path} at ${width} pixels`
          )
        }
      }
    })
  }

  t.test('by keyboard, the first row of each list is within six steps', async (t) => {
    for (const { options: { name } } of specimens) {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(`${url}/${name}`)
      const link = await page.locator('#rows a').first().getAttribute('href')
      for (const key of ['Tab', 'Tab', 'Enter', 'Tab', 'Tab']) await page.keyboard.press(key)
      t.equal(await page.evaluate('document.activeElement.getAttribute("href")'), link, name)
    }
  })

  t.test('a cell of the first column is a link as a whole, beside its box', async (t) => {
    await page.goto(`${url}/invoices`)
    const [cell, link, box] = await boxesOf(page, '#rows th', '#rows th a', '#rows .pick')
    const near = (one = NaN, other = NaN): boolean => Math.abs(one - other) <= 1
    t.ok(near(cell?.right, link?.right) && near(cell?.top, link?.top) && near(cell?.bottom, link?.bottom))
    t.ok(near(cell?.left, box?.left) && Number(box?.right) <= Number(link?.left), JSON.stringify([cell, link, box]))
  })

  t.test('a name to choose is a button that fills its cell', async (t) => {
    const app = fastify({ forceCloseConnections: true })
    t.teardown(() => app.close())
    const authors = memoryStore()
    for (let number = 1; number <= 60; number++) authors.create({ name: `Author ${number}` }, {})
    const attributes = {
      type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 20 } }
    } as const
    app.register(draw((map) => map
      .resources('authors', { attributes, store: authors })
      .resources('books', {
        attributes: { type: 'object', properties: { authorId: { type: 'integer' } } },
        references: { authorId: 'authors' }
      })))
    await page.goto(`${await app.listen({ port: 0, host: '127.0.0.1' })}/books`)
    await page.getByRole('button', { name: 'Choose: Author' }).click()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const sizes = await sizesOf(page, 'tbody tr:first-child th', 'tbody tr:first-child button')
      t.ok(sizes.every(([cell, button]) => Math.abs(cell - button) <= 1), JSON.stringify(sizes))
    }
    await page.getByRole('button', { name: 'Choose: Author 7' }).click()
    t.equal(await page.locator('[id="book:authorId"]').inputValue(), 'Author 7')
  })

  t.test('in the card of a row, every cell begins with its label', async (t) => {
    await page.setViewportSize({ width: 360, height: 800 })
    await page.goto(`${url}/invoices`)
    const sides = await page.evaluate<string[]>(
      '[...document.querySelectorAll("#rows tr:first-child td")].map((cell) => ' +
        'getComputedStyle(cell).textAlign)'
    )
    t.strictSame(sides.filter((side) =>
      !['start', 'left'].includes(side)), [], 'the side where a page from left to right begins')
  })

  t.test('a narrow screen shows the name of a row, three values, and where heads and bar scroll', async (t) => {
    const opened = makeDatabase(`CREATE TABLE people (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT,
        city TEXT, phone TEXT, mail TEXT, job TEXT);
      CREATE TABLE first_places (id INTEGER PRIMARY KEY); CREATE TABLE second_places (id INTEGER PRIMARY KEY);
      CREATE TABLE third_places (id INTEGER PRIMARY KEY); CREATE TABLE fourth_places (id INTEGER PRIMARY KEY);
      INSERT INTO people VALUES (1, 'Ada', 'Byron', 'London', NULL, 'a@b.c', 'Countess')`)
    const served = fastify({ forceCloseConnections: true })
    t.teardown(async () => {
      await served.close()
      opened.close()
    })
    served.register(database, { database: opened, report: () => {} })
    const base = await served.listen({ port: 0, host: '127.0.0.1' })
    const shown = async (selector: string): Promise<string[]> => page.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((cell) => cell.offsetWidth > 0)` +
        '.map((cell) => cell.innerText.trim())'
    )
    const fades = async (selector: string): Promise<boolean> => page.evaluate(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).maskImage !== 'none'`
    )
    for (const [width, cells, isCut] of [
      [320, ['Ada Byron', 'London', 'a@b.c', 'Countess'], true],
      [1600, ['Ada Byron', '1', 'London', '', 'a@b.c', 'Countess'], false]
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${base}/people`)
      t.strictSame(await shown('#rows tr > *'), cells, `${width} pixels`)
      t.strictSame([await fades('.bar ul'), await fades('.list thead tr')], [isCut, isCut], `${width} pixels`)
      await page.goto(`${url}/invoices`)
      const values = (await shown('#rows tr:first-child td')).length
      t.equal(values <= 3, isCut, `${width} pixels: ${values} values`)
    }
  })

  t.test('the units of a column of numbers stand at its right, also from right to left', async (t) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    for (const path of ['/invoices', '/books', '/ar/products']) {
      await page.goto(url + path)
      const ends = await page.evaluate<number[][]>(`[...document.querySelectorAll('#rows tr')].map((row) =>
        [...row.querySelectorAll('td.number')].map((cell) => {
          const range = document.createRange()
          range.selectNodeContents(cell)
          return Math.round(range.getBoundingClientRect().right)
        }))`)
      const [first] = ends
      t.ok(first !== undefined && first.length > 0 && ends.length > 2, path)
      for (const row of ends) t.strictSame(row, first, path)
    }
  })

  t.test('the arrow of the last heading does not make a list wider than its window', async (t) => {
    const app = fastify({ forceCloseConnections: true })
    t.teardown(() => app.close())
    const store = memoryStore()
    store.create({ name: 'A', paid: 5 }, {})
    const attributes = { type: 'object', properties: { name: { type: 'string' }, paid: { type: 'number' } } } as const
    app.register(draw((map) => map.resources('bills', { attributes, store })))
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(`${await app.listen({ port: 0, host: '127.0.0.1' })}/bills`)
    const [all, shown] = await page.evaluate<number[]>(
      '(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector(".scroll"))')
    t.equal(all, shown)
  })

  t.test('a name that does not fit into its card is cut off at its end, also from right to left', async (t) => {
    await page.setViewportSize({ width: 360, height: 800 })
    for (const path of ['/words', '/ar/words']) {
      await page.goto(url + path)
      const [start, end] = await page.evaluate<[boolean, boolean]>(`(() => {
        const link = document.querySelector('#rows a')
        const { left, right } = link.getBoundingClientRect()
        const isShown = (from) => {
          const range = document.createRange()
          range.setStart(link.firstChild, from)
          range.setEnd(link.firstChild, from + 1)
          const box = range.getBoundingClientRect()
          return box.left >= left && box.right <= right
        }
        return [isShown(0), isShown(link.firstChild.length - 1)]
      })()`)
      t.strictSame([start, end], [true, false], path)
    }
  })

  t.test('the buttons stand beside a long heading, and the warning of a deletion fits the window', async (t) => {
    for (const path of ['/words/1', '/ar/words/1', '/tickets/1']) {
      await page.goto(url + path)
      await page.locator('details.danger > summary').click()
      for (const width of [320, 660, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        const [heading, tools, warning, confirm] = await boxesOf(
          page, 'h1', '.tools', 'details.danger .card', 'details.danger .primary'
        )
        t.ok(
          warning !== undefined && warning.left >= 0 && warning.right <= width,
          `${path}: the warning at ${width} pixels`
        )
        t.ok(
          confirm !== undefined && confirm.left >= 0 && confirm.right <= width, `${path}: its button at ${width} pixels`
        )
        if (width > NARROW) {
          t.ok(
            heading !== undefined && tools !== undefined && tools.top < heading.bottom,
            `${path}: the buttons at ${width} pixels`
          )
        }
      }
    }
  })

  t.test('the buttons of a long form that stay in view take one line, and cover what is behind them', async (t) => {
    await page.setViewportSize({ width: 360, height: 740 })
    for (const path of ['/invoices/new', paths.get('invoices')?.[2] ?? '']) {
      await page.goto(url + path)
      const [actions, main, line] = await boxesOf(page, '.actions', '.actions .primary', '.rows')
      t.ok(actions !== undefined && actions.top > 740 - 70 && actions.top < 740, `${path}: ${JSON.stringify(actions)}`)
      t.ok(main !== undefined && main.bottom <= 740, `${path}: the main button is in view`)
      t.ok(actions !== undefined && line !== undefined && actions.right >= line.right, path)
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      const [last] = await boxesOf(page, '.actions > :last-child')
      t.ok(last !== undefined && last.bottom <= 740, `${path}: at the end, all buttons are in view`)
    }
    await page.goto(`${url}/invoices/new`)
    await page.locator('.actions .primary').focus()
    await page.keyboard.press('Tab')
    const [focused] = await boxesOf(page, '.actions > :focus')
    t.ok(focused !== undefined && focused.bottom <= 740, 'a button with the focus is in view')
    await page.setViewportSize({ width: 1280, height: 740 })
    const [actions, rows] = await boxesOf(page, '.actions', '.rows')
    t.ok(actions !== undefined && rows !== undefined && actions.right >= rows.right, 'no row is beside the buttons')
  })

  t.test('a refused field in a line stays below its head', async (t) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(`${url}/invoices/new`)
    await page.locator('.actions .primary').evaluate((button) => {
      (button as unknown as { formNoValidate: boolean }).formNoValidate = true
    })
    await page.locator('.actions .primary').click()
    await page.waitForSelector('.problem')
    const [head, field, next] = await boxesOf(
      page, '.heads .line > :nth-child(2)', '[id="invoice:lineItems:0:quantity"]', '.heads .line > :nth-child(3)'
    )
    t.equal(await page.getAttribute('[id="invoice:lineItems:0:quantity"]', 'aria-invalid'), 'true')
    t.ok(
      head !== undefined && field !== undefined && Math.abs(head.left - field.left) <= 1 &&
        Math.abs(head.right - field.right) <= 1,
      JSON.stringify({ head, field, next })
    )
  })
}

/** Returns the first box of each selector. */
async function boxesOf (page: Page, ...selectors: string[]): Promise<Array<{
  left: number, right: number, top: number, bottom: number
}>> {
  const boxes = await Promise.all(selectors.map((selector) => page.locator(selector).first().boundingBox()))
  return boxes.map((box) => {
    const { x, y, width, height } = box ?? { x: NaN, y: NaN, width: NaN, height: NaN }
    return { left: x, right: x + width, top: y, bottom: y + height }
  })
}

/** Returns the widths and the heights of two elements. */
async function sizesOf (page: Page, ...selectors: [string, string]): Promise<Array<[number, number]>> {
  const [outer, inner] = await Promise.all(selectors.map((selector) => page.locator(selector).first().boundingBox()))
  return [[outer?.width ?? 0, inner?.width ?? 1000], [outer?.height ?? 0, inner?.height ?? 1000]]
}

interface Measured {
  readonly wide: string[]
  readonly broken: string[]
  readonly cut: string[]
  readonly high: number[]
  readonly cells: number
}

/**
 * Measures a page in the browser. A word that is not broken stands in one line. Languages that are written without
 * spaces have no words to measure, and outside of lists a word may be longer than any line.
 */
function measure ({ width, highest }: { readonly width: number, readonly highest: number }): Measured {
  const document = (globalThis as unknown as { document: any }).document
  const broken: string[] = []
  let cells = 0
  // What is folded has no lines yet.
  for (const fold of document.querySelectorAll('.filter details')) fold.open = true

  function linesOf (range: any): { lines: number, length: number } {
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0)
    const tops: number[] = []
    for (const { top } of rects) if (!tops.some((other) => Math.abs(other - top) < 3)) tops.push(top)
    return { lines: tops.length, length: rects.reduce((sum, rect) => sum + Number(rect.width), 0) }
  }

  /** Checks a part of a text. `least` is the room that it must have to be blamed. */
  function check (node: any, start: number, end: number, what: string): void {
    const range = document.createRange()
    range.setStart(node, start)
    range.setEnd(node, end)
    const { lines, length } = linesOf(range)
    const block = node.parentElement.closest(
      'td, th, dt, dd, h1, h2, label, legend, button, p, li, summary, .button, div'
    )
    const style = block.ownerDocument.defaultView.getComputedStyle(block)
    const room = block.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    if (lines > 1 && (length <= room || block.closest('.list') !== null)) broken.push(`${block.localName}: ${what}`)
    cells++
  }

  for (const element of document.querySelectorAll(
    'main :is(td, th, dt, dd, h1, h2, label, legend, button, .button, .chip, .badge, .total, .range)'
  )) {
    for (const node of element.childNodes) {
      if (node.nodeType !== 3) continue
      for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
        if (!/[\u3000-\u9fff\uac00-\ud7af]/.test(word)) check(node, index, index + word.length, word)
      }
    }
  }
  for (const { firstChild } of document.querySelectorAll('main :is(time, .number:not(th), .id)')) {
    if (firstChild?.nodeType === 3) check(firstChild, 0, firstChild.data.length, firstChild.data)
  }
  const cut = [...document.querySelectorAll('main :is(td.number, td:has(time), input[type=number])')]
    .filter((element) => element.scrollWidth > element.clientWidth)
    .map((element) => String(element.value ?? element.innerText))
  const { scrollWidth } = document.documentElement
  const heights = [...document.querySelectorAll('.list tbody tr')].map((row) =>
    Number(row.getBoundingClientRect().height))
  return {
    wide: scrollWidth > width
      ? [`${scrollWidth} pixels`]
      : [],
    broken: [...new Set(broken)],
    cut: [...new Set(cut)],
    high: heights.filter((height) =>
      height > highest),
    cells
  }
}
