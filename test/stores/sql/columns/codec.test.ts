import t from 'tap'
import { bytesOf, decodeInteger } from '../../../../lib/sql/columns/kinds.js'

t.test('bytes of each driver are the same', async (t) => {
  const bytes = Uint8Array.of(0, 1, 255)
  const part = new Uint8Array(new Uint8Array([9, 0, 1, 255, 9]).buffer, 1, 3)
  for (const raw of [bytes, bytes.buffer, part, Buffer.from(bytes)]) t.equal(bytesOf(raw).toString('hex'), '0001ff')
})

t.test('an id is a safe integer', async (t) => {
  for (const raw of [5, 5n, '5']) t.equal(decodeInteger(raw), 5)
  for (const raw of [null, 2n ** 53n, '9007199254740993', 'x']) t.throws(() => decodeInteger(raw), { message: /which JavaScript cannot represent exactly/ })
})
