import { assetPath } from '../../resource/asset-path.js'
import type { Format } from '../format.js'
import type { PageOptions } from './options.js'
import { Pages } from './pages/pages.js'
import { makeStylesheet } from './style/stylesheet.js'

/** Nothing but what these pages need (CSP Level 3): no script, no frame, no image, no form that leaves the site. */
const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'style-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'"
}

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
        headers: headersOf(options),
        assets: [stylesheet],
        volatile: Object.keys(options.views).length > 0
      }
    }
  }
}

/** `same-origin`, since `no-referrer` would have browsers send their forms with the Origin `null`. */
function headersOf ({ contentSecurityPolicy }: PageOptions): Readonly<Record<string, string>> {
  return {
    ...(contentSecurityPolicy !== undefined && {
      'content-security-policy': writePolicy({ ...POLICY, ...contentSecurityPolicy })
    }),
    'referrer-policy': 'same-origin'
  }
}

function writePolicy (directives: Readonly<Record<string, string>>): string {
  return Object.entries(directives).map(([name, value]) => `${name} ${value}`.trim()).join('; ')
}
