import { describe, expect, test } from 'vitest'
import type { SemanticQuery } from '../../../src/cache/cache-query.ts'
import { pickCandidate, type SemanticPolicy } from '../../../src/cache/policy.ts'
import type { SimilarAnswer } from '../../../src/postgres/find-answer.ts'
import { readPrompt } from '../../../src/text/read-prompt.ts'

const ASKED = 'How do I boil an egg?'
const PROVED = 'how do I boil an egg'
const UNPROVED = 'What is the best way of boiling eggs?'

function query(judgeFloor: number | null = 0.8): SemanticQuery {
  return {
    reading: readPrompt(ASKED),
    normalizedHash: '',
    contextHash: '',
    threshold: 0.95,
    judgeFloor,
  }
}

type Verdict = `${'person' | 'review' | 'judge'} ${'same' | 'different'}` | null

function candidate(prompt: string, similarity: number, verdict: Verdict = null): SimilarAnswer {
  const [verdict_source = null, said = null] = verdict?.split(' ') ?? []
  return {
    entry_id: 1,
    request_hash: prompt,
    response: '',
    provider: '',
    prompt_tokens: 0,
    completion_tokens: 0,
    created_at: new Date(0),
    expires_at: new Date(0),
    match: similarity === 1 ? 'normalized' : 'similar',
    similarity,
    prompt,
    verdict_source,
    verdict: said,
  } as SimilarAnswer
}

/** Its reason, or why nothing is served. */
function decide(policy: SemanticPolicy, row: SimilarAnswer): string {
  const picked = pickCandidate(query(policy === 'judged' ? 0.8 : null), [row], policy)
  if ('reason' in picked) return picked.reason
  return picked.undecided.length > 0 ? 'undecided' : picked.missReason
}

describe('one candidate', () => {
  const NEVER = 'unproved:verdict'
  test.each<[string, number, Verdict, proved: string, judged: string, threshold: string]>([
    [PROVED, 0.99, null, 'proved', 'proved', 'threshold'],
    [PROVED, 1, null, 'normalized', 'normalized', 'normalized'],
    [PROVED, 0.9, null, 'below-threshold', 'undecided', 'below-threshold'],
    [PROVED, 0.99, 'judge different', 'proved', 'proved', 'threshold'],
    [PROVED, 0.99, 'person different', NEVER, NEVER, NEVER],
    [PROVED, 1, 'person different', NEVER, NEVER, NEVER],
    [PROVED, 0.99, 'review different', NEVER, NEVER, NEVER],
    [PROVED, 1, 'review different', NEVER, NEVER, NEVER],
    [UNPROVED, 0.99, 'review same', 'unproved:words', 'judged', 'threshold'],
    [UNPROVED, 0.99, null, 'unproved:words', 'undecided', 'threshold'],
    [UNPROVED, 0.99, 'judge same', 'unproved:words', 'judged', 'threshold'],
    [UNPROVED, 0.99, 'judge different', 'unproved:words', 'unproved:words', 'threshold'],
    [UNPROVED, 0.99, 'person same', 'judged', 'judged', 'threshold'],
    [UNPROVED, 0.99, 'person different', NEVER, NEVER, NEVER],
    [UNPROVED, 0.8, null, 'below-threshold', 'undecided', 'below-threshold'],
    [UNPROVED, 0.79, null, 'below-threshold', 'below-threshold', 'below-threshold'],
    [UNPROVED, 0.85, 'judge same', 'below-threshold', 'judged', 'below-threshold'],
    [UNPROVED, 0.85, 'person same', 'judged', 'judged', 'judged'],
    [UNPROVED, 0.85, 'person different', NEVER, NEVER, NEVER],
  ])('%j at %d, %s: %s, %s, %s', (prompt, similarity, verdict, proved, judged, threshold) => {
    const row = candidate(prompt, similarity, verdict)
    expect(decide('proved', row)).toBe(proved)
    expect(decide('judged', row)).toBe(judged)
    expect(decide('threshold', row)).toBe(threshold)
  })
})

test('a less similar candidate that may be served goes before a more similar one that may not', () => {
  const picked = pickCandidate(query(), [candidate(PROVED, 0.96), candidate(UNPROVED, 0.99)], 'judged')
  expect(picked).toMatchObject({ reason: 'proved', similarity: 0.96 })
})

test('the judge is offered the most similar first', () => {
  const picked = pickCandidate(query(), [candidate('Boil an egg, how?', 0.81), candidate(UNPROVED, 0.9)], 'judged')
  expect(picked).toMatchObject({ undecided: [{ similarity: 0.9 }, { similarity: 0.81 }] })
})

test('without candidates there is nothing to decide', () => {
  expect(pickCandidate(query(), [], 'judged')).toEqual({ missReason: 'no-candidate', undecided: [] })
})
