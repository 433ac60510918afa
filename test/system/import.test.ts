import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import fastify, { type FastifyInstance } from 'fastify'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { draw, type Stores } from '../../lib/index.js'
import { sqliteStores } from '../../lib/sql/sqlite/index.js'
import { findViolations, launchChromium, reasonToSkip } from '../support/html/chromium.js'

const ROWS = 2_000

const attributes = {
  type: 'object',
  required: ['title', 'code'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 60 },
    code: { type: 'string', maxLength: 10 },
    rating: { type: ['integer', 'null'], maximum: 5 },
    price: { type: 'string', format: 'decimal' },
    published: { type: 'boolean', default: false }
  }
} as const

/** A file of rows. Of these, the first `changed` differ from those of other files. */
function fileOf (changed: number, rows = ROWS): string {
  const lines = Array.from({ length: rows }, (_, index) =>
    `"A title, of number ${index}",C${index},${index % 5},${index}.${index < changed ? '75' : '50'},TRUE`)
  return `title,code,rating,price,published\r\n${lines.join('\r\n')}\r\n`
}

interface Server {
  readonly app: FastifyInstance
  readonly url: string
  /** Writes a file, and returns its path. */
  write (name: string, text: string): string
}

async function open (t: Test): Promise<Server> {
  const app = fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  const folder = t.testdir()
  const stores = sqliteStores({ file: join(folder, 'posts.sqlite') })
  const declare = (stores: Stores, lang: string) => draw((map) => map.resources('posts', {
    attributes, unique: ['code'], formats: ['html', 'json', 'csv'], html: { lang, import: true }
  }), { stores })
  app.register(declare(stores, 'en'))
  app.register(declare(stores, 'ar'), { prefix: '/ar' })
  return {
    app,
    url: await app.listen({ port: 0, host: '127.0.0.1' }),
    write (name, text) {
      const file = join(folder, name)
      writeFileSync(file, text)
      return file
    }
  }
}

/** Does something, while another client reads. Prints how long it takes, and how long the process is busy at once. */
async function measure (t: Test, app: FastifyInstance, what: string, act: () => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const client = { isActive: true }
  const reads = new Map<number, number>()
  const read = async (): Promise<void> => {
    while (client.isActive) {
      const { statusCode } = await app.inject('/posts.json?limit=1')
      reads.set(statusCode, (reads.get(statusCode) ?? 0) + 1)
      await setImmediate()
    }
  }
  const start = performance.now()
  const reading = read()
  await act()
  const time = performance.now() - start
  client.isActive = false
  await reading
  delay.disable()
  t.strictSame([...reads.keys()], [200], 'other requests are answered meanwhile')
  t.comment(`${what}: ${Math.round(time)} ms, event loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`)
}

async function choose (page: Page, file: string, match = ''): Promise<void> {
  await page.setInputFiles('input[type=file]', file)
  await page.selectOption('select', match)
  await press(page, 'form.form:last-of-type button')
}

async function press (page: Page, button: string): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.locator(button).first().click()])
}

const leadOf = async (page: Page): Promise<string> => page.locator('.lead').innerText()

t.test('2,000 rows are imported in Chromium', { skip: reasonToSkip() ?? false }, async (t) => {
  const { app, url, write } = await open(t)
  const browser = await launchChromium(t)
  const page = await browser.newPage({ javaScriptEnabled: false })
  // A busy machine may need ten times as long.
  page.setDefaultTimeout(300_000)
  const file = write('posts.csv', fileOf(0))
  await page.goto(`${url}/posts`)
  await Promise.all([page.waitForNavigation(), page.getByRole('link', { name: 'Import' }).click()])
  await measure(t, app, 'the preview of new rows', async () => choose(page, file))
  t.equal(await leadOf(page), 'Create 2,000')
  t.equal(await page.locator('tbody tr').count(), 20)
  await measure(t, app, 'their import', async () => press(page, '.primary'))
  t.equal(page.url(), `${url}/posts`)
  t.equal(await page.locator('.notice').innerText(), '2,000 posts created.')
  t.equal(await page.locator('.total').first().innerText(), '2,000 posts')

  await page.goto(`${url}/posts/import`)
  const changed = write('changed.csv', fileOf(14, ROWS + 1190))
  await measure(t, app, 'the preview of rows that are found', async () => choose(page, changed, 'code'))
  t.equal(await leadOf(page), 'Create 1,190 and change 14')
  await press(page, '.primary')
  t.equal(page.url(), `${url}/posts`)

  await page.goto(`${url}/posts`)
  const href = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href')
  await page.goto(`${url}/posts/import`)
  await choose(page, write('all.csv', await (await fetch(`${url}${String(href)}`)).text()))
  t.equal(await leadOf(page), 'Nothing changes')

  await page.goto(`${url}/posts/import`)
  const faulty = write('faulty.csv', fileOf(0).replaceAll(',4,', ',9,').replaceAll('C', 'D'))
  await measure(t, app, 'the faults of 400 rows', async () => choose(page, faulty))
  t.match(await page.locator('.problem li').innerText(), '400 of 2,000 rows are at fault; nothing was written')
  const [download] = await Promise.all([
    page.waitForEvent('download'), page.getByText('Download the faulty rows').click()
  ])
  t.equal(download.suggestedFilename(), 'errors.csv')
  await press(page, 'text=Go on without them')
  t.equal(await leadOf(page), 'Create 1,600')
  await measure(t, app, 'the import of the others', async () => press(page, '.primary'))
  await page.goto(`${url}/posts`)
  t.equal(await page.locator('.total').first().innerText(), '4,790 posts')
})

t.test('axe finds nothing on the pages of an import', { skip: reasonToSkip() ?? false }, async (t) => {
  const { url, write } = await open(t)
  const files = [undefined, write('good.csv', fileOf(0, 30)), write('bad.csv', fileOf(0, 30).replaceAll(',4,', ',9,'))]
  const browser = await launchChromium(t)
  for (const [width, colorScheme, prefix] of [[320, 'light', ''], [1280, 'dark', ''], [320, 'dark', '/ar']] as const) {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' })
    for (const file of files) {
      await page.goto(`${url}${prefix}/posts/import`)
      if (file !== undefined) await choose(page, file)
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
      const what = `${file ?? 'the form'}, ${width} pixels, ${colorScheme} ${prefix}`
      t.strictSame(await findViolations(page), [], what)
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      t.ok(wide <= width, `${what} fits the window`)
    }
    await page.close()
  }
})
