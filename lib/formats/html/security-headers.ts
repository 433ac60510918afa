import type { PageOptions } from './options.js'

/** Nothing but what these pages need (CSP Level 3): no script, no frame, no image, no form that leaves the site. */
const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'style-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'"
}

/**
 * Makes the headers of every page. The referrer policy is `same-origin`, because with `no-referrer` browsers would send
 * their forms with the Origin `null`.
 */
export function makeSecurityHeaders ({ contentSecurityPolicy }: PageOptions): Readonly<Record<string, string>> {
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
