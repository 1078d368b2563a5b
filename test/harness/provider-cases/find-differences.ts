/** Compares the outcome of a row with the expected one. Returns one line for each difference. */
import type { Outcome } from '../outcomes/outcome.ts'
import type { Expected } from './case.ts'
import { isKept } from './is-kept.ts'
import type { CaseOutcome } from './send-rows.ts'

/** In US dollars, with the precision of request records. */
const PRECISION = 1e-9
const COMPARED = ['text', 'reasoning', 'calls', 'end'] as const
const COUNTED = ['p', 'cp', 'c'] as const

export function findDifferences(first: CaseOutcome, second: CaseOutcome, expected: Expected): string[] {
  if (expected.noFail && first.end === 'error') return first.problems
  const differences = [
    ...first.problems,
    ...compareOutcome(first, expected),
    ...compareRecord(first, expected),
    ...compareReplay(first, second, expected),
    ...(expected.keeps ?? []).filter(text => !isKept(first, text)).map(text => `lost: ${text}`),
  ]
  return [...new Set(differences)]
}

function compareOutcome(first: Outcome, expected: Expected): string[] {
  return COMPARED.flatMap(name => {
    if (name === 'end' && expected.end === 'any') return []
    return compare(name, first[name], expected[name])
  })
}

function compareRecord({ record }: CaseOutcome, expected: Expected): string[] {
  if (!record) return ['nothing was recorded']
  const { cost = record.cost, minCost = 0, maxCost = Number.POSITIVE_INFINITY } = expected
  const differences = COUNTED.flatMap(name => compare(name, record[name], expected[name]))
  if (Math.abs(record.cost - cost) > PRECISION) differences.push(`cost: ${record.cost}, not ${cost}`)
  if (record.cost < minCost - PRECISION / 10) differences.push(`cost: ${record.cost}, less than ${minCost}`)
  if (record.cost > maxCost) differences.push(`cost: ${record.cost}, more than ${maxCost}`)
  return differences
}

/** A cache hit must equal the stored response. */
function compareReplay(first: CaseOutcome, second: CaseOutcome, { store }: Expected): string[] {
  const isHit = second.cache === 'HIT'
  if (!isHit) return store === true ? ['not stored'] : []
  if (store === false) return ['stored']
  const names = ['text', 'calls', 'end'] as const
  return [...second.problems, ...names.flatMap(name => compare(`replayed ${name}`, second[name], first[name]))]
}

function compare(name: string, found: unknown, expected: unknown): string[] {
  if (expected === undefined || JSON.stringify(found) === JSON.stringify(expected)) return []
  return [`${name}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`]
}
