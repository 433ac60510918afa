import type { Row } from '../../../core/resource/row.js'
import { normalizeDecimal } from '../../../core/util/decimal.js'
import type { Order } from '../../../core/stores/store.js'
import { existing, rowOf, same, valueOf } from '../../assertions.js'
import { type Checks, holds, type Subject } from '../../subject.js'
import { inOrder, lists } from '../lists.js'
import { IS_MET } from './operators.js'

/** Decimals in ascending order. Each group has several texts of one number. */
const ASCENDING: ReadonlyArray<readonly string[]> = [
  ['-123456789012345678901234567890.5'], ['-10', '-10.0'], ['-9.99'], ['-9'], ['-1.5', '-01.50'], ['-0.1'],
  ['-0.01', '-0.010'], ['0', '0.00', '-0', '00'], ['0.000000000000000000001'], ['0.009'], ['0.01'], ['0.1', '0.10'],
  ['1.09'], ['1.1', '1.10', '1.1000', '001.1'], ['1.2'], ['2'], ['9'], ['10', '10.000'], ['10.5'], ['99'], ['100'],
  ['9007199254740992'], ['9007199254740993', '9007199254740993.0'], ['9007199254740993.1'],
  ['123456789012345678901234567890.4'], ['123456789012345678901234567890.5']
]

export const decimalChecks: Checks = {
  'decimals keep all their digits': async (subject) => {
    for (const text of ASCENDING.flat()) {
      const created = await subject.create({ price: text })
      const bare = await subject.create()
      const updated = rowOf(await subject.update(bare.id, { price: text }))
      for (const { id, attributes } of [created, updated]) {
        const read = existing(await subject.get(id))
        const kept = [attributes.price, valueOf(read, 'price')].map((price) => normalizeDecimal(String(price)))
        // A database may write a number in another way, for example with as many zeros as its column has.
        same(kept, [normalizeDecimal(text), normalizeDecimal(text)], `the number that was ${text}`)
      }
    }
  }
}

export const decimalOrderChecks: Checks = {
  'decimals are ordered as numbers, with null first': async (subject) => {
    const groups = await seedGroups(subject)
    for (const descending of [false, true]) {
      const order: Order = [{ by: 'price', descending, type: 'decimal' }, { by: 'id', descending: false }]
      const expected = (descending ? groups.toReversed() : groups).flat()
      await lists(subject, { order }, expected)
      for (const [index, row] of expected.entries()) {
        const after = [valueOf(row, 'price') as string | null, row.id]
        await lists(subject, { order, after, limit: 3 }, expected.slice(index + 1, index + 4))
      }
    }
  }
}

/** Checks an operator for each number, by a text of it that not all equal decimals have. */
export function decimalConditionChecks (operator: keyof typeof IS_MET): Checks {
  return {
    [`the operator ${operator} compares decimals as numbers`]: async (subject) => {
      const [none = [], ...groups] = await seedGroups(subject)
      for (const [index, texts] of ASCENDING.entries()) {
        const selected = groups.filter((_, other) => IS_MET[operator](other - index))
        const expected = [...selected.flat(), ...operator === 'not' ? none : []]
        for (const value of texts) {
          await holds(subject, expected, { filter: [{ attribute: 'price', operator, value, type: 'decimal' }] })
        }
      }
    }
  }
}

export const decimalListChecks: Checks = {
  'the operator in selects decimals as numbers': async (subject) => {
    const [, ...groups] = await seedGroups(subject)
    const value = ['1.1000', '0', '10.00', '3']
    const numbers = new Set(value.map(normalizeDecimal))
    const expected = groups.filter((_, index) => numbers.has(normalizeDecimal(String(ASCENDING[index]?.[0]))))
    await holds(subject, expected.flat(), { filter: [{ attribute: 'price', operator: 'in', value, type: 'decimal' }] })
  }
}

/** Creates rows for all texts, not in their order. Returns the rows without a decimal, then those of each number. */
async function seedGroups (subject: Subject): Promise<readonly Row[][]> {
  const texts = ASCENDING.flat()
  const shuffled = texts.map((_, index) => texts[index * 7 % texts.length] as string)
  const none = inOrder([await subject.create({ price: null }), await subject.create()])
  const rows = new Map<string, Row>()
  for (const text of shuffled) rows.set(text, await subject.create({ price: text }))
  return [none, ...ASCENDING.map((group) => inOrder(group.map((text) => rows.get(text) as Row)))]
}
