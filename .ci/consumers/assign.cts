// A CommonJS program that uses the return value of require() directly.
import fastify = require('fastify')
import resources = require('fastify-resources')

const app = fastify.fastify()
app.register(resources, { name: 'users', store: resources.memoryStore() })
app.inject('/users.json').then(({ statusCode }) => { process.exitCode = statusCode === 200 ? 0 : 1 }, (error: unknown) => { throw error })
