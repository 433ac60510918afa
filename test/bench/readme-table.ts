import type { Recorded } from './recorded.js'
import type { Result, Target } from './result.js'

const HEAD = '| | over HTTP | in-process | constant bytes | Express 5 | Feathers 5 | with libraries |\n|---|---|---|---|---|---|---|'
const LIBRARIES = ['xmlbuilder2', 'fast-xml-parser', 'ejs'] as const

/** Renders the recorded results for the README. */
export function renderReadmeTables ({ where, results }: Recorded): string {
  const find = (name: string): Result | undefined => results.find((result) => result.name === name)
  const works = results.filter(({ name, unit }) => name.endsWith(': hand') && unit === 'x').map(({ name }) => name.slice(0, -': hand'.length))
  const rows = works.map((work) => {
    const beside = (contender: string): string => renderFigure(find(`${work}: ${contender}`))
    const libraries = LIBRARIES.flatMap((name) => find(`${work}: ${name}`) === undefined ? [] : [`${name} ${beside(name)}`]).join(', ')
    return `| ${work} | ${renderAimed(find(`${work}: ours`))} | ${renderAimed(find(`${work}, in-process`))} | ${beside('limit')} | ${beside('express')} | ${beside('feathers')} | ${libraries} |`
  })
  const others = results.filter(({ name, target }) => target !== undefined && !works.some((work) => name === `${work}: ours` || name === `${work}, in-process`))
  const figures = others.map((result) => `| ${result.name.replace(/: ours$/, '')} | ${renderFigure(result)} | ${renderTarget(result.target as Target)} |`)
  return `${HEAD}\n${rows.join('\n')}\n\n| | measured | aim |\n|---|---|---|\n${figures.join('\n')}\n\nMeasured on ${where}.`
}

/** Renders a figure, and its target if it misses it. */
function renderAimed (result: Result | undefined): string {
  return result?.met === false ? `${renderFigure(result)} (${renderTarget(result.target as Target)})` : renderFigure(result)
}

function renderFigure (result: Result | undefined): string {
  if (result === undefined) return ''
  const { value, unit } = result
  const digits = Math.abs(value) >= 10 ? 0 : unit === 'ms' || unit === '%' ? 1 : 2
  const figure = value.toFixed(digits)
  return unit === 'x' ? figure : unit === 'µs' ? `${value < 0 ? '' : '+'}${figure} µs` : `${figure} ${unit}`
}

function renderTarget ({ least, most }: Target): string {
  return [least === undefined ? [] : `≥ ${least}`, most === undefined ? [] : `≤ ${most}`].flat().join(', ')
}
