import type { FastifyInstance } from 'fastify'
import resources, {
  type Attributes, type AttributesSchema, memoryStore, type ResourceOptions
} from '../../../lib/index.js'

/** A resource with rows of the kind that apps have. */
export interface Specimen {
  readonly options: Omit<ResourceOptions, 'store'> & { readonly name: string }
  readonly rows: readonly Attributes[]
  readonly id?: 'uuid'
}

const text = { type: 'string', maxLength: 100 } as const
const long = { type: 'string' } as const
const date = { type: 'string', format: 'date' } as const
const money = { type: 'number', minimum: 0, multipleOf: 0.01 } as const
const words = [
  'Consulting', 'Wasserversorgungsgesellschaft', 'a', 'Hardware & services', 'Travel',
  'Straßenverkehrszulassungsordnung'
]

function schema (properties: Readonly<Record<string, object>>, required: readonly string[] = []): AttributesSchema {
  return { type: 'object', required, properties } as unknown as AttributesSchema
}

function repeat (count: number, make: (index: number) => Attributes): Attributes[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

const invoice = schema({
  number: { type: 'string', pattern: '^INV-\\d{4}$', description: 'INV- and four digits.', maxLength: 8 },
  customerName: text,
  customerEmail: { type: 'string', format: 'email' },
  issuedOn: date,
  dueOn: { type: ['string', 'null'], format: 'date' },
  total: money,
  currency: { enum: ['EUR', 'USD', 'GBP', 'JPY', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK'] },
  status: { enum: ['draft', 'sent', 'paid'] },
  lineItems: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['description', 'quantity', 'unitPrice'],
      properties: {
        description: { type: 'string', minLength: 1, maxLength: 200 },
        quantity: { type: 'integer', minimum: 1 },
        unitPrice: money,
        vatRate: { type: 'number', enum: [0, 0.07, 0.19] }
      }
    }
  },
  notes: long
}, ['number', 'customerName', 'issuedOn', 'currency', 'status', 'lineItems'])

const wide = Object.fromEntries(Array.from({ length: 40 }, (_, index): [string, object] => [
  ['firmwareUpdateChannel', 'serialNumber', 'lastMaintenanceDate', 'isConnected', 'temperature'][index % 5] +
    String(index + 1),
  [text, { type: 'string', maxLength: 30 }, date, { type: 'boolean' }, { type: 'number' }][index % 5] as object
]))

const account = schema({
  login: {
    type: 'string',
    minLength: 1,
    maxLength: 40,
    pattern: '^[a-z][a-z0-9-]*$',
    description: 'Small letters, digits and hyphens.'
  },
  password: { type: 'string', minLength: 12, writeOnly: true },
  plan: { enum: ['free', 'team'] },
  quota: { type: ['integer', 'null'], minimum: 0 },
  addresses: {
    type: 'array',
    items: {
      type: 'object',
      required: ['street'],
      properties: {
        kind: { enum: ['home', 'work'] }, street: text, town: text, since: date, isDefault: { type: 'boolean' }
      }
    }
  },
  grants: {
    type: 'array',
    items: { type: 'string', enum: ['read', 'write', 'delete', 'invite', 'bill', 'audit'] },
    uniqueItems: true
  },
  settings: { type: 'object' },
  anything: {}
}, ['login', 'plan'])

/** The resources, from 1 to 40 attributes. */
export const specimens: readonly Specimen[] = [
  {
    options: { name: 'invoices', attributes: invoice },
    id: 'uuid',
    rows: repeat(14, (index) => ({
      number: `INV-${1000 + index}`,
      customerName: ['Müller & Söhne GmbH', 'B corp', 'Acme <Inc>', 'Ada Lovelace'][index % 4],
      ...(index % 3 === 0 && { customerEmail: 'accounts.payable@very-long-subdomain.example.com' }),
      issuedOn: `2026-01-${10 + index}`,
      dueOn: index % 2 === 0 ? null : `2026-02-${10 + index}`,
      total: index * 1234.5,
      currency: ['EUR', 'JPY', 'USD'][index % 3],
      status: ['draft', 'sent', 'paid'][index % 3],
      lineItems: repeat(
        1 + index % 2, () => ({ description: 'Consulting, senior', quantity: 9, unitPrice: 1200.5, vatRate: 0.19 })
      )
    }))
  },
  {
    options: { name: 'notes', attributes: schema({ body: long }, ['body']) },
    rows: repeat(5, (index) => ({ body: `${words[index]} and more. `.repeat(12) }))
  },
  {
    options: {
      name: 'products',
      attributes: schema(
        {
          name: text,
          sku: { type: 'string', maxLength: 20 },
          price: { type: 'string', format: 'decimal', precision: 12, scale: 2 },
          weight: { type: 'number' },
          stock: { type: 'integer' },
          isActive: { type: 'boolean', default: true },
          site: { type: 'string', format: 'uri' },
          tags: { type: 'array', items: text },
          size: { type: 'object', properties: { width: { type: 'number' }, height: { type: 'number' } } }
        },
        ['name', 'price']
      )
    },
    rows: repeat(
      12,
      (index) => ({
        name: `${words[index % 6]} ${index}`,
        sku: `SKU-00${index}-XL`,
        price: `${index * 9999}.5`,
        weight: index / 3,
        stock: index * 10_000,
        isActive: index % 2 === 0,
        site: `https://shop.example.com/catalogue/products/${index}?ref=list`,
        tags: ['new', 'sale'].slice(index % 3),
        size: { width: index, height: 12.5 }
      })
    )
  },
  {
    options: { name: 'devices', attributes: schema(wide, Object.keys(wide).slice(0, 1)) },
    rows: repeat(
      9,
      (index) => Object.fromEntries(
        Object.keys(wide).map(
          (name, at) => [name, [words[index % 6], 'SN-4711-0815', '2026-12-31', index % 2 === 0, -12345.678][at % 5]]
        )
      )
    )
  },
  {
    options: {
      name: 'words', attributes: schema({ word: text, meaning: long, language: { enum: ['de', 'fi', 'is'] } }, ['word'])
    },
    rows: [
      {
        word: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
        meaning: 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz',
        language: 'de'
      },
      { word: 'Lentokonesuihkuturbiinimoottoriapumekaanikkoaliupseerioppilas', language: 'fi' }, { word: 'x' }
    ]
  },
  {
    options: {
      name: 'events',
      attributes: schema(
        {
          title: text,
          startsAt: { type: 'string', format: 'date-time' },
          endsAt: { type: ['string', 'null'], format: 'date-time' },
          opensAt: { type: 'string', format: 'time-local' },
          publicHoliday: { type: ['boolean', 'null'] },
          seats: { type: 'integer', minimum: 0 }
        },
        ['title', 'startsAt']
      )
    },
    rows: repeat(
      7,
      (index) => ({
        title: `Event ${index}`,
        startsAt: `2026-09-${10 + index}T18:30:00+02:00`,
        endsAt: null,
        opensAt: '18:00:00',
        publicHoliday: [true, false, null][index % 3],
        seats: 10 ** index
      })
    )
  },
  {
    options: {
      name: 'members',
      attributes: schema(
        {
          name: text,
          email: { type: 'string', format: 'email' },
          role: {
            oneOf: [
              { const: 'o', title: 'Owner' }, { const: 'a', title: 'Administrator' }, { const: 'm', title: 'Member' }
            ]
          },
          isVerified: { type: 'boolean' },
          joinedOn: date,
          address: { type: 'object', properties: { street: text, town: text, zip: text } }
        },
        ['name', 'email', 'role']
      )
    },
    rows: repeat(
      10,
      (index) => ({
        name: ['Ada Lovelace', 'Grace Hopper', 'Katherine Johnson'][index % 3],
        email: `person.number.${index}@mail.example.org`,
        role: 'oam'[index % 3],
        isVerified: index % 2 === 1,
        joinedOn: `2020-0${1 + index % 9}-15`,
        address: { street: 'Rue du Musée 1', town: 'Ensisheim', zip: '68190' }
      })
    )
  },
  {
    options: {
      name: 'shops',
      attributes: schema({ name: text, town: text, opened: date, employees: { type: 'integer' } }, ['name'])
    },
    rows: [
      { name: '東京都千代田区丸の内一丁目九番一号東京駅構内店舗', town: '東京', opened: '1914-12-20', employees: 12 },
      { name: '上海外滩旗舰店', town: '上海', opened: '2001-05-01', employees: 123456 }, { name: '서울 강남 지점', town: '서울' }
    ]
  },
  {
    options: {
      name: 'books',
      attributes: schema({ title: text, author: text, pages: { type: 'integer' }, price: money }, ['title']),
      html: { lang: 'ar' }
    },
    rows: [
      { title: 'كتاب الحيوان', author: 'الجاحظ', pages: 1024, price: 99.5 },
      { title: 'ألف ليلة وليلة', author: 'مجهول', pages: 12345, price: 0 },
      { title: 'An English title', pages: -1, price: 5 }
    ]
  },
  {
    options: {
      name: 'readings',
      attributes: schema(
        {
          sensorId: { type: 'string', format: 'uuid' },
          value: { type: 'number' },
          takenAt: { type: 'string', format: 'date-time' }
        },
        ['sensorId', 'value', 'takenAt']
      )
    },
    id: 'uuid',
    rows: repeat(
      8,
      (index) => ({
        sensorId: `0190a7c0-0000-7000-8000-00000000000${index}`,
        value: -1.234567890123456 * 10 ** (index * 3 - 9),
        takenAt: '2026-01-31T12:30:15.250Z'
      })
    )
  },
  {
    options: {
      name: 'tickets',
      attributes: schema(
        {
          subject: { type: 'string', minLength: 1, maxLength: 200 },
          state: { enum: ['open', 'in progress', 'waiting for customer', 'solved', 'closed'] },
          priority: { enum: ['low', 'normal', 'high'] },
          assignee: text,
          createdAt: { type: 'string', format: 'date-time', readOnly: true },
          body: long,
          watchers: { type: 'array', items: { type: 'string', format: 'email' } }
        },
        ['subject', 'state']
      )
    },
    rows: repeat(
      11,
      (index) => ({
        subject:
          `The printer on floor ${index} prints only the first page of each document, and then asks for paper that ` +
            'it has',
        state: ['open', 'in progress', 'waiting for customer', 'solved', 'closed'][index % 5],
        priority: ['low', 'normal', 'high'][index % 3],
        createdAt: '2026-03-01T08:00:00Z',
        body: 'Please help. '.repeat(40),
        watchers: ['a@example.com', 'b@example.com']
      })
    )
  },
  {
    options: { name: 'flags', attributes: schema({ enabled: { type: 'boolean' } }) },
    rows: [{ enabled: true }, { enabled: false }, {}]
  },
  {
    options: {
      name: 'orders',
      attributes: schema(
        {
          memberId: { type: 'integer' },
          shopId: { type: ['integer', 'null'] },
          placedAt: { type: 'string', format: 'date-time' },
          discount: { type: 'number', minimum: 0, maximum: 1 },
          remarks: long
        },
        ['memberId', 'placedAt']
      ),
      references: { memberId: 'members', shopId: 'shops' }
    },
    rows: repeat(
      9,
      (index) => ({
        memberId: 1 + index,
        shopId: [1, 2, null][index % 3],
        placedAt: `2026-04-0${1 + index}T06:00:00Z`,
        discount: index / 10,
        remarks: 'Ring twice. '.repeat(index)
      })
    )
  },
  {
    options: { name: 'accounts', attributes: account },
    rows: repeat(
      6,
      (index) => ({
        login: `user-${index}`,
        plan: ['free', 'team'][index % 2],
        quota: [null, 0, 10 ** 9][index % 3],
        addresses: repeat(
          index % 3,
          () => ({ kind: 'home', street: 'Rue du Musée 1', town: 'Ensisheim', since: '1492-11-07', isDefault: true })
        ),
        grants: ['read', 'audit'],
        settings: { theme: { dark: true } },
        anything: [1, 'text', { a: null }][index % 3]
      })
    )
  },
  {
    options: { name: 'things' },
    rows: [
      { title: 'A thing', size: 7, any: { deep: [true, null] } },
      { other: 'Donaudampfschifffahrtsgesellschaftskapitän', at: '2026-01-31T12:00:00Z' }
    ]
  }
]

/** Registers all of them, with these further options. */
export function addSpecimens (app: FastifyInstance, more: Partial<ResourceOptions> = {}): void {
  for (const { options, rows, id } of specimens) {
    const store = memoryStore(id === undefined ? {} : { id })
    for (const row of rows) store.create(row, {})
    app.register(resources, { ...options, formPages: true, ...more, store } as ResourceOptions)
  }
}
