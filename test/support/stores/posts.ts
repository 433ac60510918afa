import { join } from 'node:path'
import type { Store } from '../../../lib/index.js'
import { type SqliteDatabase, sqliteStore } from '../../../lib/sql/sqlite/index.js'
import { attributes, type OpenPosts } from '../many-rows.js'
import type { SqliteDriver } from './sqlite-drivers.js'

/** The options of a store of posts, whose titles are unique. */
export const POSTS = { attributes, unique: ['title'], migrate: true } as const

/** Returns a function that opens an empty store of posts, each in a file of its own in the folder. */
export function openSqlitePosts (driver: SqliteDriver, folder: string): OpenPosts {
  let files = 0
  return async (t) => {
    const path = join(folder, `${++files}.sqlite`)
    const connect = (): SqliteDatabase => {
      const opened = driver.open(path)
      t.teardown(() => opened.close())
      return opened
    }
    const store = sqliteStore({ ...POSTS, table: 'posts', database: connect(), connect })
    await store.prepare()
    return store as Store
  }
}
