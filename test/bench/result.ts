/** A measured figure. */
export interface Result {
  readonly name: string
  readonly value: number
  /** `x` is the speed relative to what the figure is compared with. */
  readonly unit: 'x' | 'µs' | 'ms' | 's' | 'MiB' | 'B' | 'GB/s' | '%'
  readonly target?: Target | undefined
  /** Undefined if there is no target. */
  readonly met?: boolean | undefined
  /** The figures behind this one, for information. */
  readonly details?: Readonly<Record<string, number>>
}

export interface Target {
  readonly least?: number
  readonly most?: number
}

export function makeResult (name: string, value: number, unit: Result['unit'], target?: Target, details?: Result['details']): Result {
  return { name, value, unit, target, met: target === undefined ? undefined : isMet(value, target), ...(details !== undefined && { details }) }
}

function isMet (value: number, { least = -Infinity, most = Infinity }: Target): boolean {
  return value >= least && value <= most
}

export function median (figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const upper = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[upper] as number : ((sorted[upper - 1] as number) + (sorted[upper] as number)) / 2
}

export function renderTable (results: readonly Result[]): string {
  return results.map(renderLine).join('\n')
}

function renderLine ({ name, value, unit, target, met, details = {} }: Result): string {
  const wanted = target === undefined ? '' : `${target.least === undefined ? '' : `≥ ${target.least}`}${target.most === undefined ? '' : `≤ ${target.most}`}`
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED'
  const more = Object.entries(details).map(([detail, figure]) => `${detail} ${round(figure)}`).join(', ')
  return `${name.padEnd(46)} ${`${round(value)} ${unit}`.padStart(12)}  ${wanted.padEnd(8)} ${verdict.padEnd(7)} ${more}`.trimEnd()
}

function round (figure: number): string {
  return Math.abs(figure) >= 100 ? Math.round(figure).toString() : figure.toFixed(Math.abs(figure) >= 10 ? 1 : 3)
}
