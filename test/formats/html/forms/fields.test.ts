import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, { type AttributesSchema, memoryStore, type Store } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import { fill, findForm, submit } from '../../../support/html/forms.js'
import { respell } from '../../../../lib/core/formats/form/parse.js'
import { compileFormReader } from '../../../../lib/core/formats/form/read.js'

/** The schema of the attribute `it`, and the controls that its form must have. */
type Case = readonly [name: string, schema: object, controls: readonly string[], options?: {
  readonly optional?: boolean,
  readonly value?: unknown
}]

function schemaOf (schema: object, optional = false): AttributesSchema {
  return { type: 'object', properties: { it: schema }, ...(!optional && { required: ['it'] }) }
}

/** Returns the controls of a form's fields, without those of every form and without the submit button. */
function controlsOf (page: string, method: 'PUT' | undefined): string[] {
  const forms = [...page.matchAll(/<form method="post"[^>]*>([^]*?)<\/form>/g)].map(([, content = '']) => content)
  const form = forms.find((content) => content.includes('value="PUT"') === (method === 'PUT')) ?? ''
  return [...form.matchAll(/<input [^>]*>|<(select|textarea|button) [^>]*>[^]*?<\/\1>/g)]
    .map(([control]) => control)
    .filter((control) =>
      !/name="(?:_method|id|_version|post\[\?\]\[was\])"|name="commit"|class="(?:primary|default)"/.test(control))
    .map((control) => control.replaceAll(/ (?:id|aria-describedby|dir|cols|rows)="[^"]*"/g, '').replaceAll('post[it]',
      '*'))
}

async function seeded (t: Test, schema: AttributesSchema, values?: Record<string, unknown>): Promise<FastifyInstance> {
  const store = memoryStore()
  if (values !== undefined) store.create(values, {})
  return await build(t, { name: 'posts', attributes: schema, store })
}

/** Builds an app with a resource for each schema, whose form is at `/0/posts.html`, `/1/posts.html` and so on. */
async function seededEach (
  t: Test, all: ReadonlyArray<readonly [schema: AttributesSchema, values?: Record<string, unknown>]>
): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  for (const [index, [attributes, values]] of all.entries()) {
    const store = memoryStore()
    if (values !== undefined) store.create(values, {})
    app.register(resources, { name: 'posts', attributes, store, formats: ['html'], prefix: `/${index}` })
  }
  await app.ready()
  return app
}

const text = '<input type="text" name="*" required="required" minlength="1" value=""/>'
const nullMark = '<input type="hidden" name="*[?]" value="null"/>'
const absentMark = '<input type="hidden" name="*[?]" value="absent"/>'
const givenMark = '<input type="hidden" name="*[?]" value="json-null"/>'
const jsonMark = '<input type="hidden" name="*[?]" value="json"/>'

