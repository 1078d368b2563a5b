import { describe, expect, test, vi } from 'vitest'
import { createAggregatorModelNames, indexModelNames } from '../../../src/catalogue/aggregator-model-names.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

useTestClock()

describe('a list of names', () => {
  test.each([
    [['llama3.2:latest', 'qwen3:8b'], 'llama3.2', true],
    [['llama3.2:latest', 'qwen3:8b'], 'llama3.2:latest', true],
    [['llama3.2:latest', 'qwen3:8b'], 'qwen3', false],
    [['models/gemini-2.5-flash'], 'gemini-2.5-flash', true],
    [['models/gemini-2.5-flash'], 'models/gemini-2.5-flash', true],
    [['x-ai/grok-4'], 'grok-4', false],
    [['constructor'], '__proto__', false],
    [['openai/*'], 'openai/gpt-9', true],
    [['openai/*'], 'gpt-9', false],
    [['*'], 'gpt-9', true],
  ])('%j has %s: %s', (names, name, expected) => {
    expect(indexModelNames(names).has(name)).toBe(expected)
  })

  test('knows whose names end in this one, and whether one has no vendor', () => {
    const list = indexModelNames(['x-ai/grok-4', 'other/grok-4', 'a/b/grok-4'])
    expect(list.findWithVendor('grok-4')).toEqual(['x-ai/grok-4', 'other/grok-4'])
    expect(list.hasUnprefixedNames).toBe(false)
    expect(indexModelNames(['x-ai/grok-4', 'grok-4']).findWithVendor('grok-4')).toEqual(['x-ai/grok-4'])
    expect(indexModelNames(['models/gemini-2.5-flash']).hasUnprefixedNames).toBe(true)
  })
})

test('is read once for all waiting requests, and then cached', async () => {
  const fetchNames = vi.fn(async () => ['grok-4'])
  const offered = createAggregatorModelNames({ forwardsUnlistedNames: false, fetchNames, onFailed() {} })
  expect(offered.list).toBeNull()
  await Promise.all([offered.refresh(), offered.refresh()])
  expect(offered.list?.names).toEqual(['grok-4'])
  expect(offered.refresh()).toBeUndefined()
  expect(fetchNames).toHaveBeenCalledOnce()
})

test('a failed read is repeated a little later', async () => {
  const fetchNames = vi.fn(async (): Promise<string[]> => [])
  const onFailed = vi.fn()
  const offered = createAggregatorModelNames({ forwardsUnlistedNames: false, fetchNames, onFailed })
  await offered.refresh()
  expect([offered.list, onFailed.mock.calls.length]).toEqual([null, 1])
  expect(offered.refresh()).toBeUndefined()
  expect(fetchNames).toHaveBeenCalledOnce()
})

test('a slow read delays nobody for long, nor twice', async () => {
  const offered = createAggregatorModelNames({
    forwardsUnlistedNames: false,
    fetchNames: () => new Promise(() => {}),
    onFailed() {},
  })
  await Promise.all([offered.refresh(), passMs(4_000)])
  expect(offered.refresh()).toBeUndefined()
})
