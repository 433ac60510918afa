import type { RouteHandlerMethod } from 'fastify'
import type { CompiledResource } from './compiled-resource.js'
import type { Format } from './formats/format.js'
import type { Route, RoutePath } from './routes/route.js'

/** The parts of the package that the core does not know. The main entry hands over what loads them. */
export interface Wings {
  /** Loads the format of pages, which `'html'` stands for. */
  readonly loadHtml: () => Promise<Format>
  /** Loads the description of routes, if the app has @fastify/swagger. */
  readonly loadOpenapi: () => Promise<DescribeRoutes>
  /** Loads the XML Schema, if a resource has the option `xsd`. */
  readonly loadXsd: () => Promise<ServeXmlSchema>
}

/** Returns the descriptions of the routes of a resource. */
export type DescribeRoutes = (compiled: CompiledResource, described: DescribedPaths) => RouteDescriptions

/** What an OpenAPI document says of the paths of a resource. */
export interface DescribedPaths {
  /** The prefix of the paths. */
  readonly prefix: string
  /** The names of its paths. */
  readonly names: { readonly collection: string, readonly member: string }
}

/** The functions that @fastify/swagger calls for a route, as its `config.swaggerTransform`. */
export interface RouteDescriptions {
  readonly route: (path: RoutePath, route: Route, isSuffixed: boolean) => object
  /** The function for a route without a description. */
  readonly hidden: object
}

/** Returns the handler that serves the XML Schema of a resource. */
export type ServeXmlSchema = (compiled: CompiledResource) => RouteHandlerMethod
