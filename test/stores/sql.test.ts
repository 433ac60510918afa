import t from 'tap'
import { shapeOf } from '../../lib/core/schema/shape.js'
import type { Schema } from '../../lib/core/schema/types.js'
import { bytesOf, decodeInteger, valuesOf } from '../../lib/sql/columns/kinds.js'
import { columnTypeOf, findCodec } from '../../lib/sql/postgres/column-types.js'
import { addKeywords, readCheck, tokenize } from '../../lib/sql/tables/checks.js'

const INTEGER = { type: 'integer' }
const STRING = { type: 'string' }

/** Adds the keywords of a constraint to the schema of the column `a`. Another column is called `b`. */
function read (check: string, schema: object, dialect: 'sqlite' | 'postgres' = 'sqlite'): object {
  const demands = readCheck(tokenize(check, dialect),
    (name) => (['a', 'b'].includes(name.toLowerCase()) ? name.toLowerCase() : undefined))
  return addKeywords({ ...schema }, demands.filter(({ column }) => column === 'a'), true)
}

const READ: ReadonlyArray<readonly [check: string, schema: object, keywords: object]> = [
  ['A >= 0', INTEGER, { minimum: 0 }],
  ['[a] >= 0 AND `a` < 5', INTEGER, { minimum: 0, exclusiveMaximum: 5 }],
  ['a >= 0 AND a >= 3 AND a <= 9 AND a <= 7', INTEGER, { minimum: 3, maximum: 7 }],
  ['0 <= a AND 9 > a', INTEGER, { minimum: 0, exclusiveMaximum: 9 }],
  ['a > +1000', INTEGER, { exclusiveMinimum: 1000 }],
  ['a BETWEEN 1 AND 5 AND b > 3', INTEGER, { minimum: 1, maximum: 5 }],
  ['a == 5', INTEGER, { enum: [5] }],
  ['5 = a', INTEGER, { enum: [5] }],
  ['a IN (1, 2, 2) AND a IN (2, 3)', INTEGER, { enum: [2] }],
  ['a IN (1) AND a IN (2)', INTEGER, { enum: [1] }],
  ['a IN ("x", "b""c")', STRING, { enum: ['x', 'b"c'] }],
  ['a > 0 AND b LIKE \'x\'', INTEGER, { exclusiveMinimum: 0 }],
  ['a > 0 AND f(b, (1)) > 5', INTEGER, { exclusiveMinimum: 0 }],
  ['a > 0 AND b IS NOT NULL', INTEGER, { exclusiveMinimum: 0 }],
  ['length(a) > 2.5 AND length(a) < 8.5', STRING, { minLength: 3, maxLength: 8 }],
  ['length(a) >= 2 AND length(a) == 4', STRING, { minLength: 4, maxLength: 4 }],
  ['a != \'\'', STRING, { minLength: 1 }]
]

const LEFT: ReadonlyArray<readonly [check: string, schema: object]> = [
  ['', INTEGER], ['a', INTEGER], ['a >', INTEGER], ['a > \'5\'', INTEGER], ['a IS NULL OR a > 5', INTEGER],
  ['a = \'x\' OR a = \'y\'', STRING], ['a > 0 AND (b BETWEEN 1 AND 2 + 3)', INTEGER], ['f(b AND a > 5 AND b)', INTEGER],
  ['b = (1 AND a > 5 AND 1)', INTEGER], ['(b AND a > 5) = 0', INTEGER], ['(a > 5', INTEGER], ['a > 5)', INTEGER],
  ['a > 5, 6', INTEGER], ['(a, b) = (1, 2)', INTEGER], ['a > 5 + 1', INTEGER], ['a > 5 > 0', INTEGER],
  ['- a > 5', INTEGER], ['a > - b', INTEGER], ['a > -\'5\'', INTEGER], ['a > b', INTEGER], ['a > c', INTEGER],
  ['a > 9007199254740993', INTEGER], ['a > 5 OR b > 5', INTEGER], ['a > 5 OR a < 3', INTEGER],
  ['b IS NULL OR a > 5', INTEGER], ['b IS NULL OR a = 5 OR a = 6', INTEGER], ['a + 1 IS NULL OR a > 5', INTEGER],
  ['a = 5 OR b = 6', INTEGER], ['a = 5 OR length(a) = 6', STRING], ['a IS NULL', INTEGER], ['a IS NOT NULL', INTEGER],
  ['a IS 5', INTEGER], ['NOT a > 5', INTEGER], ['NOT a > 5 AND b = 1', INTEGER], ['a NOT IN (1, 2)', INTEGER],
  ['a NOT BETWEEN 1 AND a > 3', INTEGER], ['a BETWEEN 1 + 2 AND a > 3', INTEGER],
  ['CASE WHEN b THEN b AND a > 3 AND b END', INTEGER], ['a IN (1, NULL)', INTEGER], ['a IN (1, \'x\')', INTEGER],
  ['a IN (1, b)', INTEGER], ['a IN (1 2)', INTEGER], ['a IN 1', INTEGER], ['a IN (1', INTEGER], ['length(a', STRING],
  ['5 IS NULL OR a > 5', INTEGER], ['a IN 1 AND a > b', INTEGER], ['a > * 5', INTEGER], ['length(a 5) = 3', STRING],
  ['a IN b', INTEGER], ['1 IN (a)', INTEGER], ['1 = 1', INTEGER], ['a <> 5', INTEGER], ['a <> \'x\'', STRING],
  ['a > \'x\'', STRING], ['a = 5', STRING], ['a = \'x\' COLLATE NOCASE', STRING], ['a COLLATE NOCASE = \'x\'', STRING],
  ['length(a, b) = 5', STRING], ['length() = 5', STRING], ['length(b + 1) = 5', STRING], ['length(a) < 0', STRING],
  ['length(a) <> 5', STRING], ['length(a) = \'5\'', STRING], ['length(a) = 5', { type: 'string', format: 'uuid' }],
  ['length(a) = 5', { type: 'string', contentEncoding: 'base64' }],
  ['a = \'x\'', { type: 'string', format: 'decimal' }], ['a = 5', { type: 'boolean' }], ['upper(a) = \'X\'', STRING],
  ['a = x\'00\'', STRING]
]

