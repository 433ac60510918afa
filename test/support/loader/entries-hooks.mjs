import { readFileSync } from 'node:fs'
import ts from 'typescript'

const dist = new URL('../../../dist/', import.meta.url).href

/** Makes each function of the package call `globalThis.enter` with the name of its file, whenever it is called. */
export function load (url, context, next) {
  if (!url.startsWith(dist)) return next(url, context)
  const file = url.slice(dist.length).replace(/\.js$/, '')
  return { format: 'module', source: instrument(file, readFileSync(new URL(url), 'utf8')), shortCircuit: true }
}

function instrument (file, text) {
  const call = `globalThis.enter?.(${JSON.stringify(file)})`
  const insertions = []
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      if (ts.isBlock(node.body)) insertions.push([node.body.getStart() + 1, ` ${call};`])
      else insertions.push([node.body.getStart(), `(${call}, `], [node.body.getEnd(), ')'])
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  // From the end, so that the positions before stay the same.
  insertions.sort(([a], [b]) => b - a)
  return insertions.reduce((text, [position, inserted]) => text.slice(0, position) + inserted + text.slice(position), text)
}
