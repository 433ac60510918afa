import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import { UnknownOptionError } from '../core/errors.js'
import { NO_INHERITED_OPTIONS } from '../core/options/declaration.js'
import type { FormatOptions, ResourceOptions } from '../core/options/options.js'
import { findCure } from '../core/options/resolve/options.js'
import { REGISTER_OPTIONS } from '../core/options/resolve/routing.js'
import { registerDeclarations } from '../core/plugin.js'
import type { HELPERS, NamedHelpers } from '../core/routes/path-helpers.js'
import type { Stores } from '../core/stores/store.js'
import { didYouMean } from '../core/util/words.js'
import type { Wings } from '../core/wings.js'
import { drawOn, MapBuilder } from './map-builder.js'
import type { Mapper, NamesIn } from './mapper.js'

/** A plugin that `draw` returns. The compiler knows the names of its paths if the map is declared by a chain. */
export interface MapPlugin<N = NamedHelpers> extends FastifyPluginAsync<RegisterOptions> {
  readonly [HELPERS]?: N
}

/** The options of `draw`, which all resources of the map inherit. */
export interface DrawOptions extends Pick<ResourceOptions, 'ajv' | 'formats'>, FormatOptions {
  /** The database in which each resource without a `store` of its own has a table. @default none */
  readonly stores?: Stores
}

/** Returns a Fastify plugin that registers the resources of a map. */
export type Draw = <R>(declare: (map: Mapper) => R, options?: DrawOptions) => MapPlugin<NamesIn<R>>

/**
 * Makes the function `draw`.
 * @param wings what loads the parts of the package that the core does not know
 *
 * @example
 * app.register(draw((map) => map
 *   .resources('posts', { store }, (posts) => posts.resources('comments'))))
 */
export function makeDraw (wings: Wings): Draw {
  return <R>(declare: (map: Mapper) => R, options: DrawOptions = {}): MapPlugin<NamesIn<R>> => {
    const own = (options.formats ?? []).flatMap((format) => typeof format === 'object' ? [format.name] : [])
    checkMapOptions(options, ['stores', 'ajv', 'formats', 'html', 'csv', ...own], 'draw')
    return fp(async (app: FastifyInstance, registered: RegisterOptions) => {
      checkMapOptions(registered, REGISTER_OPTIONS, 'the registration of a map')
      const map = new MapBuilder({ ...NO_INHERITED_OPTIONS, shared: options })
      drawOn('draw', declare, map)
      map.end()
      const { prefix = '', ...log } = registered
      await registerDeclarations(app, map.declarations, { wings, prefix, owner: 'a map', log })
    }, { fastify: '5.x', name: 'fastify-resources' })
  }
}

/**
 * Checks that there are no other options. They would be ignored silently, even one that was meant as a guard.
 * @throws UnknownOptionError
 */
function checkMapOptions (options: object, known: readonly string[], owner: string): void {
  const other = Object.keys(options).find((name) => !known.includes(name))
  if (other === undefined) return
  const moved = '; options of resources belong in map.resources or map.scope'
  const cure = findCure(other) ?? (didYouMean(other, known) || moved)
  throw new UnknownOptionError(other, cure, ` of ${owner}`)
}