t.test('each kind of attribute has the control that fits it', async (t) => {
  const cases: Case[] = [
    ['a short text', { type: 'string', minLength: 1, maxLength: 120 },
      ['<input type="text" name="*" required="required" minlength="1" maxlength="120" value=""/>']],
    ['a short text that may be empty', { type: 'string', maxLength: 20 },
      ['<input type="text" name="*" maxlength="20" value=""/>']],
    ['a short text that may be left out', { type: 'string', minLength: 1, maxLength: 20 },
      [absentMark, '<input type="text" name="*" minlength="1" maxlength="20" value=""/>'], { optional: true }],
    ['a short text or null', { type: ['string', 'null'], minLength: 2, maxLength: 20 },
      [nullMark, '<input type="text" name="*" minlength="2" maxlength="20" value=""/>']],
    ['a short text or null, as TypeBox says it',
      { anyOf: [{ type: 'string', minLength: 2, maxLength: 20 }, { type: 'null' }] },
      [nullMark, '<input type="text" name="*" minlength="2" maxlength="20" value=""/>']],
    ['a text of any length', { type: 'string', minLength: 1 },
      ['<textarea name="*" required="required" minlength="1"></textarea>']],
    ['a text of up to 200 characters', { type: 'string', minLength: 1, maxLength: 200 },
      ['<input type="text" name="*" required="required" minlength="1" maxlength="200" value=""/>']],
    ['a text of up to 201 characters', { type: 'string', minLength: 1, maxLength: 201 },
      ['<textarea name="*" required="required" minlength="1" maxlength="201"></textarea>']],
    ['a short text that is Markdown',
      { type: 'string', minLength: 1, maxLength: 100, contentMediaType: 'text/markdown' },
      ['<textarea name="*" required="required" minlength="1" maxlength="100"></textarea>']],
    ['a short text whose format is textarea', { type: 'string', maxLength: 100, format: 'textarea' },
      ['<textarea name="*" maxlength="100"></textarea>']],
    ['a text of any length with a pattern', { type: 'string', minLength: 1, pattern: '^x' },
      [text.replace(' value', ' pattern=".*(?:^x).*" value')]],
    ['an e-mail address', { type: 'string', format: 'email' },
      ['<input type="email" name="*" required="required" value=""/>']],
    ['a URL', { type: 'string', format: 'uri' }, ['<input type="url" name="*" required="required" value=""/>']],
    ['a date', { type: 'string', format: 'date' }, ['<input type="date" name="*" required="required" value=""/>']],
    ['a time of day', { type: 'string', format: 'time' },
      ['<input type="text" name="*" required="required" value=""/>']],
    ['a decimal', { type: 'string', format: 'decimal' },
      ['<input type="number" name="*" required="required" step="any" value=""/>']],
    ['a decimal with a scale, or null', { type: ['string', 'null'], format: 'decimal', precision: 10, scale: 2 },
      [nullMark, '<input type="number" name="*" step="0.01" value=""/>']],
    ['a whole decimal of many digits', { type: 'string', format: 'decimal', precision: 19, scale: 0 },
      ['<input type="number" name="*" required="required" step="1" value=""/>']],
    ['a secret decimal', { type: 'string', format: 'decimal', scale: 2, writeOnly: true },
      ['<input type="password" name="*" required="required" autocomplete="new-password" value=""/>']],
    ['a date and time without an offset', { type: 'string', format: 'date-time-local' },
      ['<input type="datetime-local" name="*" required="required" value=""/>']],
    ['a time without an offset', { type: 'string', format: 'time-local' },
      ['<input type="time" name="*" required="required" value=""/>']],
    ['base64', { type: 'string', contentEncoding: 'base64', maxLength: 400 },
      ['<input type="file" name="*" required="required"/>']],
    [
      'a date and time',
      { type: 'string', format: 'date-time' },
      ['<input type="datetime-local" name="*" required="required" value=""/>',
        '<input type="text" name="*[?][offset]" value="Z" size="7" aria-label="It: UTC offset"/>']
    ],
    [
      'a date and time or null',
      { type: ['string', 'null'], format: 'date-time' },
      [nullMark, '<input type="datetime-local" name="*" value=""/>',
        '<input type="text" name="*[?][offset]" value="Z" size="7" aria-label="It: UTC offset"/>']
    ],
    ['a password', { type: 'string', format: 'password' },
      ['<input type="password" name="*" autocomplete="new-password" value=""/>']],
    ['a secret', { type: 'string', minLength: 8, writeOnly: true },
      ['<input type="password" name="*" required="required" autocomplete="new-password" value=""/>']],
    ['an integer', { type: 'integer' }, ['<input type="number" name="*" required="required" step="1" value=""/>']],
    ['an integer within bounds', { type: 'integer', minimum: 1, maximum: 5 },
      ['<input type="number" name="*" required="required" min="1" max="5" step="1" value=""/>']],
    ['an integer or null', { type: ['integer', 'null'] },
      [nullMark, '<input type="number" name="*" step="1" value=""/>']],
    ['a number', { type: 'number' }, ['<input type="number" name="*" required="required" step="any" value=""/>']],
    ['a number in steps', { type: 'number', minimum: 0, multipleOf: 0.25 },
      ['<input type="number" name="*" required="required" min="0" step="0.25" value=""/>']],
    [
      'a boolean',
      { type: 'boolean' },
      ['<input type="radio" name="*" value="true" required="required"/>',
        '<input type="radio" name="*" value="false" required="required"/>']
    ],
    ['a boolean that is false if nobody says otherwise', { type: 'boolean', default: false },
      ['<input type="hidden" name="*" value="false"/>', '<input type="checkbox" name="*" value="true"/>']],
    [
      'a boolean that is true if nobody says otherwise',
      { type: 'boolean', default: true },
      ['<input type="hidden" name="*" value="false"/>',
        '<input type="checkbox" name="*" value="true" checked="checked"/>'],
      { optional: true }
    ],
    [
      'a boolean that may be left out',
      { type: 'boolean' },
      [absentMark, '<input type="radio" name="*" value="" checked="checked"/>',
        '<input type="radio" name="*" value="true"/>', '<input type="radio" name="*" value="false"/>'],
      { optional: true }
    ],
    [
      'a boolean or null',
      { type: ['boolean', 'null'], default: false },
      [nullMark, '<input type="radio" name="*" value=""/>', '<input type="radio" name="*" value="true"/>',
        '<input type="radio" name="*" value="false" checked="checked"/>']
    ],
    [
      'one of a few',
      { enum: ['draft', 'live'] },
      ['<input type="radio" name="*" value="draft" required="required"/>',
        '<input type="radio" name="*" value="live" required="required"/>']
    ],
    [
      'one of a few, one of them chosen',
      { enum: ['draft', 'live'], default: 'live' },
      ['<input type="radio" name="*" value="draft" required="required"/>',
        '<input type="radio" name="*" value="live" checked="checked" required="required"/>']
    ],
    [
      'one of many',
      { enum: [1, 2, 3, 4, 5, 6], default: 3 },
      [
        '<select name="*"><option value="1">1</option><option value="2">2</option><option value="3" ' +
          'selected="selected">3</option><option value="4">4</option><option value="5">5</option><option value="6">' +
          '6</option></select>'
      ]
    ],
    [
      'one of many, none of them chosen',
      { enum: ['a', 'b', 'c', 'd', 'e', 'f'] },
      [
        '<select name="*" required="required"><option value="" selected="selected">Choose&#8230;</option><option ' +
          'value="a">a</option><option value="b">b</option><option value="c">c</option><option value="d">d</option>' +
          '<option value="e">e</option><option value="f">f</option></select>'
      ]
    ],
    [
      'one of a few or null',
      { enum: ['a', null] },
      [nullMark, '<input type="radio" name="*" value="" checked="checked"/>',
        '<input type="radio" name="*" value="a"/>']
    ],
    [
      'one of some that have titles, or null',
      { oneOf: [{ const: 'd', title: 'Draft' }, { const: 'l', title: 'Live' }, { type: 'null' }] },
      [nullMark, '<input type="radio" name="*" value="" checked="checked"/>',
        '<input type="radio" name="*" value="d"/>', '<input type="radio" name="*" value="l"/>']
    ],
    [
      'a date in one of two ways, or null',
      {
        anyOf: [{ type: 'string', format: 'date', minLength: 1 }, { type: 'string', format: 'date' }, { type: 'null' }]
      },
      [nullMark, '<input type="date" name="*" value=""/>']
    ],
    [
      'one of some that have titles',
      { oneOf: [{ const: 'd', title: 'Draft' }, { const: 'l', title: 'Live' }] },
      ['<input type="radio" name="*" value="d" required="required"/>',
        '<input type="radio" name="*" value="l" required="required"/>']
    ],
    ['one of which one is the empty text', { enum: ['', 'a'] },
      [jsonMark, '<textarea name="*" required="required" class="code" spellcheck="false"></textarea>']],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, ['<textarea name="*"></textarea>']],
    ['a list of numbers or null', { type: ['array', 'null'], items: { type: 'integer' } },
      [nullMark, '<textarea name="*"></textarea>']],
    [
      'some of several',
      { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] }, default: ['b'] },
      ['<input type="hidden" name="*[]" value=""/>', '<input type="checkbox" name="*[]" value="a"/>',
        '<input type="checkbox" name="*[]" value="b" checked="checked"/>']
    ],
    ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'string' } } },
      [jsonMark, '<textarea name="*" required="required" class="code" spellcheck="false"></textarea>']],
    [
      'an object',
      {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'string', minLength: 1, maxLength: 9 }, b: { type: 'integer' } }
      },
      ['<input type="text" name="*[a]" required="required" minlength="1" maxlength="9" value=""/>',
        '<input type="hidden" name="*[b][?]" value="absent"/>', '<input type="number" name="*[b]" step="1" value=""/>']
    ],
    ['an object that may be left out, of which nothing is demanded',
      { type: 'object', required: ['a'], properties: { a: { type: 'string', minLength: 1, maxLength: 9 } } },
      [absentMark, '<input type="text" name="*[a]" minlength="1" maxlength="9" value=""/>'], { optional: true }],
    ['an object of any properties', { type: 'object', additionalProperties: true },
      [jsonMark, '<textarea name="*" required="required" class="code" spellcheck="false"></textarea>']],
    [
      'a list of objects',
      { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      ['<input type="hidden" name="*" value=""/>',
        '<button type="submit" name="*[?][add]" value="1" formnovalidate="formnovalidate">Add an it</button>']
    ],
    [
      'a list of objects with one in it',
      {
        type: 'array',
        items: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
        default: [{ a: 7 }]
      },
      [
        '<input type="hidden" name="*" value=""/>', '<input type="hidden" name="*[0][?][row]" value="1"/>',
        '<input type="number" name="*[0][a]" required="required" step="1" value="7"/>',
        '<button type="submit" name="*[?][remove]" value="0" formnovalidate="formnovalidate" aria-label="Remove it ' +
          '1">Remove</button>',
        '<button type="submit" name="*[?][add]" value="1" formnovalidate="formnovalidate">Add an it</button>'
      ]
    ],
    ['anything, because a line could not send an object', {},
      [jsonMark, '<textarea name="*" required="required" class="code" spellcheck="false"></textarea>']],
    ['a text or an object', { type: ['string', 'object'] },
      [jsonMark, '<textarea name="*" required="required" class="code" spellcheck="false"></textarea>']],
    ['a text or a list', { type: ['string', 'array'] },
      [jsonMark, '<textarea name="*" required="required" class="code" spellcheck="false"></textarea>']],
    ['a text or a number', { type: ['string', 'integer'] }, ['<input type="text" name="*" value=""/>']],
    ['a number or a boolean', { type: ['integer', 'boolean'] },
      [jsonMark, '<textarea name="*" required="required" class="code" spellcheck="false"></textarea>']],
    ['what is only read', { type: 'string', readOnly: true, default: 'x' }, [], { optional: true }]
  ]
  const app = await seededEach(t, cases.map(([, schema, , { optional } = {}]) => [schemaOf(schema, optional)]))
  for (const [index, [name, , controls]] of cases.entries()) {
    await t.test(name, async (t) => {
      t.strictSame(controlsOf((await app.inject(`/${index}/posts.html`)).body, undefined), controls)
    })
  }
})

