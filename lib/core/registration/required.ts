import { database } from '../../database/database.js'
import { defineResource, draw, resources } from '../plugin.js'
import * as publicValues from './public-values.js'
import { home } from '../../home/home.js'

/**
 * The value that `require()` returns: the plugin itself, with all other exports as its members (Node.js, "Loading
 * ECMAScript modules using require()").
 */
export const required: typeof resources &
  typeof publicValues & {
    readonly resources: typeof resources
    readonly draw: typeof draw
    readonly defineResource: typeof defineResource
    readonly database: typeof database
    readonly home: typeof home
  } = Object.assign(resources, publicValues, { resources, draw, defineResource, database, home })
