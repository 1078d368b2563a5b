/** Owns proposing numbers for a schema: small and round ones first. */
import type { JsonObject } from '../../../json/json-object.ts'
import { numberOf } from './keywords.ts'
import { stepOf } from './satisfies-scalar.ts'

interface Bounds {
  low: number
  high: number
}

/** Proposals near the bounds; the caller checks them. */
export function* writeNumbers(parts: JsonObject[], isInteger: boolean, variety: number): Generator<number> {
  const bounds = boundsOf(parts)
  const steps = parts.map(stepOf).filter(step => step !== undefined)
  if (isInteger || steps.length > 0)
    yield* writeMultiples(bounds, commonMultiple(isInteger ? [...steps, 1] : steps), variety)
  else yield* writeFractions(bounds, variety)
}

function boundsOf(parts: JsonObject[]): Bounds {
  const read = (keywords: string[]) =>
    parts.flatMap(part => keywords.map(keyword => numberOf(part, keyword)).filter(bound => bound !== undefined))
  return {
    low: read(['minimum', 'exclusiveMinimum']).reduce((one, other) => Math.max(one, other), -Infinity),
    high: read(['maximum', 'exclusiveMaximum']).reduce((one, other) => Math.min(one, other), Infinity),
  }
}

/** Upwards from the first multiple that is at least one step and the lower bound, then downwards from there. */
function* writeMultiples({ low, high }: Bounds, step: number, variety: number): Generator<number> {
  const first = Math.max(Math.ceil(low / step), Math.min(1, Math.floor(high / step)))
  if (!Number.isFinite(first)) return
  for (let count = 0; count <= variety; count++) yield multiply(first + count, step)
  for (let count = 1; count <= variety; count++) yield multiply(first - count, step)
}

/** Without the noise of binary fractions: three times 0.1 is 0.3. */
const multiply = (count: number, step: number) =>
  Number.isInteger(step) ? count * step : Number((count * step).toPrecision(15))

function* writeFractions({ low, high }: Bounds, variety: number): Generator<number> {
  for (const plain of [1.5, 1, 0.5, 0]) if (plain > low && plain < high) yield plain
  for (const bound of [low, high]) if (Number.isFinite(bound)) yield bound
  const span = high - low
  for (let count = 1; count <= variety; count++) {
    if (Number.isFinite(span)) yield low + (span * count) / (variety + 1)
    else if (Number.isFinite(low)) yield low + count * Math.max(1, Math.abs(low) * 1e-6)
    else if (Number.isFinite(high)) yield high - count * Math.max(1, Math.abs(high) * 1e-6)
    else yield count + 1.5
  }
}

/** The smallest number that all steps divide; a step of their own where they have none in reach. */
function commonMultiple(steps: number[]): number {
  const decimals = Math.max(0, ...steps.map(countDecimals))
  const scale = 10 ** decimals
  const common = steps.map(step => Math.round(step * scale)).reduce((one, other) => (one / divisor(one, other)) * other)
  return Number.isFinite(common / scale) && common > 0 ? common / scale : Math.max(...steps)
}

const divisor = (one: number, other: number): number => (other > 0 ? divisor(other, one % other) : one)

function countDecimals(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e')
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent))
}
