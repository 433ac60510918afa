/** A value, or a promise of it: what a store and a function of the app may return. */
export type MaybePromise<T> = T | PromiseLike<T>

/**
 * Returns a promise whose rejection may stay unheard: a function of the app can keep it for later, or forget it, and an
 * unhandled rejection would end the process.
 */
export function mayBeForgotten<T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

export function isPromise<T> (value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function'
}
