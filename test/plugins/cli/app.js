import resources from '../../../dist/index.js'

export default async function blog (app, options) {
  app.register(resources, { name: 'posts', attributes: { type: 'object', required: ['title'], properties: { title: { type: 'string' } } } })
}
