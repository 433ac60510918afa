import type { ResolvedHtmlOptions } from './options.js'
import type { Brand } from './style/brand.js'

/**
 * The default Content-Security-Policy (CSP Level 3). It allows stylesheets and forms of the same origin only. Scripts,
 * images and frames are blocked.
 */
const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'style-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'"
}

/**
 * Makes the headers of every page. The referrer policy is `same-origin`: with `no-referrer`, browsers would send forms
 * with `Origin: null`.
 */
export function makeSecurityHeaders (
  { contentSecurityPolicy, brand }: Pick<ResolvedHtmlOptions, 'contentSecurityPolicy' | 'brand'>
): Readonly<Record<string, string>> {
  return {
    ...(contentSecurityPolicy !== undefined && {
      'content-security-policy': writePolicy({ ...POLICY, ...sourcesOf(brand), ...contentSecurityPolicy })
    }),
    'referrer-policy': 'same-origin'
  }
}

function writePolicy (directives: Readonly<Record<string, string>>): string {
  return Object.entries(directives).map(([name, value]) => `${name} ${value}`.trim()).join('; ')
}

/** Returns the sources of a Content-Security-Policy that the files of a brand come from. */
function sourcesOf ({ logo, stylesheet }: Brand): Readonly<Record<string, string>> {
  return {
    ...(stylesheet !== undefined && {
      'style-src': [...new Set(["'self'", sourceOf(stylesheet)])].join(' '),
      'font-src': sourceOf(stylesheet)
    }),
    ...(logo !== undefined && { 'img-src': sourceOf(logo) })
  }
}

function sourceOf (url: string): string {
  return url.startsWith('/') ? "'self'" : new URL(url).origin
}
