import type { Format } from '../format.js'
import { compileFormReader } from './read.js'

/** `application/x-www-form-urlencoded`, as browsers send their forms; only read. */
export const form: Format = {
  name: 'form',
  mediaTypes: ['application/x-www-form-urlencoded'],
  compileReader: compileFormReader
}