t.test('a value that its control could not bring back gets one that can', async (t) => {
  const cases: Case[] = [
    ['a short text with a line break', { type: 'string', maxLength: 50 },
      ['<textarea name="*" maxlength="50">a&#10;b</textarea>'], { value: 'a\nb' }],
    ['a text that begins with a line break', { type: 'string' }, ['<textarea name="*">\n&#10;a</textarea>'],
      { value: '\na' }],
    [
      'a text with a carriage return',
      { type: 'string' },
      [givenMark,
        '<textarea name="*" required="required" class="code" spellcheck="false">&quot;a\\rb&quot;</textarea>'],
      { value: 'a\rb' }
    ],
    ['a number that no client could send back', { type: 'number' }, [], { value: Infinity }],
    ['a decimal', { type: 'string', format: 'decimal', precision: 9, scale: 2 },
      ['<input type="number" name="*" required="required" step="0.01" value="-12.50"/>'], { value: '-12.50' }],
    ['a decimal that a double keeps', { type: 'string', format: 'decimal' },
      ['<input type="number" name="*" required="required" step="any" value="9007199254740992"/>'],
      { value: '9007199254740992' }],
    ['a decimal that a double does not keep', { type: 'string', format: 'decimal', scale: 2 },
      ['<input type="text" name="*" required="required" inputmode="decimal" value="9007199254740993.10"/>'],
      { value: '9007199254740993.10' }],
    ['a whole decimal that a double does not keep', { type: 'string', format: 'decimal', scale: 0 },
      ['<input type="text" name="*" required="required" inputmode="numeric" value="9007199254740993"/>'],
      { value: '9007199254740993' }],
    ['a decimal with more digits than its scale', { type: 'string', format: 'decimal', scale: 2 },
      ['<input type="number" name="*" required="required" step="any" value="1.125"/>'], { value: '1.125' }],
    ['a decimal that is none', { type: 'string', format: 'decimal' },
      ['<input type="text" name="*" required="required" inputmode="decimal" value="1,5"/>'], { value: '1,5' }],
    ...[
      ['2020-01-02T03:04:00', ''], ['2020-01-02T03:04:05', ' step="1"'], ['2020-01-02T03:04:00.5', ' step="0.001"'],
      ['2020-01-02T03:04:05.123', ' step="0.001"']
    ].map(([value, step]): Case => [`the local date and time ${value}`, { type: 'string', format: 'date-time-local' },
      [`<input type="datetime-local" name="*" required="required"${step} value="${value}"/>`], { value }]),
    ...['2020-01-02T03:04:05.10', '2020-01-02T03:04:05.0', '2020-01-02T03:04:05.123456', '2020-02-30T00:00:00',
      '2020-01-02T03:04:05Z', '03:04:05'].map((value): Case =>
      [`the local date and time ${value}`, { type: 'string', format: 'date-time-local' },
        [`<input type="text" name="*" required="required" value="${value}"/>`], { value }]),
    ...[['03:04:00', ''], ['03:04:05', ' step="1"'], ['03:04:00.007', ' step="0.001"']].map(([value, step]): Case =>
      [`the local time ${value}`, { type: 'string', format: 'time-local' },
        [`<input type="time" name="*" required="required"${step} value="${value}"/>`], { value }]),
    ...['03:04:05.120', '24:00:00', '2020-01-02T03:04:05'].map((value): Case =>
      [`the local time ${value}`, { type: 'string', format: 'time-local' },
        [`<input type="text" name="*" required="required" value="${value}"/>`], { value }]),
    ...([
      ['1996-07-04 00:00:00.000', 'date', '1996-07-04', ''], ['1996-07-04', 'date', '1996-07-04', ''],
      ['1996-07-04T00:00', 'date', '1996-07-04', ''],
      ['1996-07-04 10:31', 'datetime-local', '1996-07-04T10:31:00', ''],
      ['1996-07-04 10:31:05.000', 'datetime-local', '1996-07-04T10:31:05', ' step="1"']
    ] as const).map(([value, type, shown, step]): Case =>
      [`the date ${value} in another spelling`, { type: 'string', format: 'date-time-text' },
        [`<input type="hidden" name="*[?][was]" value="${value}"/>`,
          `<input type="${type}" name="*"${step} value="${shown}"/>`], { value }]),
    ...['1996-02-30', '1996-07-04 25:00', '1996-07-04 10:31:05.5', '1996-07-04 10:31:05Z', '4 July 1996',
      `1996-07-04 00:00:00.${'0'.repeat(40)}`].map((value): Case =>
      [`the text ${value}`, { type: 'string', format: 'date-time-text' },
        [`<input type="text" name="*" value="${value}"/>`], { value }]),
    ['a date in another spelling or a number', { type: ['string', 'integer'], format: 'date-time-text' },
      ['<input type="text" name="*" value="1996-07-04"/>'], { value: '1996-07-04' }],
    ['a date that is none', { type: 'string', format: 'date' },
      ['<input type="text" name="*" required="required" value="someday"/>'], { value: 'someday' }],
    ['a date of the year 0', { type: 'string', format: 'date' },
      ['<input type="text" name="*" required="required" value="0000-01-01"/>'], { value: '0000-01-01' }],
    ['an e-mail address with a space', { type: 'string', format: 'email' },
      ['<input type="text" name="*" required="required" value=" a@b.c"/>'], { value: ' a@b.c' }],
    ['a URL that is none', { type: 'string', format: 'uri' },
      ['<input type="text" name="*" required="required" value="somewhere"/>'], { value: 'somewhere' }],
    [
      'a date and time',
      { type: 'string', format: 'date-time' },
      ['<input type="hidden" name="*[?][was]" value="2026-01-31T12:00:00.000Z"/>',
        '<input type="datetime-local" name="*" required="required" step="0.001" value="2026-01-31T12:00:00.000"/>',
        '<input type="text" name="*[?][offset]" value="Z" size="7" aria-label="It: UTC offset"/>'],
      { value: '2026-01-31T12:00:00.000Z' }
    ],
    [
      'a date and time to the second',
      { type: 'string', format: 'date-time' },
      ['<input type="hidden" name="*[?][was]" value="2026-01-31T12:00:30+02:00"/>',
        '<input type="datetime-local" name="*" required="required" step="1" value="2026-01-31T12:00:30"/>',
        '<input type="text" name="*[?][offset]" value="+02:00" size="7" aria-label="It: UTC offset"/>'],
      { value: '2026-01-31T12:00:30+02:00' }
    ],
    ['a date and time to the microsecond', { type: 'string', format: 'date-time' },
      ['<input type="text" name="*" required="required" value="2026-01-31T12:00:00.000001Z"/>'],
      { value: '2026-01-31T12:00:00.000001Z' }],
    [
      'a list with a line break in an item',
      { type: 'array', items: { type: 'string' } },
      [
        '<input type="hidden" name="*" value=""/>', '<input type="hidden" name="*[0][?][row]" value="1"/>',
        '<textarea name="*[0]">a&#10;b</textarea>',
        '<button type="submit" name="*[?][remove]" value="0" formnovalidate="formnovalidate" aria-label="Remove it ' +
          '1">Remove</button>',
        '<button type="submit" name="*[?][add]" value="1" formnovalidate="formnovalidate">Add an it</button>'
      ],
      { value: ['a\nb'] }
    ],
    ['a list out of the order of its ' +
      'boxes', { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } },
    ['<input type="hidden" name="*" value=""/>', ...['b', 'a'].flatMap((value, index) => [
      `<input type="hidden" name="*[${index}][?][row]" value="1"/>`,
      `<select name="*[${index}]">${['a', 'b'].map((choice) => choice === value
        ? `<option value="${choice}" selected="selected">${choice}</option>`
        : `<option value="${choice}">${choice}</option>`).join('')}</select>`,
      `<button type="submit" name="*[?][remove]" value="${index}" formnovalidate="formnovalidate" ` +
        `aria-label="Remove it ${index + 1}">Remove</button>`
    ]), '<button type="submit" name="*[?][add]" value="1" formnovalidate="formnovalidate">Add an ' +
      'it</button>'], { value: ['b', 'a'] }],
    ['a value of another type', { type: 'string' }, [], { value: 5 }],
    [
      'a date-time with a line break that browsers change',
      { type: 'string', format: 'date-time' },
      [givenMark,
        '<textarea name="*" required="required" class="code" spellcheck="false">&quot;a\\rb&quot;</textarea>'],
      { value: 'a\rb' }
    ],
    ['an optional address, which a blank field removes', { type: 'string', format: 'email' },
      ['<input type="hidden" name="*[?]" value="removed"/>', '<input type="email" name="*" value="a@b.example"/>'],
      { optional: true, value: 'a@b.example' }],
    [
      'an optional address inside of an object, which can be without it',
      { type: 'object', properties: { mail: { type: 'string', format: 'email' } } },
      ['<input type="hidden" name="*[mail][?]" value="absent"/>',
        '<input type="email" name="*[mail]" value="a@b.example"/>'],
      { value: { mail: 'a@b.example' } }
    ],
    ['a secret is not shown', { type: 'string', writeOnly: true },
      [absentMark, '<input type="password" name="*" autocomplete="new-password" value=""/>'], { value: 'secret' }]
  ]
  const app = await seededEach(t,
    cases.map(([, schema, , { value, optional } = {}]) => [schemaOf(schema, optional), { it: value }]))
  for (const [index, [name, , controls]] of cases.entries()) {
    await t.test(name, async (t) => {
      t.strictSame(controlsOf((await app.inject(`/${index}/posts/1.html`)).body, 'PUT'), controls)
    })
  }
})

