import { assetPath } from '../../resource/asset-path.js'
import type { Format } from '../format.js'
import type { PageOptions } from './options.js'
import { Pages } from './pages/pages.js'
import { makeSecurityHeaders } from './security-headers.js'
import { makeStylesheet } from './style/stylesheet.js'

/** Pages for browsers; written so that a parser of XHTML reads them too. What browsers send is read as a form. */
export function makeHtmlFormat (options: PageOptions): Format {
  const stylesheet = makeStylesheet(options.accent)
  const { stem, hash, extension } = stylesheet
  return {
    name: 'html',
    mediaTypes: ['text/html', 'application/xhtml+xml'],
    browser: true,
    compileWriter (resource, context) {
      const path = assetPath(resource.path, `${stem}.${hash}.${extension}`)
      const pages = new Pages(resource, context, options, path)
      return {
        page: (rows, view) => pages.list(rows, view),
        frame: pages.frame,
        record: (row, view) => pages.record(row, view),
        stale: (current, view) => pages.stale(current, view),
        revised: (view) => pages.revised(view),
        blank: (view) => pages.blank(view),
        edit: (row, view) => pages.edit(row, view),
        problem: (problem, view) => pages.problem(problem, view),
        headers: makeSecurityHeaders(options),
        assets: [stylesheet],
        volatile: Object.keys(options.views).length > 0
      }
    }
  }
}