/** Expressions as PostgreSQL writes them. */
const CAST: ReadonlyArray<readonly [check: string, schema: object, keywords: object]> = [
  ["((a)::text = ANY ((ARRAY['x'::character varying, 'y'::character varying(5)])::text[]))", STRING,
    { enum: ['x', 'y'] }],
  ["(a >= '-5'::integer)", INTEGER, { minimum: -5 }], ['((a)::numeric >= 0.5)', { type: 'number' }, { minimum: 0.5 }],
  ["(a = 'x'::public.\"My Type\")", STRING, { enum: ['x'] }], ["(a = E'x\\\\y')", STRING, {}],
  ["(a > '2020-01-01'::timestamp(3) without time zone)", STRING, {}], ['((a)::integer > 5)', { type: 'number' }, {}],
  ["((a)::character varying(3) = 'x')", STRING, {}], ['(a <> ALL (ARRAY[1, 2]))', INTEGER, {}],
  ['(a > ANY (ARRAY[1, 2]))', INTEGER, {}], ['(a = ANY (b))', INTEGER, {}],
  ["(a = ANY ('{1,2}'::integer[]))", INTEGER, {}], ["(a = 'x'::text[", STRING, {}], ["(a = 'x'::", STRING, {}]
]

t.test('simple conditions become keywords', async (t) => {
  for (const [check, schema, keywords] of READ) t.strictSame(read(check, schema), { ...schema, ...keywords }, check)
  for (const [check, schema, keywords] of CAST) {
    t.strictSame(read(check, schema, 'postgres'), { ...schema, ...keywords }, check)
  }
})

t.test('other conditions are left to the database', async (t) => {
  for (const [check, schema] of LEFT) t.strictSame(read(check, schema), schema, check)
})

t.test('texts that are equal without being the same get no keywords', async (t) => {
  const demands = readCheck(tokenize("a IN ('x') AND length(a) = 1 AND a <> ''", 'sqlite'), (name) =>
    name === 'a' ? name : undefined)
  t.equal(demands.length, 3)
  t.strictSame(addKeywords(STRING, demands, false), STRING)
})

const string = { type: 'string' }
const format = (name: string): Schema => ({ type: 'string', format: name })
const array = (items: Schema): Schema => ({ type: 'array', items })

t.test('a column of another type keeps no values', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, ...types: string[]]> = [
    [string, 'integer', 'bytea', 'numeric(10,2)', 'jsonb', 'timestamp without time zone', 'uuid',
      'character varying(20)', 'character(3)'],
    [format('uuid'), 'integer', 'character varying(35)'],
    [format('date-time'), 'timestamp without time zone', 'date', 'character varying(20)'],
    [format('date-time-local'), 'timestamp with time zone', 'time without time zone'],
    [format('time-local'), 'time with time zone'], [format('date'), 'timestamp without time zone'],
    [format('decimal'), 'text', 'real', 'money'], [{ ...string, contentEncoding: 'base64' }, 'text', 'jsonb'],
    [{ type: 'integer' }, 'numeric', 'text', 'real'], [{ type: 'number' }, 'numeric', 'integer'],
    [{ type: 'boolean' }, 'integer', 'text'], [{}, 'text', 'bytea', 'integer[]'],
    [array(string), 'text', 'integer[]', 'box[]'], [array({}), 'text[]']
  ]
  for (const [schema, ...types] of cases) {
    const values = valuesOf(shapeOf(schema), false)
    for (const type of types) t.equal(findCodec(values, type), undefined, `${JSON.stringify(schema)} in ${type}`)
    t.not(findCodec(values, columnTypeOf(values)), undefined, `${JSON.stringify(schema)} in ${columnTypeOf(values)}`)
  }
})

t.test('a readOnly attribute may have a shorter column', async (t) => {
  const values = valuesOf(shapeOf(string), true)
  for (const type of ['character varying(20)', 'character(3)']) t.not(findCodec(values, type), undefined, type)
  for (const name of ['uuid', 'date-time']) {
    t.not(findCodec(valuesOf(shapeOf(format(name)), true), 'character varying(20)'), undefined, name)
  }
})

t.test('a decimal has a column of its digits', async (t) => {
  t.equal(columnTypeOf(valuesOf(shapeOf({ ...format('decimal'), precision: 10, scale: 2 }), false)), 'numeric(10,2)')
  t.equal(columnTypeOf(valuesOf(shapeOf(format('decimal')), false)), 'numeric')
})

t.test('bytes of each driver are the same', async (t) => {
  const bytes = Uint8Array.of(0, 1, 255)
  const part = new Uint8Array(new Uint8Array([9, 0, 1, 255, 9]).buffer, 1, 3)
  for (const raw of [bytes, bytes.buffer, part, Buffer.from(bytes)]) t.equal(bytesOf(raw).toString('hex'), '0001ff')
})

t.test('an id is a safe integer', async (t) => {
  for (const raw of [5, 5n, '5']) t.equal(decodeInteger(raw), 5)
  for (const raw of [null, 2n ** 53n, '9007199254740993', 'x']) {
    t.throws(() => decodeInteger(raw), { message: /which JavaScript cannot represent exactly/ })
  }
})