t.test('a date keeps the spelling that the row had', async (t) => {
  const day = { type: ['string', 'null'], format: 'date-time-text' }
  const schema = { type: 'object', properties: { day } } as const
  const cases: Array<[was: string, sent: string, stored: string | null]> = [
    ['1996-07-04 00:00:00.000', '1996-07-04', '1996-07-04 00:00:00.000'],
    ['1996-07-04 00:00:00.000', '1996-07-05', '1996-07-05 00:00:00.000'],
    ['1996-07-04', '1996-07-05', '1996-07-05'],
    ['1996-07-04T10:31:00', '1996-07-04T10:31', '1996-07-04T10:31:00'],
    ['1996-07-04 10:31:00.000', '1996-07-05T11:32', '1996-07-05 11:32:00.000'],
    ['1996-07-04 10:31', '1996-07-05T11:32', '1996-07-05 11:32'],
    ['1996-07-04 10:31', '1996-07-05T11:32:07', '1996-07-05 11:32:07'],
    ['1996-07-04 10:31:05', '1996-07-05T11:32:06', '1996-07-05 11:32:06'],
    ['1996-07-04 00:00:00.000', '', null],
    ['July 4', '1996-07-05', '1996-07-05']
  ]
  for (const [was, sent, stored] of cases) {
    const store = memoryStore()
    store.create({ day: was }, {})
    const app = await build(t, { name: 'posts', attributes: schema, store })
    const form = findForm(await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } }), 'PUT')
    const res = await app.inject(submit(fill(form, { 'post[day]': sent }), undefined, { accept: 'text/html' }))
    t.equal(res.statusCode, 303)
    t.match(store.get(1, {}, { signal: AbortSignal.abort() }), { attributes: { day: stored } }, `${was}, ${sent}`)
  }
  const app = await build(t, { name: 'posts', attributes: schema, store: memoryStore() })
  for (const sent of ['some day', '1996-07-05', '1996-07-05T11:32:06.5']) {
    t.equal(respell(sent, '1996-07-04 10:31:05.000'), sent, 'other texts than those of the control')
  }
  const refused = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'post[day]=1996-07-05&post[day][?][was]=1996-07-04+00:00&post[other]=x'
  })
  t.match(refused.body, /<input type="date" id="post:day"[^>]* value="1996-07-05"/, 'a form that comes back keeps both')
  t.match(refused.body, 'name="post[day][?][was]" value="1996-07-04 00:00"')
  const unmarked = await app.inject({
    method: 'POST',
    url: '/posts.html',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'post[day]=1996-07-05&post[other]=x'
  })
  t.match(unmarked.body, /<input type="text" id="post:day"[^>]* value="1996-07-05"/, 'no spelling is known')
})

