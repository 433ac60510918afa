import type { Page } from 'playwright-core'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../lib/database/index.js'
import { arrive, launchChromium, makeScene, reasonToSkip, textsOf } from '../support/html/chromium.js'
import { makeDatabase } from '../support/stores/databases/music-database.js'

/** The most links, buttons and fields between two steps. */
const MOST_PRESSES = 60

/** The label of the element that has the focus, or else its text. */
const NAME = `(({ labels, textContent }, label) => label ?? labels?.[0]?.textContent ?? textContent)(
  document.activeElement, document.activeElement.getAttribute('aria-label'))`

/** Presses a key until an element whose name begins so has the focus. */
async function reach (page: Page, name: string, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < MOST_PRESSES; presses++) {
    await page.keyboard.press(key)
    if (String(await page.evaluate(NAME)).trim().startsWith(name)) return
  }
  throw new Error(`${key} does not reach ${name}`)
}

/** Reaches a link, a button or a field, and presses Enter. */
async function enter (page: Page, name: string, key?: string): Promise<void> {
  await reach(page, name, key)
  await arrive(page, () => page.keyboard.press('Enter'))
}

t.test('a database that nobody tuned is used by keyboard alone', { skip: reasonToSkip() ?? false }, useKeyboard)

async function useKeyboard (t: Test): Promise<void> {
  const app = fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  const opened = makeDatabase(`
    CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, FirstName TEXT NOT NULL, LastName TEXT NOT NULL);
    CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, CustomerId INTEGER NOT NULL REFERENCES Customer);
    CREATE TABLE InvoiceLine (
      InvoiceLineId INTEGER PRIMARY KEY,
      InvoiceId INTEGER NOT NULL REFERENCES Invoice,
      Article VARCHAR(40) NOT NULL,
      Quantity INTEGER NOT NULL
    );
    CREATE INDEX ByCustomer ON Invoice (CustomerId);
    CREATE INDEX ByInvoice ON InvoiceLine (InvoiceId);
    INSERT INTO Customer VALUES (1, 'Ada', 'Berners-Lee'), (2, 'Ken', 'Ritchie');
    INSERT INTO Invoice VALUES (11, 1), (12, 1), (13, 2)`)
  app.register(database, { database: opened, write: true, report: () => {} })
  const browser = await launchChromium(t)
  const { open } = await makeScene(t, browser, await app.listen({ port: 0, host: '127.0.0.1' }))
  const page = await open('/customers')
  const names = async (): Promise<string[]> => textsOf(page.locator('tbody th a'))

  await reach(page, 'Search')
  await page.keyboard.type('ners')
  await arrive(page, () => page.keyboard.press('Enter'))
  t.strictSame(await names(), ['Ada Berners-Lee'], 'a part of the last name is enough')
  await enter(page, 'Ada Berners-Lee')
  t.strictSame(await names(), ['11', '12'])
  await enter(page, '12')

  await reach(page, 'Article')
  await page.keyboard.type('Tea')
  await reach(page, 'Quantity')
  await page.keyboard.type('2')
  await arrive(page, () => page.keyboard.press('Enter'))
  t.match(page.url(), /\/invoices\/12#related-invoice-lines\.InvoiceId$/)
  t.strictSame(await textsOf(page.locator('.related tbody td[data-label=Quantity]')), ['2'], 'the line is saved')
  t.match(await page.locator('.notice').innerText(), 'Saved')

  await enter(page, 'Ada Berners-Lee', 'Shift+Tab')
  await enter(page, 'See all')
  t.strictSame(await names(), ['11', '12'])
  await enter(page, 'Remove')
  t.strictSame(await names(), ['11', '12', '13'], 'the filter is undone')
}
