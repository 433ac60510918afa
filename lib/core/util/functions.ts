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

/** Returns the same text in one piece: V8 would carry out a join or a cut again at each use. */
export function flatten (text: string): string {
  return Buffer.from(text).toString()
}

const DISPLAY_NAME: unique symbol = Symbol.for('fastify.display-name')

/**
 * Names a plugin for Fastify's errors and `app.pluginName`. For a plugin without a name, Fastify searches all loaded
 * modules, which takes a twentieth of a registration.
 */
export function nameScope<P extends object> (name: string, plugin: P): P {
  return Object.assign(plugin, { [DISPLAY_NAME]: name })
}