t.test('a new date has the spelling of the example', async (t) => {
  const cases: Array<[example: unknown, was: string | undefined, type: string, sent: string, stored: string | null]> = [
    ['2000-01-31 13:45:00.000', undefined, 'datetime-local', '1996-07-05T11:32', '1996-07-05 11:32:00.000'],
    ['2000-01-31 13:45', undefined, 'datetime-local', '1996-07-05T11:32', '1996-07-05 11:32'],
    ['2000-01-31 00:00:00', undefined, 'date', '1996-07-05', '1996-07-05 00:00:00'],
    ['2000-01-31 13:45:00.000', '1996-07-04 00:00:00.000', 'datetime-local', '1996-07-04T09:15',
      '1996-07-04 09:15:00.000'],
    ['2000-01-31 13:45:00.000', '1996-07-04 00:00:00.000', 'datetime-local', '1996-07-04T00:00',
      '1996-07-04 00:00:00.000'],
    ['2000-01-31 00:00:00', '1996-07-04 10:31:00', 'datetime-local', '1996-07-04T10:32', '1996-07-04 10:32:00'],
    ['2000-01-31 13:45:00.000', '1996-07-04', 'date', '1996-07-05', '1996-07-05'],
    ['2000-01-31 13:45:00.000', 'July 4', 'text', 'July 5', 'July 5'],
    ['2000-01-31 13:45:00.000', '1996-07-04 00:00:00.000', 'datetime-local', '', null],
    ['some day', undefined, 'text', 'another', 'another'],
    [7, undefined, 'text', 'another', 'another']
  ]
  for (const [example, was, type, sent, stored] of cases) {
    const day = { type: ['string', 'null'], format: 'date-time-text', examples: [example] }
    const store = memoryStore()
    if (was !== undefined) store.create({ day: was }, {})
    const app = await build(t, { name: 'posts', attributes: { type: 'object', properties: { day } } as const, store })
    const url = was === undefined ? '/posts' : '/posts/1'
    const page = await app.inject({ url, headers: { accept: 'text/html' } })
    t.match(page.body, new RegExp(`<input type="${type}" id="post:day"`), `${String(example)}, ${String(was)}`)
    const form = findForm(page, was === undefined ? 'POST' : 'PUT')
    const res = await app.inject(submit(fill(form, { 'post[day]': sent }), undefined, { accept: 'text/html' }))
    t.equal(res.statusCode, 303)
    t.match(store.get(1, {}, { signal: AbortSignal.abort() }), { attributes: { day: stored } }, `${sent} is ${stored}`)
  }
  const day = { type: 'string', format: 'date-time-text', examples: ['2000-01-31 13:45:00'] }
  const app = await build(t, {
    name: 'posts', attributes: { type: 'object', required: ['day'], properties: { day } } as const
  })
  const { body } = await app.inject({ url: '/posts', headers: { accept: 'text/html' } })
  t.match(body, /<input type="datetime-local" id="post:day"[^>]* required="required"/)
})

