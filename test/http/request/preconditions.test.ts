import t from 'tap'
import {
  areMet, type EntityTags, findPreconditions, findReadConditions, isMatched, isNamed, isOpaque, mayBeQualified,
  namesRow, parseEntityTag, parseEntityTags, type Preconditions, taggedVersion
} from '../../../lib/core/request/preconditions.js'

const tag = (opaque: string, weak = false): { weak: boolean, opaque: string } => ({ weak, opaque })
const formats = [{ name: 'json' }, { name: 'xml' }]

t.test('a header has entity tags, any, or is malformed', async (t) => {
  const cases: ReadonlyArray<readonly [header: string | undefined, tags: EntityTags]> = [
    [undefined, undefined],
    ['*', '*'],
    [' *\t', '*'],
    ['"1.xml"', [tag('1.xml')]],
    ['W/"1"', [tag('1', true)]],
    ['"1", W/"2" ,\t"3"', [tag('1'), tag('2', true), tag('3')]],
    [' , "1",, "2" ,', [tag('1'), tag('2')]],
    ['""', [tag('')]],
    ['"a,b"', [tag('a,b')]],
    ['"!#~\x80\xff"', [tag('!#~\x80\xff')]]
  ]
  for (const [header, tags] of cases) t.strictSame(parseEntityTags(header, 'If-Match'), tags, String(header))
  const malformed = [
    '', ' ', ',', '1', '"1', '1"', '"1""2"', '"1" "2"', 'w/"1"', 'W/ "1"', '"a b"', '"1", 2', '"1",*', '**', '"\x7f"',
    '"\x19"', '"1"x'
  ]
  for (const header of malformed) {
    t.throws(() => parseEntityTags(header, 'If-None-Match'), { statusCode: 400, message: /If-None-Match/ }, header)
  }
})

t.test('one entity tag is the whole text, and each text without spaces and quotes may be in it', async (t) => {
  t.strictSame(parseEntityTag('"1"'), tag('1'))
  t.strictSame(parseEntityTag('W/"1"'), tag('1', true))
  for (const text of ['1', 'x"1"', '"1"x', '"1","2"', '', '"a b"']) t.equal(parseEntityTag(text), undefined, text)
  t.strictSame(['', 'a', '!#~\xff'].map(isOpaque), [true, true, true])
  t.strictSame(['"', 'a b', 'a"', '"a', '\x7f', '€'].map(isOpaque), [false, false, false, false, false, false])
})

t.test('a GET has the tags of both headers, or no conditions', async (t) => {
  t.equal(findReadConditions({}), undefined)
  t.strictSame(findReadConditions({ 'if-match': '"1"' }), { match: [tag('1')], noneMatch: undefined })
  t.strictSame(findReadConditions({ 'if-none-match': '*' }), { match: undefined, noneMatch: '*' })
  t.throws(() => findReadConditions({ 'if-match': 'x' }), { message: /If-Match/ })
  t.throws(() => findReadConditions({ 'if-none-match': 'x' }), { message: /If-None-Match/ })
})

t.test('a write has the versions of its tags, without format and shape', async (t) => {
  const versions: ReadonlyArray<readonly [opaque: string, version: string]> = [
    ['3.xml', '3'], ['3.json-5d41402a', '3'], ['3.xml-bom-5d41402a', '3'], ['3.xml-bom', '3'], ['3', '3'],
    ['3.yaml', '3.yaml'], ['3.xml-5d41402', '3.xml-5d41402'], ['3.xml-5d41402az', '3.xml-5d41402az'],
    ['3.xml-5D41402A', '3.xml-5D41402A'], ['3.xml.json', '3.xml'], ['3.xmlx', '3.xmlx'], ['3-xml', '3-xml'],
    ['3xml', '3xml'], ['', '']
  ]
  for (const [opaque, version] of versions) {
    for (const [header, member] of [['if-match', 'match'], ['if-none-match', 'noneMatch']] as const) {
      const found = findPreconditions({ [header]: `"${opaque}"` }, undefined, formats)
      t.strictSame(found?.[member], [version], opaque)
    }
  }
  t.strictSame(findPreconditions({ 'if-match': '"3.x2"' }, undefined, [{ name: 'x2' }])?.match, ['3'])
})

