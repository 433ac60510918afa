/** Whether a pattern stands for many paths: `/posts/:postId/comments`. */
export function hasParameters (pattern: string): boolean {
  return pattern.includes(':')
}

/**
 * The path of a file that pages refer to. It has no parameters, so that it is one file for all that a pattern stands
 * for: what follows the first of them is joined by dots. `/blog/posts` → `/blog/posts/<file>`,
 * `/posts/:postId/comments` → `/posts/comments.<file>`, `/:tenant/posts` → `/posts.<file>`.
 */
export function assetPath (pattern: string, file: string): string {
  const segments = pattern.split('/')
  const first = segments.findIndex(hasParameters)
  if (first === -1) return `${pattern}/${file}`
  const names = segments.slice(first).filter((segment) => !hasParameters(segment))
  return [...segments.slice(0, first), [...names, file].join('.')].join('/')
}
