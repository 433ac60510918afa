/** Stands for `tap` in a bundle of tests: collects the tests of a file, which the runner runs for each mutant. */
const collected = globalThis.collectedTests = []

export default {
  test: (...parts) => { collected.push(parts) }
}
