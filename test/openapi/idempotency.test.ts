import t from 'tap'
import { type Part, checkReferences, describe, drawn, FORM, operationsOf } from '../support/openapi.js'
import { post } from '../support/helper.js'
import type { ResourceOptions } from '../../lib/index.js'

const KEY = 'Idempotency-Key'

t.test('each write of a resource with the option has the header and the field, and no other operation', async (t) => {
  const cases: ReadonlyArray<readonly [options: Partial<ResourceOptions>, required: boolean | undefined]> = [
    [{}, undefined],
    [{ idempotency: {} }, false],
    [{ idempotency: { required: true } }, false],
    [{ idempotency: { required: true }, formats: ['json'] }, true]
  ]
  for (const [options, required] of cases) {
    const document = await describe(t, drawn((map) => map.resources('posts', {
      attributes: post, writes: 'both', ...options
    }, (posts) => posts.member.post('publish', () => undefined).collection.get('recent', () => []))))
    checkReferences(t, document)
    const operations = operationsOf(document)
    t.ok(operations.length > 8)
    for (const { operation } of operations) {
      const { operationId, parameters, responses, requestBody } = operation as typeof operation & Part
      const key = parameters.find(({ name }) => name === KEY)
      const isWrite = !/^(?:list|show|recent|query|new|edit)/.test(operationId)
      t.equal(key?.required ?? (key === undefined ? undefined : false), isWrite ? required : undefined, operationId)
      const success = Object.entries(responses as Record<string, Part>).filter(([status]) => status < '300')
      for (const [status, { headers }] of success) {
        t.equal('Idempotency-Replayed' in Object(headers), key !== undefined, `${operationId} ${status}`)
      }
      const form = (requestBody?.content as Record<string, { readonly schema: unknown }> | undefined)?.[FORM]
      if (form !== undefined) t.equal(JSON.stringify(form.schema).includes('_key'), key !== undefined, operationId)
    }
  }
})
