import type { Wings } from './core/wings.js'

/** Loads each part of the package that the core does not know when a resource needs it. */
export const WINGS: Wings = {
  async loadHtml () {
    const { html } = await import('./html/html.js')
    return html()
  },
  async loadOpenapi () {
    const { describeRoutes } = await import('./openapi/describe-routes.js')
    return describeRoutes
  },
  async loadXsd () {
    const { serveXmlSchema } = await import('./xsd/routes.js')
    return serveXmlSchema
  }
}
