/**
 * The same records as a service of Feathers 5, in its own format: JSON without a group around it and without the
 * version.
 */
import { BadRequest, NotFound } from '@feathersjs/errors'
import { feathers, type Application, type Id, type Params } from '@feathersjs/feathers'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import { Ajv } from 'ajv'
import type { Server } from 'node:http'
import { type Post, schema } from '../posts.js'

interface Known extends Post {
  readonly id: number
}

const ajv = new Ajv({ useDefaults: true })
const isPost = ajv.compile<Post>(schema)
const isChange = ajv.compile<Partial<Post>>({ type: 'object', properties: schema.properties })

/** Uses a Map like the other contenders. The adapters of Feathers copy more. */
function makeService (posts: readonly Post[]): object {
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

  return {
    find: async ({ query = {} }: Params) => [...rows.values()].slice(0, query.$limit === undefined ? Infinity : Number(query.$limit)),
    get: async (id: Id) => find(id),
    async create (post: unknown) {
      if (!isPost(post)) throw new BadRequest(ajv.errorsText(isPost.errors))
      return keep({ id: ++lastId, ...post })
    },
    async patch (id: Id, changes: unknown) {
      if (!isChange(changes)) throw new BadRequest(ajv.errorsText(isChange.errors))
      return keep({ ...find(id), ...changes })
    },
    async remove (id: Id) {
      if (!rows.delete(Number(id))) throw new NotFound()
      return null
    }
  }
}

export function serveFeathers (posts: readonly Post[], host: string): Promise<Server> {
  const app = koa(feathers())
  app.use(errorHandler())
  app.use(bodyParser())
  app.configure(rest())
  ;(app as unknown as Application).use('posts', makeService(posts))
  return app.listen(0, host)
}
