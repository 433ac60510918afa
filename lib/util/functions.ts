/** Returns its argument. */
export function identity<T> (value: T): T {
  return value
}

/** Returns a function that makes a value on the first call, and returns it on each call. */
export function lazy<T> (make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
