// The entry `fastify-resources/xsd`: the XML Schema of resources.
export { xmlSchema, type XmlSchemaOptions } from './routes.js'
