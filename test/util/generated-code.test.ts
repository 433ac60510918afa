import fc from 'fast-check'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { compileCopy, compileNaming, compileTemplate, type Generate, type TemplateStep } from '../../lib/util/generated-code.js'

const seed = Number(process.env.FC_SEED ?? 20_261_124)

/** Takes the place of the generator, as in a process that forbids generated code. */
const refuse: Generate = () => undefined

/** Names that end a string, a comment or a property, that objects inherit, or that are words of the generated code. */
const HOSTILE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a"b', 'a\\', "a'", '`${', 'a\nb', '\u2028', '*/', '//', '"]', 'value', 'copy', 'members', 'text', '0', '', '\ud800']
const name = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 12 }))
const names = fc.uniqueArray(name, { maxLength: 12 })
const value = fc.oneof(fc.constantFrom<unknown>(undefined, null, '', 0, true), fc.string(), fc.integer())
const text = fc.string({ unit: 'binary', maxLength: 8 })

/** Makes an object with an own member for each name, also for `__proto__`. */
function makeMembers (names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) {
    Object.defineProperty(members, name, { value: values[index], enumerable: true, configurable: true, writable: true })
  }
  return members
}

const membersOf = (object: object): unknown[] => Object.entries(object)

t.test('generated code names values as the closure does, whatever the names are', async (t) => {
  fc.assert(fc.property(names.map((names) => names.filter((name) => name !== '__proto__')), fc.array(value, { minLength: 12, maxLength: 12 }), (names, values) => {
    t.same(membersOf(compileNaming(names)(values)), membersOf(compileNaming(names, refuse)(values)))
  }), { seed, numRuns: 60 })
  const [[key] = []] = membersOf(compileNaming(['__proto__'])([1])) as Array<[string, unknown]>
  t.equal(key, '__proto__', 'a column with this name is a member, and no prototype')
})

t.test('generated code copies members as the closure does', async (t) => {
  fc.assert(fc.property(names, names, fc.array(value, { minLength: 12, maxLength: 12 }), (own, asked, values) => {
    const source = makeMembers(own, values)
    const copied = [...own, ...asked].map((from, index) => ({ from, to: `${index}${from}`, convert: (value: unknown) => typeof value === 'number' && index % 2 === 1 ? undefined : value }))
    for (const first of [undefined, 'id', 'a"b']) {
      t.same(membersOf(compileCopy(copied, first)(source, values)), membersOf(compileCopy(copied, first, refuse)(source, values)))
    }
  }), { seed, numRuns: 60 })
  t.same(compileCopy([])({ a: 1 }), {})
})

t.test('generated code writes templates as the closure does', async (t) => {
  const step = fc.record({ name, before: text, open: text, openAlone: text, isPlain: fc.boolean() })
  fc.assert(fc.property(fc.array(step, { maxLength: 8 }), fc.array(value, { minLength: 8, maxLength: 8 }), text, text, (given, values, last, after) => {
    const steps = given.map(({ isPlain, ...step }): TemplateStep => ({
      ...step,
      write: (value) => isPlain && typeof value === 'string' ? value : undefined,
      writeOther: (value) => `[${String(value)}]`
    }))
    const members = makeMembers(given.map(({ name }) => name), values)
    t.equal(compileTemplate(steps, { last, after })('text', members), compileTemplate(steps, { last, after }, refuse)('text', members))
  }), { seed, numRuns: 100 })
})

t.test('a member that objects inherit is no member of a row', async (t) => {
  const copied = ['constructor', 'toString'].map((from) => ({ from, to: from, convert: (value: unknown) => value }))
  for (const make of [undefined, refuse]) t.same(membersOf(compileCopy(copied, undefined, make)({ toString: 1 })), [['toString', 1]])
})

t.test('closures serve a very wide table', async (t) => {
  const names = Array.from({ length: 201 }, (_, index) => `c${index}`)
  const row = compileNaming(names)(names.map((_, index) => index))
  t.equal(Object.keys(row).length, 201)
  t.equal(row.c200, 200)
})

t.test('closures serve a process that forbids generated code', async (t) => {
  const program = `
    import { compileCopy, compileNaming } from './lib/util/generated-code.ts'
    const row = compileNaming(['a', 'b'])([1, 2])
    console.log(JSON.stringify([row, compileCopy([{ from: 'a', to: 'c', convert: (value) => value + 1 }])(row)]))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--disallow-code-generation-from-strings', '--import=./test/support/loader/typescript.mjs', '--input-type=module', '--eval', program])
  t.same(JSON.parse(stdout), [{ a: 1, b: 2 }, { c: 2 }])
})
