/** A simulated judge: it knows the labels, and is wrong as often as configured, for the same pairs each time. */
import { createHash } from 'node:crypto'
import type { Script } from '../../test/standin/server.ts'
import type { LabelledPair } from './pairs.ts'

export const JUDGE_MODEL = 'stand-in/judge'

export interface StandInJudge {
  /** The upstream's script, through which it answers. */
  script: Script
  /** How many pairs it called the same, and how many of those are. */
  tally(): { same: number; right: number }
  reset(): void
}

/** `accuracy` is the share of right answers, 0 to 1. Each order of a pair is a question of its own. */
export function createStandInJudge(pairs: readonly LabelledPair[], accuracy: number): StandInJudge {
  const labels = new Map(pairs.map(({ a, b, label }) => [nameOf(a, b), label]))
  let counted = { same: 0, right: 0 }

  function judge(first: string, second: string): 'same' | 'different' {
    const isSame = labels.get(nameOf(first, second)) === 1
    const verdict = fractionOf(`${first}\n${second}`) < accuracy ? isSame : !isSame
    if (verdict) counted.same += 1
    if (verdict && isSame) counted.right += 1
    return verdict ? 'same' : 'different'
  }

  return {
    script({ body }) {
      const { model, messages } = body as { model: string; messages: { content: string }[] }
      if (model !== JUDGE_MODEL) return undefined
      const { first, second } = JSON.parse(messages[1]?.content ?? '{}')
      return { kind: 'answer', content: JSON.stringify({ verdict: judge(first, second) }) }
    },
    tally: () => counted,
    reset() {
      counted = { same: 0, right: 0 }
    },
  }
}

function nameOf(a: string, b: string): string {
  return a < b ? `${a}\n${b}` : `${b}\n${a}`
}

/** A number from 0 to 1, evenly distributed, always the same for a text. */
export function fractionOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32
}
