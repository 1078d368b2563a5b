/** What each kind of harmless difference gains and costs: the pairs that would not be served without it. */
import { bypassReason } from '../../src/cache/proof/bypass.ts'
import { prove } from '../../src/cache/proof/prove.ts'
import { readPrompt } from '../../src/text/read-prompt.ts'
import { harmlessKinds } from '../../src/text/token.ts'
import type { LabelledPair } from './pairs.ts'

export function ablationLines(pairs: readonly LabelledPair[]): string[] {
  const proved = pairs.flatMap(pair => {
    const [asked, cached] = [readPrompt(pair.b), readPrompt(pair.a)]
    const proof = prove(asked, cached)
    const isBypassed = bypassReason(asked) !== null || bypassReason(cached) !== null
    return proof.proved && !isBypassed ? [{ label: pair.label, harmless: proof.harmless }] : []
  })
  const rows = harmlessKinds.map(kind => {
    const lost = proved.filter(({ harmless }) => harmless.includes(kind))
    const right = lost.filter(({ label }) => label === 1).length
    return `  ${kind.padEnd(20)} ${String(right).padStart(6)} ${String(lost.length - right).padStart(8)}`
  })
  return ['\nWithout this kind, so many proved pairs are lost', '  kind                   same  different', ...rows]
}
