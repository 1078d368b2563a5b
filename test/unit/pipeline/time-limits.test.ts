import { describe, expect, test } from 'vitest'
import { findDuration, resolveTimeLimits } from '../../../src/pipeline/context/time-limits.ts'
import { readDelivery } from '../../../src/pipeline/request/parse-request.ts'
import type { ResolvedKey } from '../../../src/postgres/admit-requests.ts'

const NONE = Number.POSITIVE_INFINITY

interface Given {
  settings?: Partial<Record<'first_token_timeout_ms' | 'idle_timeout_ms' | 'response_timeout_ms', string[]>>
  header?: string
  hasFallback?: boolean
}

function limitsOf({ settings = {}, header, hasFallback = false }: Given) {
  const none = { first_token_timeout_ms: [], idle_timeout_ms: [], response_timeout_ms: [] }
  const resolvedKey = { ...none, ...settings } as unknown as ResolvedKey
  const headers = new Headers(header === undefined ? {} : { 'x-proxy-first-token-timeout-ms': header })
  return resolveTimeLimits({ query: { model: 'gpt-5.4', delivery: readDelivery(headers) }, resolvedKey, hasFallback })
}

describe('the limits of a request', () => {
  test.each<[string, Given, [firstTokenMs: number, idleMs: number, responseMs: number]]>([
    ['are the process’s without settings', {}, [NONE, NONE, NONE]],
    ['are 30 seconds to the first token while a fallback is left', { hasFallback: true }, [30_000, NONE, NONE]],
    [
      'are those of the settings',
      { settings: { first_token_timeout_ms: ['9'], idle_timeout_ms: ['8'], response_timeout_ms: ['7'] } },
      [9, 8, 7],
    ],
    [
      'may be above 30 seconds although a fallback is left',
      { hasFallback: true, settings: { first_token_timeout_ms: ['90000'] } },
      [90_000, NONE, NONE],
    ],
    ['are lowered by the header', { header: '500', settings: { response_timeout_ms: ['7000'] } }, [500, NONE, 500]],
    [
      'are not raised by the header',
      { header: '60000', settings: { first_token_timeout_ms: ['9'], response_timeout_ms: ['7'] } },
      [9, NONE, 7],
    ],
    ['are not raised by the header above the default', { header: '60000', hasFallback: true }, [30_000, NONE, 60_000]],
  ])('%s', (_, given, [firstTokenMs, idleMs, responseMs]) => {
    const clientMs = given.header === undefined ? null : Number(given.header)
    expect(limitsOf(given)).toEqual({ firstTokenMs, idleMs, responseMs, clientMs })
  })

  test.each(['', '0', '-1', '1.5', '1e3', '3600001', 'never', '5000ms'])('reject the header %j', header => {
    expect(() => limitsOf({ header })).toThrow(
      expect.objectContaining({ status: 400, param: 'X-Proxy-First-Token-Timeout-Ms' }),
    )
  })
})

describe('a setting for single models', () => {
  test.each<[string, string[], number | null]>([
    ['has no value', [], null],
    ['has a value for all', ['100'], 100],
    ['has a value for the model', ['100', 'gpt-5.4=200'], 200],
    ['has a value for another model', ['gpt-5.4-mini=200'], null],
    ['has a pattern', ['100', 'gpt-*=300'], 300],
    ['prefers the name to a pattern', ['gpt-*=300', 'gpt-5.4=200', '100'], 200],
    ['prefers the first pattern', ['gpt-5*=400', 'gpt-*=300'], 400],
  ])('%s', (_, entries, expected) => {
    expect(findDuration(entries, 'gpt-5.4')).toBe(expected)
  })
})
