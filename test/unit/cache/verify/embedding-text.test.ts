import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import {
  EMBEDDING_TEXT_VERSION,
  embeddingTextOf,
  questionAnchorOf,
} from '../../../../src/cache/verify/embedding-text.ts'
import { findVeto, isPlainQuestion } from '../../../../src/cache/verify/verify.ts'
import { pairs } from '../text/pairs.ts'

describe('the gist is what a question asks', () => {
  test.each([
    ['How do I decrease my blood pressure?', 'how reduce blood pressure'],
    ['How do I turn on my phone?', 'how turn on self phone'],
    ['How do I secure a job abroad?', 'how secure job abroad'],
    ['How do I end a meeting early?', 'how end meeting early'],
    ['What are the side effects of aspirin?', 'what side effects of aspirin'],
    ['How do I fix a wooden sofa?', 'how fix wooden couch'],
    ['How do I repair a wooden couch?', 'how fix wooden couch'],
    ['What is the biggest lake?', 'what most large lake'],
    ['Who wrote the kids movie?', 'who wrote kids movie'],
    ['x = 5;', 'x = 5;'],
  ])('%s: %s', (text, gist) => {
    expect(embeddingTextOf(normalizePrompt(text).normalized)).toBe(gist)
  })
})

describe('the anchor is what two equal questions share', () => {
  /** The most permissive evidence and risk. A pair that is vetoed here is vetoed under every setting. */
  const boldest = { similarity: 1, threshold: 0, risk: 'generous', isSemantic: true } as const
  const anchor = (text: string) => questionAnchorOf(normalizePrompt(text).normalized)
  const sharesNone = ([a, b]: readonly [string, string]) =>
    findVeto(normalizePrompt(a), normalizePrompt(b), boldest) === null && anchor(a) !== anchor(b)

  test('of any two questions that may be served', () => {
    const given = pairs.map(({ a, b }) => [a, b] as const)
    expect(given.filter(sharesNone)).toEqual([])
    const plain = [...new Set(given.flat())].filter(text => isPlainQuestion(normalizePrompt(text)))
    const some = plain.filter((_, at) => at % 20 === 0)
    expect(some.flatMap(a => some.map(b => [a, b] as const)).filter(sharesNone)).toEqual([])
  })

  test.each([
    ['How do I get the price of gold in Zürich?', 'How can I get the gold price in Zürich?', true],
    ['How do I cancel the contract 4711?', 'What is the best way to terminate the contract 4711?', true],
    ['How do I cancel the contract 4711?', 'How do I cancel the contract 4712?', false],
    ['How do I use Kubernetes at home?', 'How do I use Terraform at home?', false],
    ['How do I use a phone with gloves?', 'How do I use a phone without gloves?', false],
    ['How do I boil an egg?', 'Why do I boil an egg?', false],
    ['x = 5;', 'How do I boil an egg?', false],
  ])('%s / %s: %s', (a, b, share) => {
    expect(anchor(a) === anchor(b)).toBe(share)
  })
})

/** A stored vector must not be compared with vectors of another embedding text of the same question, nor looked up by another anchor. */
test('other gists and anchors have other names', () => {
  const everyday = pairs.filter(({ set }) => set.startsWith('everyday'))
  const normalized = everyday.flatMap(({ a, b }) => [a, b].map(text => normalizePrompt(text).normalized))
  const [gists, anchors] = [embeddingTextOf, questionAnchorOf].map(read =>
    createHash('sha256')
      .update(normalized.map(text => read(text)).join('\n'))
      .digest('hex')
      .slice(0, 12),
  )
  expect({ form: EMBEDDING_TEXT_VERSION, gists, anchors }).toEqual({
    form: 'gist-14',
    gists: 'a80fc26305f0',
    anchors: 'c399497c3ffc',
  })
})
