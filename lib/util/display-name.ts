const DISPLAY_NAME: unique symbol = Symbol.for('fastify.display-name')

/**
 * Names a plugin for Fastify's errors and `app.pluginName`. For a plugin without a name, Fastify searches all loaded
 * modules, which takes a twentieth of a registration.
 */
export function nameScope<P extends object> (name: string, plugin: P): P {
  return Object.assign(plugin, { [DISPLAY_NAME]: name })
}
