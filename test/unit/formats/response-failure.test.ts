import { describe, expect, test } from 'vitest'
import { completenessOf } from '../../../src/formats/chat/completeness.ts'
import { toResponseError } from '../../../src/formats/errors/client-error.ts'
import type { JsonObject } from '../../../src/formats/json/canonical.ts'

function report(body: JsonObject, error?: unknown) {
  const { status, code, message } = toResponseError({
    body,
    completeness: completenessOf(body, { clientSetOutputLimit: false }),
    ...(error === undefined ? {} : { error }),
  })
  return { status, code, message }
}

const choice = (finishReason: unknown, more: object = {}) => ({
  choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: finishReason, ...more }],
})

describe('describing a failure', () => {
  test.each<[JsonObject, string]>([
    [{ choices: [] }, 'The provider returned no response.'],
    [{ choices: [{ index: 0, finish_reason: 'stop' }] }, 'The provider returned an empty response.'],
    [choice(null), 'The provider ended its response before it was complete.'],
    [choice('abort'), 'The provider reported a failure (finish_reason "abort").'],
    [choice('error'), 'The provider reported a failure (finish_reason "error").'],
    [choice('sk-secret and more'), 'The provider reported a failure (finish_reason unknown).'],
    [choice('x'.repeat(65)), 'The provider reported a failure (finish_reason unknown).'],
  ])('%j is a 502', (body, message) => {
    expect(report(body)).toEqual({ status: 502, code: 'upstream_error', message })
  })

  test('repeats the provider’s message and status', () => {
    const error = { message: 'Slower.', type: 'rate_limit_error', code: 429 }
    const expected = { status: 429, message: 'Slower.' }
    expect(report({ error })).toMatchObject(expected)
    expect(report(choice('error', { error }))).toMatchObject(expected)
    expect(report(choice(null), error)).toMatchObject(expected)
    expect(report({ error: 'It broke.' })).toMatchObject({ status: 502, message: 'It broke.' })
  })

  test('the first error of a stream has precedence over one in its body', () => {
    expect(report({ error: { message: 'Later.' } }, { message: 'First.' })).toMatchObject({ message: 'First.' })
  })
})
