import t from 'tap'
import { shapeOf } from '../../../lib/core/schema/shape.js'
import type { Schema } from '../../../lib/core/schema/types.js'
import { columnTypeOf, findCodec } from '../../../lib/sql/postgres/column-types.js'
import { valuesOf } from '../../../lib/sql/columns/kinds.js'

const string = { type: 'string' }
const format = (name: string): Schema => ({ type: 'string', format: name })
const array = (items: Schema): Schema => ({ type: 'array', items })

t.test('a column of another type keeps no values', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, ...types: string[]]> = [
    [string, 'integer', 'bytea', 'numeric(10,2)', 'jsonb', 'timestamp without time zone', 'uuid', 'character varying(20)', 'character(3)'],
    [format('uuid'), 'integer', 'character varying(35)'],
    [format('date-time'), 'timestamp without time zone', 'date', 'character varying(20)'],
    [format('date-time-local'), 'timestamp with time zone', 'time without time zone'],
    [format('time-local'), 'time with time zone'],
    [format('date'), 'timestamp without time zone'],
    [format('decimal'), 'text', 'real', 'money'],
    [{ ...string, contentEncoding: 'base64' }, 'text', 'jsonb'],
    [{ type: 'integer' }, 'numeric', 'text', 'real'],
    [{ type: 'number' }, 'numeric', 'integer'],
    [{ type: 'boolean' }, 'integer', 'text'],
    [{}, 'text', 'bytea', 'integer[]'],
    [array(string), 'text', 'integer[]', 'box[]'],
    [array({}), 'text[]']
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
  for (const name of ['uuid', 'date-time']) t.not(findCodec(valuesOf(shapeOf(format(name)), true), 'character varying(20)'), undefined, name)
})

t.test('a decimal has a column of its digits', async (t) => {
  t.equal(columnTypeOf(valuesOf(shapeOf({ ...format('decimal'), precision: 10, scale: 2 }), false)), 'numeric(10,2)')
  t.equal(columnTypeOf(valuesOf(shapeOf(format('decimal')), false)), 'numeric')
})
