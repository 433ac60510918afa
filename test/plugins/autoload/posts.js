import resources from '../../../dist/index.js'

export default async function posts (app) {
  await app.register(resources, { name: 'posts', attributes: { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1, maxLength: 80 } } } })
}
