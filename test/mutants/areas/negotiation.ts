import type { Mutant } from '../load.js'

export const tests = ['test/http/request/negotiation.test.ts', 'test/http/request/browsers.test.ts']

const negotiate = 'lib/core/request/negotiate.ts'
const crossSite = 'lib/core/request/cross-site.ts'
const accept = 'lib/core/request/accept.ts'
const contentType = 'lib/core/request/content-type.ts'

export const mutants: readonly Mutant[] = [
  { file: negotiate, find: "if (typeof query[name] !== 'string') throw", replace: 'if (false) throw', why: 'a parameter may be given twice' },
  { file: negotiate, find: 'if (!known.includes(name)) {', replace: 'if (false) {', why: 'unknown parameters are ignored' },
  { file: negotiate, find: 'safe ? undefined : findCrossSite(request, trustedOrigins)', replace: 'undefined', why: 'other sites may write' },
  { file: crossSite, find: 'origin !== undefined && trusted.has(origin)', replace: 'origin !== undefined && trusted.size > 0', why: 'one trusted origin makes all of them trusted' },
  { file: crossSite, find: "site === 'same-origin' || site === 'none'", replace: "site === 'same-origin' || site === 'same-site' || site === 'none'", why: 'other origins of the site may write' },
  { file: crossSite, find: "site === 'same-origin' || site === 'none'", replace: "site === 'same-origin'", why: 'what a user does by hand is refused' },
  { file: crossSite, find: 'origin === undefined || isOwn(origin, request.host)', replace: 'true', why: 'without Sec-Fetch-Site any origin may write' },
  { file: crossSite, find: '.exec(origin.toLowerCase())', replace: '.exec(origin)', why: 'hosts differ by their case' },
  { file: crossSite, find: "scheme === 'http' ? /:80$/ : /:443$/", replace: '/:443$/', why: 'the port 80 of http is not implied' },
  { file: crossSite, find: "['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])", replace: "['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY', 'PATCH'])", why: 'other sites may PATCH' },
  { file: negotiate, find: "if (decided === undefined) addVary(reply, 'Accept')", replace: '', why: 'caches do not learn that Accept decides' },
  { file: negotiate, find: '(?:\\*|accept)', replace: '(?:accept)', why: 'Vary: * is lengthened' },
  { file: negotiate, find: "(choice !== undefined && typeof format !== 'string')", replace: '(choice !== undefined)', why: 'an unknown format falls back to Accept' },
  { file: negotiate, find: 'const dot = id.lastIndexOf', replace: 'const dot = id.indexOf', why: 'a suffix begins at the first dot' },
  { file: negotiate, find: 'dot < 1 ?', replace: 'dot < 0 ?', why: 'an id that is only a suffix is empty' },
  { file: negotiate, find: 'path.endsWith(id.slice(dot)) ? choice : undefined', replace: 'choice', why: 'an escaped dot begins a suffix' },
  { file: negotiate, find: "if (endsWithId && state.member === '') throw", replace: 'if (false) throw', why: 'a path may end with a slash' },
  { file: negotiate, find: 'if (!state.isAcceptable) throw', replace: 'if (false) throw', why: 'nothing is not acceptable' },
  { file: negotiate, find: "coding === 'identity' && isRead && UTF_8.includes(charset)", replace: "coding === 'identity' && isRead", why: 'a body may be in any charset' },
  { file: negotiate, find: "if (coding !== 'identity') {", replace: 'if (false) {', why: 'a refused coding is reported as a media type' },
  { file: negotiate, find: 'given.toLowerCase()', replace: 'given', why: 'codings differ by their case' },
  { file: negotiate, find: 'isRead ? undefined : body?.answer', replace: 'body?.answer', why: 'the type of the body of a GET decides the answer' },
  { file: negotiate, find: 'if (body === undefined || best?.format === body) return best', replace: 'return best', why: 'an answer is not in the format of the body' },
  { file: accept, find: 'b.q - a.q ||', replace: '', why: 'weights do not count' },
  { file: accept, find: 'b.specificity - a.specificity ||', replace: '', why: 'a wildcard is as good as a name' },
  { file: accept, find: '.filter(({ q }) => q > 0)', replace: '', why: 'q=0 does not exclude' },
  { file: accept, find: 'fits && specificity > found.specificity', replace: 'fits && q > found.q', why: 'a general range overrides a special one' },
  { file: accept, find: 'if (ranges.length === 0) return undefined', replace: '', why: 'a malformed Accept accepts nothing' },
  { file: accept, find: "if (type === undefined || type === '*') return undefined", replace: 'if (type === undefined) return undefined', why: '*/html is a range' },
  { file: accept, find: "name.trim().toLowerCase() !== 'q'", replace: "name.trim() !== 'q'", why: 'Q is no weight' },
  { file: accept, find: 'Math.min(Number(value), 1)', replace: 'Number(value)', why: 'a weight may be above one' },
  { file: accept, find: 'parseRange(type.trim().toLowerCase())', replace: 'parseRange(type.trim())', why: 'media ranges differ by their case' },
  { file: contentType, find: "(name === 'charset' && charset !== undefined)", replace: 'false', why: 'a charset may be given twice' },
  { file: contentType, find: 'charset = token ?? quoted', replace: 'charset = token', why: 'a charset in quotes is none' },
  { file: contentType, find: 'header.toLowerCase()', replace: 'header', why: 'media types differ by their case' }
]
