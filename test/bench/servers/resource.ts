/**
 * Serves a resource in memory. The parameter is the folder of a checkout whose package is built. A comparison with
 * another commit takes this program from that commit, if it has it.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fastify from 'fastify'
import type * as Package from '../../../lib/index.js'
import { posts, schema } from '../posts.js'
import { serve } from './served.js'

const [, , folder = ''] = process.argv
const { default: resources, memoryStore } =
  await import(pathToFileURL(join(folder, 'dist/index.js')).href) as typeof Package
const app = fastify()
const store = memoryStore()
for (const post of posts) await store.create({ ...post }, {})
app.register(resources, { name: 'posts', attributes: schema, store })
await app.listen({ host: '127.0.0.1', port: 0 })
serve(app.server)
