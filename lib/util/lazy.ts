/** What is made when it is first needed, and kept. */
export function lazy<T> (make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
