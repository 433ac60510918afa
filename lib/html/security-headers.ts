import type { ResolvedHtmlOptions } from './options.js'
import type { Brand } from './style/brand.js'

/**
 * The default Content-Security-Policy (CSP Level 3). It allows stylesheets and forms of the same origin only. Scripts,
 * images and frames are blocked, except for the pictures of a resource with files.
 */
const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'style-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'"
}

const SELF = "'self'"

/**
 * Makes the headers of every page. The referrer policy is `same-origin`: with `no-referrer`, browsers would send forms
 * with `Origin: null`.
 */
export function makeSecurityHeaders (
  { contentSecurityPolicy, brand }: Pick<ResolvedHtmlOptions, 'contentSecurityPolicy' | 'brand'>,
  hasFiles: boolean
): Readonly<Record<string, string>> {
  return {
    ...(contentSecurityPolicy !== undefined && {
      'content-security-policy': writePolicy({ ...POLICY, ...sourcesOf(brand, hasFiles), ...contentSecurityPolicy })
    }),
    'referrer-policy': 'same-origin'
  }
}

function writePolicy (directives: Readonly<Record<string, string>>): string {
  return Object.entries(directives).map(([name, value]) => `${name} ${value}`.trim()).join('; ')
}

/** Returns the sources of a Content-Security-Policy that pictures and the files of a brand come from. */
function sourcesOf ({ logo, stylesheet }: Brand, hasFiles: boolean): Readonly<Record<string, string>> {
  const images = new Set([...hasFiles ? [SELF] : [], ...logo === undefined ? [] : [sourceOf(logo)]])
  return {
    ...(stylesheet !== undefined && {
      'style-src': [...new Set([SELF, sourceOf(stylesheet)])].join(' '),
      'font-src': sourceOf(stylesheet)
    }),
    ...(images.size > 0 && { 'img-src': [...images].join(' ') })
  }
}

function sourceOf (url: string): string {
  return url.startsWith('/') ? SELF : new URL(url).origin
}
