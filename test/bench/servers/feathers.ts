/** The same records as a service of Feathers, in its own format: JSON without a group around it. */
import { once } from 'node:events'
import { BadRequest, NotFound } from '@feathersjs/errors'
import { feathers, type Application, type Id, type Params } from '@feathersjs/feathers'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import { Ajv } from 'ajv'
import { type Post, posts, schema } from '../posts.js'
import { serve } from './served.js'

interface Known extends Post {
  readonly id: number
}

const ajv = new Ajv({ useDefaults: true })
const isPost = ajv.compile<Post>(schema)
const isChange = ajv.compile<Partial<Post>>({ type: 'object', properties: schema.properties })
// A Map, as the other contenders have. The adapters of Feathers copy more.
const rows = new Map<number, Known>(posts.map((post, index) => [index + 1, { id: index + 1, ...post }]))
let lastId = rows.size

function find (id: Id): Known {
  const row = rows.get(Number(id))
  if (row === undefined) throw new NotFound()
  return row
}

function keep (row: Known): Known {
  rows.set(row.id, row)
  return row
}

const service = {
  find: async ({ query = {} }: Params) =>
    [...rows.values()].slice(0, query.$limit === undefined ? Infinity : Number(query.$limit)),
  get: async (id: Id) => find(id),
  async create (post: unknown) {
    if (!isPost(post)) throw new BadRequest(ajv.errorsText(isPost.errors))
    return keep({ id: ++lastId, ...post })
  },
  async patch (id: Id, changes: unknown) {
    if (!isChange(changes)) throw new BadRequest(ajv.errorsText(isChange.errors))
    return keep({ ...find(id), ...changes })
  }
}

const app = koa(feathers())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
// The types of this version do not know an application of Koa as one of Feathers.
;(app as unknown as Application).use('posts', service)
const server = await app.listen(0, '127.0.0.1')
if (!server.listening) await once(server, 'listening')
serve(server)