t.test('the schema and the keys decide whether a text has one line, a row that grows, or five rows', async (t) => {
  const long = { type: 'string' } as const
  const properties = {
    code: long,
    sku: { ...long, maxLength: 5000 },
    tenant: long,
    number: long,
    title: { ...long, maxLength: 200 },
    note: { ...long, maxLength: 201 },
    body: { ...long, format: 'textarea' },
    page: { ...long, contentMediaType: 'text/html' },
    slug: { ...long, maxLength: 50, format: 'textarea' }
  }
  const unique = ['sku', 'slug', ['tenant', 'number']]
  const plain = memoryStore({ unique })
  const store: Store = { ...plain, key: ['code'], unique }
  const app = await build(t, { name: 'posts', attributes: { type: 'object', properties }, store })
  const controls = async (path: string, names: readonly string[]): Promise<ReadonlyArray<string | undefined>> => {
    const { body } = await app.inject(path)
    return names.map((name) => {
      const found = new RegExp(`<(input type="text"|textarea) [^>]*name="post\\[${name}\\]"[^>]*>`).exec(body)
      return /rows="\d+"/.exec(found?.[0] ?? '')?.[0] ?? found?.[1]
    })
  }
  const [line, one] = ['input type="text"', 'rows="1"']
  t.strictSame(await controls('/posts.html', Object.keys(properties)),
    [line, line, one, one, line, one, 'rows="5"', 'rows="5"', 'rows="5"'])

  // Browsers that do not let a text grow show its rows. Only a line break needs another control than the form of a new
  // post has, because a line would lose it.
  plain.create({ sku: 'x'.repeat(400), tenant: `a\n\n${'x'.repeat(61)}`, number: 'a\n'.repeat(30), title: 'a\nb' }, {})
  t.strictSame(await controls('/posts/1.html', ['sku', 'tenant', 'number', 'title', 'note']),
    [line, 'rows="4"', 'rows="10"', 'rows="2"', one])
})

