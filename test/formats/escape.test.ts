import t from 'tap'
import { escapeAttribute, escapeLegal, escapeText } from '../../lib/core/formats/escape.js'

const GONE = '\ufffd'

t.test('a text is escaped as content and as an attribute, and is legal if XML can carry it', async (t) => {
  const cases: ReadonlyArray<readonly [text: string, content: string, attribute: string, isLegal?: false]> = [
    ['plain', 'plain', 'plain'],
    ['a & b', 'a &amp; b', 'a &amp; b'],
    ['<b>', '&lt;b&gt;', '&lt;b&gt;'],
    ['"', '"', '&quot;'],
    ['[<]', '[&lt;]', '[&lt;]'],
    ['\r', '&#13;', '&#13;'],
    ['\t', '\t', '&#9;'],
    ['\n', '\n', '&#10;'],
    [' !#%\'-;=?~', ' !#%\'-;=?~', ' !#%\'-;=?~'],
    ['\ud7ff\ue000\ufffd😀', '\ud7ff\ue000\ufffd😀', '\ud7ff\ue000\ufffd😀'],
    ...['\0', '\b', '\v', '\f', '\x0e', '\x1f', '\ufffe', '\uffff', '\ud83d', '\ude00']
      .map((text) => [text, GONE, GONE, false] as const),
    ['<\0>', `&lt;${GONE}&gt;`, `&lt;${GONE}&gt;`, false]
  ]
  for (const [text, content, attribute, isLegal] of cases) {
    const what = JSON.stringify(text)
    t.equal(escapeText(text), content, what)
    t.equal(escapeAttribute(text), attribute, what)
    t.equal(escapeLegal(text), isLegal === false ? undefined : content, what)
  }
})
