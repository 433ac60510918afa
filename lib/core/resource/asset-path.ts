function hasParameters (pattern: string): boolean {
  return pattern.includes(':')
}

/**
 * Returns the path of a file for pages, which has no parameters. Segments after the first parameter are joined by dots:
 * `/blog/posts` → `/blog/posts/<file>`, `/posts/:postId/comments` → `/posts/comments.<file>`.
 */
export function assetPath (pattern: string, file: string): string {
  const segments = pattern.split('/')
  const first = segments.findIndex(hasParameters)
  if (first === -1) return `${pattern}/${file}`
  const names = segments.slice(first).filter((segment) => !hasParameters(segment))
  return [...segments.slice(0, first), [...names, file].join('.')].join('/')
}
