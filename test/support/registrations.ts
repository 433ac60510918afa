import fastify from 'fastify'
import type { Test } from 'tap'
import resources, { type ResourceOptions } from '../../lib/index.js'

/** Options that a caller without TypeScript may write. */
export type Mistaken = Record<string, unknown>

/** Checks what registering throws: `undefined` if it throws nothing. */
type Check = (t: Test, error: Error | undefined) => void

/**
 * Options that must be refused or accepted. `check` registers them in one app, each in a scope of its own, because
 * making
 * an app costs far more.
 */
export class Registrations {
  /** Begins the messages of all assertions that are added next. */
  label = ''
  readonly #declared: Array<[options: Mistaken, check: Check]> = []

  add (options: Mistaken, check: Check): void {
    this.#declared.push([options, check])
  }

  accepted (options: Mistaken, label = JSON.stringify(options)): void {
    this.add(options, (t, error) => { t.equal(error, undefined, label) })
  }

  refused (options: Mistaken, code: string, ...says: ReadonlyArray<string | RegExp>): void {
    const label = this.label +
      JSON.stringify(
        options,
        (_key, value: unknown) => typeof value === 'function'
          ? 'a function'
          : typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
      )
    this.add(options, (t, error) => {
      if (error === undefined) {
        t.fail(`${label} is accepted`)
        return
      }
      t.type(error, TypeError)
      t.equal((error as { code?: string }).code, code, label)
      for (const part of says) t.match(error.message, part, label)
    })
  }

  async check (t: Test): Promise<void> {
    const app = fastify()
    t.teardown(() => app.close())
    const errors: Array<Error | undefined> = []
    for (const [index, [options]] of this.#declared.entries()) {
      app.register(async (scope) => {
        scope.register(resources, options as unknown as ResourceOptions).after((error) => {
          errors[index] = error ?? undefined
        })
      }, { prefix: `/${index}` })
    }
    await app.ready()
    for (const [index, [, check]] of this.#declared.entries()) check(t, errors[index])
  }
}

/** Registers options that must be refused. */
