import t from 'tap'
import { joinRoutes, type MethodRoute } from '../../lib/plugin/routes/join-routes.js'

/** Makes a route that notes its calls. */
function makeRoute (method: MethodRoute['method'], hooks: MethodRoute['hooks'], notes: string[]): MethodRoute {
  return { method, hooks, handler: () => { notes.push(`handler of ${method.join()}`) }, schemas: {}, swaggerTransform: () => ({ schema: {}, url: '/' }) }
}

t.test('the routes of a URL become one, whose hooks and handler are those of the method', async (t) => {
  const notes: string[] = []
  const hook = (name: string) => (_request: unknown, ...rest: unknown[]): void => {
    notes.push(name);
    (rest.at(-1) as () => void)()
  }
  const read = makeRoute(['GET'], {}, notes)
  // Besides the request and the reply, hooks of this name have these parameters before `done`.
  for (const [name, others] of [['preHandler', []], ['onSend', ['payload']]] as const) {
    const routes = joinRoutes([read, makeRoute(['POST'], { [name]: [hook('first'), hook('second')] }, notes), makeRoute(['DELETE'], { [name]: [hook('only')] }, notes), makeRoute(['PATCH'], {}, notes)])
    const [first, joined] = routes as readonly [MethodRoute, MethodRoute]
    t.strictSame([routes.length, first, joined.method], [2, read, ['POST', 'DELETE', 'PATCH']])
    for (const [method, expected] of [['POST', ['first', 'second', 'handler of POST']], ['DELETE', ['only', 'handler of DELETE']], ['PATCH', ['handler of PATCH']]] as const) {
      notes.length = 0
      const request = { method } as Parameters<MethodRoute['handler']>[0]
      let calls = 0
      for (const run of joined.hooks[name] ?? []) run(request, {}, ...others, () => { calls++ })
      joined.handler.call({} as ThisParameterType<MethodRoute['handler']>, request, {} as Parameters<MethodRoute['handler']>[1])
      t.strictSame([calls, notes], [2, expected], `${name} of ${method}`)
    }
  }
})

t.test('a single route is joined with no other', async (t) => {
  const routes = [makeRoute(['GET'], {}, []), makeRoute(['POST'], {}, [])]
  t.equal(joinRoutes(routes), routes)
})
