import { describe, expect, test } from 'vitest'
import { findSimilarNames } from '../../../src/providers/similar-names.ts'

const NAMES = [
  'openai/gpt-4o-mini',
  'gpt-4o',
  'gpt-4.1',
  'gpt-4.1-mini',
  'claude-haiku-4-5',
  'o1',
  'o3',
  'qwen/qwen3-32b',
]

describe('finding similar names', () => {
  test.each([
    ['gtp-4o', 'gpt-4o'],
    ['gpt4o', 'gpt-4o'],
    ['GPT-4.1-Mini', 'gpt-4.1-mini'],
    ['gpt-4o-mni', 'openai/gpt-4o-mini'],
    ['openai/gtp-4o-mini', 'openai/gpt-4o-mini'],
    ['claude-haku-4.5', 'claude-haiku-4-5'],
    ['qwen3-32', 'qwen/qwen3-32b'],
  ])('suggests %s for %s', (asked, meant) => {
    expect(findSimilarNames(asked, NAMES)[0]).toBe(meant)
  })

  test.each(['nothing', 'completely-different-model', 'x'.repeat(101), '🦊'.repeat(100)])(
    'suggests none for %s',
    asked => {
      expect(findSimilarNames(asked, NAMES)).toEqual([])
    },
  )

  test('names at most five, each once', () => {
    const names = Array.from({ length: 20 }, (_, index) => `gpt-${index}`)
    expect(findSimilarNames('gpt-x', [...names, ...names])).toHaveLength(5)
  })
})
