/** Keeps values by their keys. Once there are too many, it begins anew, because clients may choose the keys. */
export class Cache<K, V> {
  readonly #known = new Map<K, V>()
  readonly #most: number

  constructor (most: number = Infinity) {
    this.#most = most
  }

  /** Returns the value of a key, which `make` makes if it is not known. */
  get (key: K, make: () => V): V {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = make()
    if (this.#known.size >= this.#most) this.#known.clear()
    this.#known.set(key, made)
    return made
  }
}
