import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { SqlStore } from '../../sql/store.js'
import type { TablePlan } from '../../sql/tables/migration.js'
import { preparations, type StorePreparation } from '../../core/registration/stores.js'
import type { Store } from '../../core/stores/store.js'
import { isFunction } from '../../core/util/check-option.js'
import { findMember } from '../../core/util/own-property.js'
import { CommandError } from './settings.js'

/** What the tables of an app lack. */
export interface Difference {
  /** A script of SQL. What the app must do itself is a comment in it. */
  readonly script: string
  /** Whether all tables fit. */
  readonly fits: boolean
}

/**
 * Compares the tables of an app with what its resources need. The app is made ready, but no table changes.
 * @throws CommandError if the module exports no app
 */
export async function findDifference (module: string): Promise<Difference> {
  const stores = new Set<Store>()
  const plan = (message: unknown): void => {
    const preparation = message as StorePreparation
    preparation.isPlanned = true
    stores.add(preparation.store)
  }
  preparations.subscribe(plan)
  try {
    const app = await loadApp(module)
    try {
      await app.ready()
      const plans: TablePlan[] = []
      for (const store of stores) if (hasPlan(store)) plans.push(await store.plan())
      return { script: writeScript(plans), fits: plans.every(isEmpty) }
    } finally {
      await app.close()
    }
  } finally {
    preparations.unsubscribe(plan)
  }
}

/** Returns the app that a module exports: as `default` or `app`, directly, by a promise, or by a function. */
async function loadApp (path: string): Promise<FastifyInstance> {
  const file = resolve(path)
  if (!existsSync(file)) {
    throw new CommandError(`There is no file "${path}". Name the module that exports your app: diff app.js`)
  }
  const module: unknown = await import(pathToFileURL(file).href)
  const exported = findMember(module, 'default') ?? findMember(module, 'app')
  const app: unknown = await (isFunction<() => unknown>(exported) ? exported() : exported)
  if (typeof findMember(app, 'ready') === 'function') return app as FastifyInstance
  throw new CommandError(`"${path}" exports no Fastify app. Export it, or a function that makes it: export default app`)
}

function hasPlan (store: Store): store is Store & Pick<SqlStore, 'plan'> {
  return typeof findMember(store, 'plan') === 'function'
}

function isEmpty ({ statements, problems }: TablePlan): boolean {
  return statements.length === 0 && problems.length === 0
}

function writeScript (plans: readonly TablePlan[]): string {
  if (plans.length === 0) return '-- No resource of the app has a table.\n'
  return plans.map((plan) => [
    comment(isEmpty(plan) ? `The table "${plan.table}" fits.` : `The table "${plan.table}":`),
    ...plan.problems.map(comment),
    ...plan.statements.map((statement) => `${statement};\n`)
  ].join('')).join('')
}

function comment (text: string): string {
  return `-- ${text.replaceAll(/\s+/g, ' ')}\n`
}