t.test('an array of more than fifty objects is edited as JSON, because forms have a maximum size', async (t) => {
  const schema = schemaOf({ type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } })
  for (const [length, first] of [[50, '<input type="hidden" name="*" value=""/>'], [51, givenMark]] as const) {
    const app = await seeded(t, schema, { it: Array.from({ length }, () => ({ a: 'x' })) })
    t.equal(controlsOf((await app.inject('/posts/1.html')).body, 'PUT')[0], first)
  }
})

t.test('a browser refuses no value that the schema allows', async (t) => {
  const cases: Array<[schema: object, constraints: Record<string, string>]> = [
    [{ type: 'integer', minimum: 1.5, maximum: 4.5 }, { min: '2', max: '4', step: '1' }],
    [{ type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 }, { min: '1', max: '9', step: '1' }],
    [{ type: 'integer', minimum: 3, multipleOf: 5 }, { min: '5', step: '5' }],
    [{ type: 'integer', minimum: -3, maximum: 0 }, { min: '-3', max: '0', step: '1' }],
    [{ type: 'integer', minimum: 2, exclusiveMinimum: 5 }, { min: '6', step: '1' }],
    [{ type: 'number', minimum: 0.1, multipleOf: 0.1 }, { min: '0.1', step: '0.1' }],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 1 }, { min: '0', max: '1', step: 'any' }],
    [{ type: 'string', pattern: '^[a-z]+$', maxLength: 9 }, { pattern: '[a-z]+', maxlength: '9' }],
    [{ type: 'string', pattern: 'a|b' }, { pattern: '.*(?:a|b).*' }],
    [{ type: 'string', pattern: '^a|b$' }, { pattern: '.*(?:^a|b$).*' }],
    [{ type: 'string', pattern: '^\\d\\$' }, { pattern: '.*(?:^\\d\\$).*' }],
    [{ type: 'string', pattern: '^[\\w.-]+$' }, { pattern: '[\\w\\.\\-]+' }],
    [{ type: 'string', pattern: '^[^-a-z(]$' }, { pattern: '[^\\-a-z\\(]' }],
    [{ type: 'string', pattern: '^[a&&b[\\]]$' }, { pattern: '[a\\&amp;\\&amp;b\\[\\]]' }],
    [{ type: 'string', pattern: '^\\[a-\\]$' }, { pattern: '\\[a-\\]' }]
  ]
  const app = await seededEach(t, cases.map(([schema]) => [schemaOf(schema)]))
  for (const [index, [schema, expected]] of cases.entries()) {
    await t.test(JSON.stringify(schema), async (t) => {
      const [control = ''] = controlsOf((await app.inject(`/${index}/posts.html`)).body, undefined)
      const found = Object.fromEntries([
        ...control.matchAll(/ (min|max|step|pattern|minlength|maxlength)="([^"]*)"/g)
      ].map(([, name, value]) => [name, value]))
      t.strictSame(found, expected)
    })
  }
})

