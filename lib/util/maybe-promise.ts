/**
 * Goes on at once where the value is there, without the cost of a promise. What `next` needs besides may be handed on,
 * without the cost of a closure: the two that each request would need are a tenth of what it costs.
 */
export function andThen<T, R> (value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R>
export function andThen<T, R, A> (
  value: MaybePromise<T>,
  next: (value: T, a: A) => MaybePromise<R>,
  a: A
): MaybePromise<R>
export function andThen<T, R, A, B> (
  value: MaybePromise<T>,
  next: (value: T, a: A, b: B) => MaybePromise<R>,
  a: A,
  b: B
): MaybePromise<R>
export function andThen<T, R, A, B> (
  value: MaybePromise<T>,
  next: (value: T, a?: A, b?: B) => MaybePromise<R>,
  a?: A,
  b?: B
): MaybePromise<R> {
  // By a promise of our own: what is called from foreign code would throw into it.
  return isPromise(value) ? Promise.resolve(value).then((value) => next(value, a, b)) : next(value, a, b)
}

export function isPromise<T> (value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function'
}

/** Hands what is thrown, at once or by a rejection, to `rescue`, which answers in its place or throws itself. */
export function catchError<T> (make: () => MaybePromise<T>, rescue: (error: unknown) => T): MaybePromise<T> {
  try {
    const value = make()
    // By a promise of our own: `then` of a reply, which is none, gives nothing.
    return isPromise(value) ? Promise.resolve(value).then((value) => value, rescue) : value
  } catch (error) {
    return rescue(error)
  }
}

/** Takes one step after the other, at once as long as they are. */
export function forEachInOrder<T> (
  items: readonly T[],
  step: (item: T, index: number) => MaybePromise<void>,
  from = 0
): MaybePromise<void> {
  for (let index = from; index < items.length; index++) {
    const taken = step(items[index] as T, index)
    if (isPromise(taken)) return Promise.resolve(taken).then(() => forEachInOrder(items, step, index + 1))
  }
}

/** What is there at once or will be. */
export type MaybePromise<T> = T | PromiseLike<T>
