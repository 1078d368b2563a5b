import { expect, test } from 'vitest'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import { topicWordsOf } from '../../../../src/cache/text/topic-words.ts'
import { pairs } from './pairs.ts'

const wordsOf = (text: string) => topicWordsOf(normalizePrompt(text).normalized)

test.each([
  ['How do I cancel the contract 4711 with Vodafone?', ['vodafone', '4711', 'terminate', 'contract']],
  ['Is there a way to terminate contract 4711 with Vodafone?', ['vodafone', '4711', 'terminate', 'contract']],
  ["What are the kids' swimming lessons?", ['lesson', 'child', 'swim']],
  ['What is the best way to use it?', ['best', 'way', 'use']],
  ['How are you?', []],
  ['パスワードを変更する方法は？', ['パスワードを変更する方法は']],
  ['', []],
])('%s: %s', (text, words) => {
  expect(wordsOf(text)).toEqual(words)
})

test('a long text has four, whatever follows 4,000 characters', () => {
  const text = `${'alpha beta gamma delta epsilon zeta eta theta '.repeat(100)} Xylophone`
  expect(topicWordsOf(text)).toHaveLength(4)
  expect(topicWordsOf(text)).not.toContain('xylophone')
})

/** Pairs of letters in two scripts or of white space have no words in common, and need none: their normalized texts are equal. */
const isReworded = ({ a, b }: { a: string; b: string }) =>
  normalizePrompt(a).normalized !== normalizePrompt(b).normalized

test('of 100 rewordings that people wrote, 97 have one of the first three words', () => {
  const same = pairs.filter(pair => pair.label === 1 && isReworded(pair))
  const sharing = same.filter(({ a, b }) =>
    wordsOf(a)
      .slice(0, 3)
      .some(word => wordsOf(b).includes(word)),
  )
  expect(same.length).toBeGreaterThan(400)
  expect(sharing.length / same.length).toBeGreaterThan(0.97)
})
