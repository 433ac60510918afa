/** A value, or a promise of it: what a store and a function of the app may return. */
export type MaybePromise<T> = T | PromiseLike<T>

export function isPromise<T> (value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function'
}
