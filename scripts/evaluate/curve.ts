/** The curve of same and different pairs served over thresholds, by policy, risk, set and class. */
import { bypassReason } from '../../src/cache/verify/bypass.ts'
import { gistOf } from '../../src/cache/verify/gist.ts'
import { findVeto, type SemanticRisk } from '../../src/cache/verify/verify.ts'
import { createBuiltinEmbedder } from '../../src/embedders/builtin.ts'
import { readPrompt } from '../../src/text/read-prompt.ts'
import type { LabelledPair } from './pairs.ts'
import { share } from './score.ts'

const risks = ['careful', 'balanced', 'generous'] as const satisfies SemanticRisk[]
const thresholds = [0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99]

/** A pair with what decides about it. */
export interface WeighedPair extends LabelledPair {
  readonly isNormalized: boolean
  readonly similarity: number
  /** By risk: whether nothing speaks against it above a threshold. */
  readonly passes: Readonly<Record<SemanticRisk, (threshold: number) => boolean>>
}

export async function weighPairs(
  pairs: readonly LabelledPair[],
  embedder: 'builtin' | 'local',
): Promise<WeighedPair[]> {
  const embed = await embedderOf(embedder)
  const weighed: WeighedPair[] = []
  for (const pair of pairs) {
    const [one, other] = [readPrompt(pair.a), readPrompt(pair.b)]
    const isBypassed = bypassReason(one) !== null || bypassReason(other) !== null
    const isNormalized = !isBypassed && one.normalized === other.normalized
    const compared = isNormalized
      ? { similarity: 1, smallestWordCosine: null }
      : await embed(one.normalized, other.normalized)
    const passes = (risk: SemanticRisk) => (threshold: number) =>
      !isBypassed && findVeto(one, other, { ...compared, threshold, risk, isSemantic: embedder !== 'builtin' }) === null
    weighed.push({
      ...pair,
      isNormalized,
      similarity: compared.similarity,
      passes: { careful: passes('careful'), balanced: passes('balanced'), generous: passes('generous') },
    })
  }
  return weighed
}

type Compare = (one: string, other: string) => Promise<{ similarity: number; smallestWordCosine: number | null }>

async function embedderOf(name: 'builtin' | 'local'): Promise<Compare> {
  if (name === 'local') throw new Error('Not yet')
  const embedder = createBuiltinEmbedder()
  return async (one, other) => {
    const theirs = embedder.embed(gistOf(other))
    const similarity = embedder.embed(gistOf(one)).reduce((sum, value, at) => sum + value * (theirs[at] ?? 0), 0)
    return { similarity, smallestWordCosine: null }
  }
}

export function curveLines(pairs: readonly WeighedPair[]): string[] {
  const lines = [...Map.groupBy(pairs, ({ set }) => set)].map(([set, rows]) => setLines(set, rows))
  return lines.flat()
}

function setLines(set: string, pairs: readonly WeighedPair[]): string[] {
  const count = (label: 0 | 1, isServed: (pair: WeighedPair) => boolean) => {
    const all = pairs.filter(pair => (pair.hand ?? pair.label) === label)
    return share(all.filter(isServed).length, all.length)
  }
  const row = (name: string, isServed: (pair: WeighedPair) => boolean) =>
    `  ${name.padEnd(26)} ${count(1, isServed).padEnd(36)} ${count(0, isServed)}`
  return [
    `\n${set}`,
    `  ${''.padEnd(26)} ${'same, served'.padEnd(36)} different, served`,
    row('proved', pair => pair.isNormalized),
    ...risks.flatMap(risk =>
      thresholds.map(threshold =>
        row(
          `verified, ${risk} ${threshold}`,
          pair => pair.isNormalized || (pair.similarity > threshold && pair.passes[risk](threshold)),
        ),
      ),
    ),
    ...thresholds.map(threshold =>
      row(`threshold ${threshold}`, pair => pair.isNormalized || pair.similarity > threshold),
    ),
    ...classLines(pairs),
  ]
}

/** What the defaults serve, by class. */
function classLines(pairs: readonly WeighedPair[]): string[] {
  const byClass = [...Map.groupBy(pairs, ({ category }) => category)]
  if (byClass.length < 2) return []
  return byClass.map(([name, rows]) => {
    const served = rows.filter(pair => pair.isNormalized || (pair.similarity > 0.95 && pair.passes.balanced(0.95)))
    const right = served.filter(pair => (pair.hand ?? pair.label) === 1).length
    return `    ${name.padEnd(24)} ${right} same and ${served.length - right} different of ${rows.length}`
  })
}
