import type { Format } from '../format.js'
import { compilePages } from './pages.js'

/** Pages for browsers; written so that a parser of XHTML reads them too. What browsers send is read as a form. */
export const html: Format = {
  name: 'html',
  mediaTypes: ['text/html', 'application/xhtml+xml'],
  browser: true,
  compileWriter (resource) {
    const { list, ...pages } = compilePages(resource)
    return { ...pages, page: list }
  }
}
