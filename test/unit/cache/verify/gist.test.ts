import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { GIST_FORM, gistOf } from '../../../../src/cache/verify/gist.ts'
import { readPrompt } from '../../../../src/text/read-prompt.ts'
import { pairs } from '../../text/pairs.ts'

describe('a gist is what a question asks', () => {
  test.each([
    ['How do I decrease my blood pressure?', 'how reduce blood pressure'],
    ['How do I turn on my phone?', 'how turn on phone'],
    ['How do I secure a job abroad?', 'how secure job abroad'],
    ['How do I end a meeting early?', 'how end meeting early'],
    ['What are the side effects of aspirin?', 'what side effects of aspirin'],
    ['x = 5;', 'x = 5;'],
  ])('%s: %s', (text, gist) => {
    expect(gistOf(readPrompt(text).normalized)).toBe(gist)
  })
})

/** Stored vectors of one text may not be compared with vectors of another gist of it. */
test('other gists have another name', () => {
  const everyday = pairs.filter(({ set }) => set.startsWith('everyday'))
  const gists = everyday.flatMap(({ a, b }) => [a, b].map(text => gistOf(readPrompt(text).normalized)))
  const digest = createHash('sha256').update(gists.join('\n')).digest('hex').slice(0, 12)
  expect({ form: GIST_FORM, digest }).toEqual({ form: 'gist-7', digest: '0dbad2388de9' })
})
