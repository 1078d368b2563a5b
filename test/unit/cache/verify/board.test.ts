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
  careful: { same: [2_700, 2_850], different: [0, 8] },
  balanced: { same: [4_200, 4_370], different: [6, 24] },
  generous: { same: [5_900, 6_300], different: [85, 130] },
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
  }).toEqual({ number: [382, 155], identifier: [36, 96], negation: [1_030, 390], opposite: [404, 27] })
})
