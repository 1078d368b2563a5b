import { describe, expect, test } from 'vitest'
import { listAggregatorNames, modelFamilyOf, toNativeName } from '../../../src/catalogue/vendor-model-names.ts'
import { SEEDED_VENDORS } from '../../harness/vendors.ts'

describe('matchNames', () => {
  test.each([
    ['gpt-9-nova', 'openai'],
    ['chatgpt-4o-latest', 'openai'],
    ['o1-preview-2024-09-12', 'openai'],
    ['o7-mini', 'openai'],
    ['ft:gpt-4o-mini-2024-07-18:acme::abc123', 'openai'],
    ['codex-mini-latest', 'openai'],
    ['text-embedding-4-small', 'openai'],
    ['whisper-1', 'openai'],
    ['claude-opus-9', 'anthropic'],
    ['claude-3-5-sonnet-20241022', 'anthropic'],
    ['llama-9-70b', 'groq'],
    ['gemma2-9b-it', 'groq'],
    ['whisper-large-v3', 'groq'],
    ['groq/compound-mini', 'groq'],
  ])('%s is of %s', (model, provider) => {
    expect(SEEDED_VENDORS.matchNames(model)[0]).toBe(provider)
  })

  test.each([
    'gpt-oss-120b',
    'openai/gpt-4o',
    'no-such-model',
    'my-gpt-4o',
    'o',
    'oasis-1',
    'groq/a/b',
    'gpt-4 o',
    'gpt-\u202e4o',
    'constructor',
    '__proto__',
    '',
  ])('%j names no provider', model => {
    expect(SEEDED_VENDORS.matchNames(model)).toEqual([])
  })
})

test.each([
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['gpt-4-0613', 'gpt-4'],
  ['gpt-3.5-turbo-16k-0613', 'gpt-3.5-turbo-16k'],
  ['claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
  ['openai/gpt-4o-2024-08-06', 'openai/gpt-4o'],
  ['chatgpt-4o-latest', 'chatgpt-4o'],
  ['gpt-4o', null],
  ['gpt-4-1106-preview', null],
  ['llama-3.1-8b-8192', null],
  ['ft:gpt-4o-2024-08-06', null],
])('%s is a snapshot of %s', (model, family) => {
  expect(modelFamilyOf(model)).toBe(family)
})

test.each([
  ['openai', 'gpt-4o-2024-08-06', ['openai/gpt-4o-2024-08-06']],
  ['openai', 'ft:gpt-4o:acme::a', []],
  ['anthropic', 'claude-haiku-4-5-20251001', ['anthropic/claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4.5']],
  ['anthropic', 'claude-3-5-sonnet-20241022', ['anthropic/claude-3-5-sonnet-20241022', 'anthropic/claude-3.5-sonnet']],
  ['anthropic', 'claude-opus-5', ['anthropic/claude-opus-5', 'anthropic/claude-opus-5']],
])('an aggregator calls %s’s %s one of %j', (vendor, model, names) => {
  expect(listAggregatorNames(vendor, model)).toEqual(names)
})

test.each([
  ['anthropic', 'claude-opus-9.1', 'claude-opus-9-1'],
  ['anthropic', 'claude-3.5-haiku', 'claude-3-5-haiku'],
  ['anthropic', 'claude-opus-9', 'claude-opus-9'],
  ['openai', 'gpt-4.1', 'gpt-4.1'],
])('%s writes %s as %s', (vendor, name, native) => {
  expect(toNativeName(vendor, name)).toBe(native)
})

test.each([
  ['openai', 'gpt-9', true],
  ['openai', 'ft:gpt-4o:acme::a', true],
  ['openai', 'gpt-9:free', false],
  ['openai', 'gpt-oss-20b', false],
  ['openai', 'claude-opus-9', false],
  ['groq', 'compound-mini', false],
])('without %s in front, %s is its own model: %s', (vendor, name, expected) => {
  expect(SEEDED_VENDORS.isNativeName(vendor, name)).toBe(expected)
})
