import t from 'tap'
import { caseVariants, ignoringCase } from '../../lib/core/util/case-folding.js'

/** All characters, except surrogates. */
const CHARACTERS = Array.from({ length: 0x110000 }, (_, point) => point).filter((point) => point < 0xd800 || point > 0xdfff).map((point) => String.fromCodePoint(point))

t.test('the variants of a character are those that a regular expression with the flags iu takes for the same', async (t) => {
  const cased = CHARACTERS.filter((character) => /\p{Changes_When_Casemapped}/u.test(character) || caseVariants(character) !== character)
  t.ok(cased.length > 2_500)
  const all = cased.join('')
  const wrong = cased.filter((character) => {
    const matched = all.match(new RegExp(ignoringCase(character, false).source, 'giu')) ?? []
    return [...matched].sort().join('') !== Array.from(caseVariants(character)).sort().join('')
  })
  t.strictSame(wrong, [])
})

t.test('characters without a case have no variants', async (t) => {
  const others = CHARACTERS.filter((character) => !/\p{Changes_When_Casemapped}/u.test(character))
  t.strictSame(others.filter((character) => caseVariants(character) !== character), [])
})

t.test('some variants', async (t) => {
  for (const group of ['kK\u212a', 'sSſ', 'σςΣ', 'ßẞ', '\u0390\u1fd3', 'ﬅﬆ', 'iI', 'ı', 'İ', 'ﬁ', '𐐨𐐀', '1', '中']) {
    for (const character of group) t.strictSame(Array.from(caseVariants(character)).sort(), Array.from(group).sort(), group)
  }
})

t.test('a text is taken as it is, apart from its case', async (t) => {
  const text = 'aβ^$\\.*+?()[]{}|/-ſ'
  t.ok(ignoringCase(text, false).test(`x${text.toUpperCase()}`))
  t.notOk(ignoringCase(text, true).test(`x${text}`))
  t.ok(ignoringCase(text, true).test(text))
  t.notOk(ignoringCase('.', false).test('x'))
  t.notOk(ignoringCase('ss', false).test('ß'))
})
