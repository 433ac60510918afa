import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import {
  jsonSchemaTransform, serializerCompiler, validatorCompiler, type ZodTypeProvider
} from 'fastify-type-provider-zod'
import t from 'tap'
import { Type } from 'typebox'
import { z } from 'zod'
import { build, isServed, ORDERS } from './helper.js'

function addZodRoute (app: FastifyInstance): void {
  app.withTypeProvider<ZodTypeProvider>().post('/zod', {
    schema: {
      body: z.object({ name: z.string().trim().min(2), born: z.coerce.number().int() }),
      response: { 200: z.object({ name: z.string(), age: z.number() }) }
    }
  }, async ({ body }) => ({ name: body.name.toUpperCase(), age: 2000 - body.born, secret: 'kept' }))
}

function addTypeBoxRoute (app: FastifyInstance): void {
  app.register(async (scope) => {
    scope.setValidatorCompiler(TypeBoxValidatorCompiler)
    scope.setSerializerCompiler(() => JSON.stringify)
    scope.withTypeProvider<TypeBoxTypeProvider>().post('/typebox', {
      schema: { body: Type.Object({ name: Type.String({ minLength: 2 }) }) }
    }, async ({ body }) => ({ name: body.name.toUpperCase() }))
  })
}

for (const order of ORDERS) {
  t.test(`with the compilers of Zod on the whole app, registered ${order} the resources`, async (t) => {
    const app = await build(t, order, (app) => {
      app.setValidatorCompiler(validatorCompiler)
      app.setSerializerCompiler(serializerCompiler)
      addZodRoute(app)
      addTypeBoxRoute(app)
    })

    await t.test('all requests are served', async (t) => {
      await isServed(t, app)
    })

    await t.test('the routes of the app are validated and serialized by its provider', async (t) => {
      const zod = await app.inject({ method: 'POST', url: '/zod', payload: { name: ' ada ', born: '1985' } })
      t.strictSame([zod.statusCode, zod.body], [200, '{"name":"ADA","age":15}'])
      t.equal((await app.inject({ method: 'POST', url: '/zod', payload: { name: ' a ', born: 1985 } })).statusCode, 400)
      const typebox = await app.inject({ method: 'POST', url: '/typebox', payload: { name: 'ada' } })
      t.strictSame([typebox.statusCode, typebox.body], [200, '{"name":"ADA"}'])
      t.equal((await app.inject({ method: 'POST', url: '/typebox', payload: { name: 'a' } })).statusCode, 400)
    })
  })

  t.test(`a TypeBox schema describes the attributes, with a provider that is registered ${order} the resources`, async (
    t
  ) => {
    const app = await build(t, order, (app) => {
      app.withTypeProvider<TypeBoxTypeProvider>().setValidatorCompiler(TypeBoxValidatorCompiler)
    }, { options: { attributes: Type.Object({ title: Type.String({ minLength: 1, maxLength: 80 }) }) } })
    await isServed(t, app)
  })

  t.test(`with the compilers of Zod, registered ${order} the resources`, async (t) => {
    await t.test('a Zod schema describes the attributes after its conversion to JSON Schema', async (t) => {
      const app = await build(t, order, (app) => {
        app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
      }, {
        options: {
          attributes: z.toJSONSchema(z.object({ title: z.string().min(1).max(80) }), {
            target: 'draft-7', io: 'input'
          }) as unknown as {
            type: 'object', properties: object
          }
        }
      })
      await isServed(t, app)
    })
  })
}

t.test('if Zod\'s transform describes the app, our routes are described as well', async (t) => {
  const app = await build(t, 'before', async (app) => {
    app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
    await app.register(swagger, {
      openapi: { info: { title: 'Posts', version: '1.0.0' } }, transform: jsonSchemaTransform
    })
    addZodRoute(app)
  })
  const {
    paths = {}
  } = app.swagger() as { paths?: Record<string, Record<string, { operationId?: string, requestBody?: unknown }>> }
  t.match(paths['/zod']?.post?.requestBody, {
    content: { 'application/json': { schema: { properties: { name: { type: 'string', minLength: 2 } } } } }
  })
  t.match([paths['/posts']?.post?.operationId, paths['/posts/{id}']?.get?.operationId], ['createPost', 'showPost'])
  await isServed(t, app)
})
