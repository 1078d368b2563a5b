import { describe, expect, test } from 'vitest'
import type { SemanticQuery } from '../../../src/cache/cache-query.ts'
import { matchSettingsKey, type SemanticPolicy, scoreRows, selectCandidate } from '../../../src/cache/policy.ts'
import { normalizePrompt } from '../../../src/cache/text/normalize-prompt.ts'
import { readWordingModelHash } from '../../../src/cache/text/wording-instructions.ts'
import { readModelsHash } from '../../../src/cache/verify/trees.ts'
import type { ResolvedKey } from '../../../src/postgres/admit-requests.ts'
import type { SimilarMatchRow } from '../../../src/postgres/search-cache.ts'

const ASKED = 'How do I boil an egg?'
const EQUAL = 'how can I boil an egg'
/** Its score exceeds the threshold, whatever its cosine. */
const VERIFIED = 'What is the best way to boil an egg?'
/** It breaks a law. */
const UNVERIFIED = 'How do I boil an egg without water?'

function query(judgeFloor: number | null = 0.8): SemanticQuery {
  return {
    normalizedPrompt: normalizePrompt(ASKED),
    sharingScope: '',
    verdictScope: '',
    normalizedHash: '',
    instructionsHash: null,
    contextHash: '',
    threshold: 0.95,
    judgeFloor,
    risk: 'balanced',
    needsVector: true,
    topicWords: [],
    hasVerdicts: true,
  }
}

type Verdict = `${'person' | 'review' | 'judge'} ${'same' | 'different'}` | null

function candidate(prompt: string, similarity: number, verdict: Verdict = null): SimilarMatchRow {
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
    policy: null,
    match: similarity === 1 ? 'normalized' : 'similar',
    similarity,
    prompt,
    verdict_source,
    verdict: said,
  } as SimilarMatchRow
}

/** Returns the reason of the match, or the reason why no cached response is served. */
function decide(policy: SemanticPolicy, row: SimilarMatchRow): string {
  const asked = query(policy === 'judged' ? 0.8 : null)
  const picked = selectCandidate(asked, scoreRows(asked, [row], policy, false), policy)
  if ('reason' in picked) return picked.reason
  return picked.undecided.length > 0 ? 'undecided' : picked.missReason
}

const all = (reason: string): Record<SemanticPolicy, string> => ({
  verified: reason,
  judged: reason,
  proved: reason,
  threshold: reason,
})
const opposed = { ...all('unverified:verdict'), proved: 'unproved:verdict' }

describe('one candidate', () => {
  test.each<[string, number, Verdict, Record<SemanticPolicy, string>]>([
    [EQUAL, 1, null, all('normalized')],
    [EQUAL, 1, 'judge different', all('normalized')],
    [EQUAL, 1, 'person different', opposed],
    [EQUAL, 1, 'review different', opposed],
    [
      VERIFIED,
      0.96,
      null,
      { verified: 'verified', judged: 'verified', proved: 'unproved:person', threshold: 'threshold' },
    ],
    [
      VERIFIED,
      0.5,
      null,
      { verified: 'verified', judged: 'verified', proved: 'below-threshold', threshold: 'below-threshold' },
    ],
    [
      VERIFIED,
      0.96,
      'judge different',
      {
        verified: 'unverified:verdict',
        judged: 'unverified:verdict',
        proved: 'unproved:person',
        threshold: 'threshold',
      },
    ],
    [VERIFIED, 0.96, 'person different', opposed],
    [
      UNVERIFIED,
      0.99,
      null,
      { verified: 'unverified:negation', judged: 'undecided', proved: 'unproved:negation', threshold: 'threshold' },
    ],
    [
      UNVERIFIED,
      0.99,
      'judge same',
      { verified: 'unverified:negation', judged: 'judged', proved: 'unproved:negation', threshold: 'threshold' },
    ],
    [
      UNVERIFIED,
      0.99,
      'judge different',
      {
        verified: 'unverified:negation',
        judged: 'unverified:negation',
        proved: 'unproved:negation',
        threshold: 'threshold',
      },
    ],
    [
      UNVERIFIED,
      0.99,
      'person same',
      { verified: 'judged', judged: 'judged', proved: 'judged', threshold: 'threshold' },
    ],
    [UNVERIFIED, 0.99, 'person different', opposed],
    [UNVERIFIED, 0.8, null, { ...all('below-threshold'), verified: 'unverified:negation', judged: 'undecided' }],
    [UNVERIFIED, 0.79, null, all('below-threshold')],
    [UNVERIFIED, 0.85, 'judge same', { ...all('below-threshold'), verified: 'unverified:negation', judged: 'judged' }],
    [UNVERIFIED, 0.85, 'person same', all('judged')],
  ])('%j at %d, %s: %o', (prompt, similarity, verdict, expected) => {
    const row = candidate(prompt, similarity, verdict)
    for (const policy of ['verified', 'judged', 'proved', 'threshold'] as const) {
      expect([policy, decide(policy, row)]).toEqual([policy, expected[policy]])
    }
  })
})

test('serves no pair that breaks a law, whatever its score', () => {
  const row = { ...candidate(UNVERIFIED, 0.99), cosine: 0.99, veto: 'opposite' } as const
  expect(selectCandidate(query(null), [row], 'verified')).toMatchObject({ missReason: 'unverified:opposite' })
})

test('reads the cosine of a candidate where the verifier knows its space, and of no confirmed pair', () => {
  function scoreOf(readsCosine: boolean, similarity: number, match: 'similar' | 'confirmed' = 'similar'): number {
    const [row] = scoreRows(query(), [{ ...candidate(VERIFIED, similarity), match }], 'verified', readsCosine)
    return row?.match === match ? row.similarity : -1
  }
  expect(scoreOf(true, 0.99)).toBeGreaterThan(scoreOf(true, 0.5))
  expect(scoreOf(false, 0.99)).toBe(scoreOf(false, 0.5))
  expect(scoreOf(true, 0.99, 'confirmed')).toBe(scoreOf(false, 0.5))
})

test('prefers a less similar candidate that may be served to a more similar one that may not', () => {
  const found = scoreRows(query(), [candidate(VERIFIED, 0.96), candidate(UNVERIFIED, 0.99)], 'judged', false)
  expect(selectCandidate(query(), found, 'judged')).toMatchObject({ reason: 'verified', row: { prompt: VERIFIED } })
})

test('offers the judge the most similar candidate first', () => {
  const picked = selectCandidate(query(), [candidate('Boil an egg, how?', 0.81), candidate(UNVERIFIED, 0.9)], 'judged')
  expect(picked).toMatchObject({ undecided: [{ similarity: 0.9 }, { similarity: 0.81 }] })
})

test('decides nothing without candidates', () => {
  expect(selectCandidate(query(), [], 'judged')).toEqual({ missReason: 'no-candidate', undecided: [] })
})

test('a match is reused only with the models that found it', () => {
  const key = { semantic_mode: 'on', semantic_policy: 'verified', semantic_risk: 'balanced', verdict_generation: 1 }
  const parts = matchSettingsKey(key as unknown as ResolvedKey).split(':')
  expect(parts).toContain(readModelsHash())
  expect(parts).toContain(readWordingModelHash())
})
