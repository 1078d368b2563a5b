import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import { EMBEDDING_TEXT_VERSION, embeddingTextOf } from '../../../../src/cache/verify/embedding-text.ts'
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

/** A stored vector must not be compared with vectors of another embedding text of the same question. */
test('other gists have another name', () => {
  const everyday = pairs.filter(({ set }) => set.startsWith('everyday'))
  const normalized = everyday.flatMap(({ a, b }) => [a, b].map(text => normalizePrompt(text).normalized))
  const gists = createHash('sha256')
    .update(normalized.map(text => embeddingTextOf(text)).join('\n'))
    .digest('hex')
    .slice(0, 12)
  expect({ form: EMBEDDING_TEXT_VERSION, gists }).toEqual({ form: 'gist-14', gists: 'a80fc26305f0' })
})
