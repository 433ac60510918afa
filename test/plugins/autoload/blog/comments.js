import { draw } from '../../../../dist/index.js'

export default draw((map) => map.resources('comments', { attributes: { type: 'object', properties: { body: { type: 'string' } } } }))
