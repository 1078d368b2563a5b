/** The verifier on the questions of authors whom it was never trained on. */
import { describe, expect, test } from 'vitest'
import { readPairs } from '../../../../scripts/evaluate/pairs.ts'
import { DEFAULT_THRESHOLD, risks } from '../../../../scripts/evaluate/weigh.ts'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import { type MatchVeto, verifyPair } from '../../../../src/cache/verify/verify.ts'

const board = [...readPairs([])].map(({ a, b, label }) => {
  const [one, other] = [normalizePrompt(a), normalizePrompt(b)]
  return { label, verdicts: Object.fromEntries(risks.map(risk => [risk, verifyPair(one, other, risk)])) }
})

/** What was measured, and a little beside. What moves a number out of its range has to be explained. */
const expected = {
  careful: { same: [3_270, 3_390], different: [0, 10] },
  balanced: { same: [5_020, 5_190], different: [12, 34] },
  generous: { same: [7_240, 7_480], different: [140, 190] },
} as const

describe.each(risks)('at the risk %s', risk => {
  test.each([
    [1, 'same'],
    [0, 'different'],
  ] as const)('serves as many pairs with label %d as measured', (label, name) => {
    const served = board.filter(({ verdicts, ...pair }) => {
      const { score = 0, veto = null } = verdicts[risk] ?? {}
      return pair.label === label && veto === null && score > DEFAULT_THRESHOLD
    })
    const [least, most] = expected[risk][name]
    expect(served.length).toBeGreaterThanOrEqual(least)
    expect(served.length).toBeLessThanOrEqual(most)
  })
})

test('each law holds for pairs of the board', () => {
  const vetoes = Map.groupBy(board, ({ verdicts }) => verdicts.balanced?.veto ?? null)
  const count = (veto: MatchVeto) =>
    [0, 1].map(label => (vetoes.get(veto) ?? []).filter(pair => pair.label === label).length)
  // Different and same pairs that a law forbids.
  expect({
    number: count('number'),
    identifier: count('identifier'),
    negation: count('negation'),
    opposite: count('opposite'),
  }).toEqual({ number: [532, 261], identifier: [51, 131], negation: [1_374, 681], opposite: [523, 48] })
})