t.test('a write names versions, depends on the row, or has only one version that it allows', async (t) => {
  const cases: ReadonlyArray<readonly [
    match: string | undefined, noneMatch: string | undefined, form: string | undefined,
    found: readonly [nameVersion: boolean, dependOnRow: boolean, soleVersion: string | undefined] | undefined
  ]> = [
    [undefined, undefined, undefined, undefined],
    ['*', undefined, undefined, [false, false, undefined]],
    ['"3"', undefined, undefined, [true, true, '3']],
    ['"3.xml", "3.json"', undefined, undefined, [true, true, '3']],
    ['"3", "4"', undefined, undefined, [true, true, undefined]],
    ['W/"3"', undefined, undefined, [true, true, '']],
    ['W/"3", "4"', undefined, undefined, [true, true, '4']],
    [undefined, undefined, '3', [true, true, '3']],
    ['*', undefined, '3', [true, true, '3']],
    ['"3"', undefined, '3', [true, true, '3']],
    ['"3"', undefined, '4', [true, true, undefined]],
    [undefined, '*', undefined, [false, true, undefined]],
    [undefined, '"3"', undefined, [false, true, undefined]],
    ['"3"', '"4"', undefined, [true, true, undefined]]
  ]
  for (const [match, noneMatch, form, expected] of cases) {
    const found = findPreconditions({ 'if-match': match, 'if-none-match': noneMatch }, form, formats)
    const parts = found && [found.nameVersion, found.dependOnRow, found.soleVersion]
    t.strictSame(parts, expected, JSON.stringify([match, noneMatch, form]))
    t.equal(found?.formVersion, form)
  }
  t.throws(() => findPreconditions({ 'if-match': 'x' }, undefined, formats), { message: /If-Match/ })
  t.throws(() => findPreconditions({ 'if-none-match': 'x' }, undefined, formats), { message: /If-None-Match/ })
  const weak = findPreconditions({ 'if-none-match': 'W/"3"' }, undefined, formats)
  t.strictSame(weak?.noneMatch, ['3'], 'If-None-Match compares weakly')
})

t.test('preconditions hold for a row in one of its versions', async (t) => {
  const row = { id: 7, version: '3' }
  const cases: ReadonlyArray<readonly [
    parts: Partial<Preconditions>, named: boolean, unnamed: boolean, row?: object
  ]> = [
    [{}, true, true],
    [{ match: '*' }, true, true],
    [{ match: ['3'] }, true, false],
    [{ match: ['7-3'] }, true, true],
    [{ match: ['1', '3'] }, true, false],
    [{ match: [] }, false, false],
    [{ match: ['8-3'] }, false, false],
    [{ match: ['7-4'] }, false, false],
    [{ noneMatch: '*' }, false, false],
    [{ noneMatch: ['3'] }, false, true],
    [{ noneMatch: ['4', '7-3'] }, false, false],
    [{ noneMatch: ['4'] }, true, true],
    [{ formVersion: '3' }, true, false],
    [{ formVersion: '7-3' }, true, true],
    [{ formVersion: '4' }, false, false],
    [{ formVersion: '3', match: ['4'] }, false, false],
    [{ formVersion: '4', match: ['3'] }, false, false],
    [{ formVersion: '3', match: ['3'] }, true, false],
    [{ match: [''] }, false, false, { id: 7, version: '' }],
    [{ match: ['7-'] }, false, false, { id: 7, version: '' }],
    [{ noneMatch: [''] }, true, true, { id: 7, version: '' }]
  ]
  for (const [parts, named, unnamed, other] of cases) {
    const preconditions = { match: undefined, noneMatch: undefined, formVersion: undefined, ...parts } as Preconditions
    const of = { ...row, ...other }
    t.strictSame(
      [areMet(preconditions, of, true), areMet(preconditions, of, false)], [named, unnamed], JSON.stringify(parts)
    )
  }
})

t.test('a version has the id before it where the path does not name the row', async (t) => {
  const [rows, one] = [{ singleton: false }, { singleton: true }]
  const row = { id: 7, version: '3' }
  t.strictSame([taggedVersion(rows, row), taggedVersion(rows, row, false)], ['3', '7-3'])
  t.strictSame([taggedVersion(one, row), taggedVersion(one, row, true)], ['7-3', '7-3'])
  t.equal(taggedVersion(one, { id: 7, version: '' }), '', 'a row without a version has no tag')
  const uuid = '01890a5d-ac96-774b-bcce-b302099a8057'
  const ids = [
    ['a-b.c', 'a%2Db%2Ec'], ['a-b-c.d.e', 'a%2Db%2Dc%2Ed%2Ee'], ['ä "', '%C3%A4%20%22'], [uuid, uuid],
    ['\ud800', '%EF%BF%BD']
  ] as const
  for (const [id, encoded] of ids) {
    t.equal(taggedVersion(one, { id, version: '3' }), `${encoded}-3`, id)
    t.strictSame([mayBeQualified(`${encoded}-3`, id), mayBeQualified(`x${encoded}-3`, id)], [true, false])
  }
  t.strictSame([mayBeQualified('7-3', 7), mayBeQualified('71-3', 7), mayBeQualified('7', 7)], [true, false, false])
  t.strictSame([namesRow('7-3'), namesRow('3')], [true, false])
})

t.test('If-None-Match compares weakly, If-Match strongly', async (t) => {
  const cases: ReadonlyArray<readonly [
    tags: EntityTags, weak: boolean | undefined, named: boolean, matched: boolean
  ]> = [
    [undefined, false, false, true],
    ['*', false, true, true],
    ['*', undefined, true, true],
    [[tag('1')], false, true, true],
    [[tag('0'), tag('1')], false, true, true],
    [[tag('0')], false, false, false],
    [[tag('1', true)], false, true, false],
    [[tag('1')], true, true, false],
    [[tag('1')], undefined, true, false],
    [[], false, false, false]
  ]
  for (const [tags, weak, named, matched] of cases) {
    const what = JSON.stringify([tags, weak])
    t.equal(isNamed(tags, tag('1', weak)), named, what)
    t.equal(isMatched(tags, weak === undefined ? undefined : tag('1', weak)), matched, what)
  }
})