t.test('an error inside a value is shown beside the value\'s only field', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: {
      type: 'object',
      properties: {
        it: { type: 'object', additionalProperties: { type: 'integer' } },
        list: { type: 'array', items: { type: 'array', items: { type: 'integer' } } }
      }
    }
  })
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'post[it]={"a":"x"}&post[it][?]=json&post[list]=[[1],["x"]]&post[list][?]=json'
  })
  t.equal(statusCode, 422)
  t.match(body, '<p class="error" id="post:it!error">A must be an integer</p>')
  t.match(body, '<p class="error" id="post:list!error">List 2: 0 must be an integer</p>')
  t.match(body, '<a href="#post:it">A must be an integer</a>')
})

t.test('an option is shown with its title, even if the schema has other annotations', async (t) => {
  const titled = { oneOf: [{ const: 'a', title: 'First' }, { const: 'b', title: 'Second' }] }
  for (const schema of [titled, { allOf: [{ type: 'string' }, titled] }, { $ref: '#/$defs/titled' },
    { type: 'string', anyOf: titled.oneOf }, { oneOf: [...titled.oneOf, { type: 'null' }] }]) {
    const app = await seeded(t, { ...schemaOf(schema), $defs: { titled } } as AttributesSchema, { it: 'b' })
    for (const url of ['/posts.html', '/posts/1.html']) {
      t.match((await app.inject(url)).body, />Second<\//, `${url} ${JSON.stringify(schema)}`)
    }
  }
})

t.test('a row without a schema keeps a line break at its beginning', async (t) => {
  const app = await build(t, { name: 'posts' })
  for (const [accept, text] of [['text/html', '\n&#10;a'], ['application/xhtml+xml', '&#10;a']] as const) {
    const { body } = await app.inject({
      method: 'POST',
      url: '/posts',
      headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'post[?][0][name]=1&post[?][0][value]=%0Aa'
    })
    t.match(body, `name="post[?][0][value]" aria-label="Value 1" rows="2" cols="60" dir="auto">${text}</textarea>`,
      accept)
  }
})

t.test('an attribute with a dot in its name is not a nested one', async (t) => {
  const app = await seeded(
    t, { type: 'object', properties: { 'a.b': { type: 'string', format: 'email' } } }, { 'a.b': 'a@b.example' }
  )
  t.match((await app.inject('/posts/1.html')).body,
    '<input type="email" id="post:a.b" name="post[a.b]" value="a@b.example"/>')
})

t.test('a label is the title or the name in words, and the description explains it', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: {
      type: 'object',
      properties: {
        firstName: { type: 'string' },
        last_name: { type: 'string', title: 'Family <name>' },
        homeURL: { type: 'string', description: 'With "https"' },
        choice: { type: 'integer', description: '', anyOf: [{ const: 1, title: 'One' }, { const: 2, title: 'Two' }] }
      }
    }
  })
  const { body } = await app.inject('/posts.html')
  for (const label of [
    '<label for="post:firstName">First name ', '<label for="post:last_name">Family &lt;name&gt; ',
    '<label for="post:homeURL">Home URL ', '<legend>Choice ', '<label for="post:choice!1">One</label>',
    '<label for="post:choice!2">Two</label>'
  ]) {
    t.match(body, label)
  }
  t.match(body, '<p class="explanation" id="post:homeURL!description">With &quot;https&quot;</p>')
  t.match(body, /<textarea id="post:homeURL" [^>]*aria-describedby="post:homeURL!description"/)
  t.notMatch(body, 'post:choice!description')
})

t.test('the reader of forms takes bytes, as each reader of a format does', async (t) => {
  const reader = compileFormReader()
  const { post = { texts: [], children: new Map() } } = reader.parse(Buffer.from('post[title]=T%C3%A9a'))
  const { title = post } = reader.entries(post) ?? {}
  t.equal(reader.scalar(title), 'Téa')
})
