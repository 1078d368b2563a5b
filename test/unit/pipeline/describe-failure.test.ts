import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toSingleLine } from '../../../src/errors/errors.ts'
import { describeUpstreamError, redactPrompt } from '../../../src/pipeline/accounting/describe-failure.ts'

test('quotes an upstream without the prompt, in any place and any escaping', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 16, maxLength: 80, unit: 'grapheme' }),
      fc.string({ maxLength: 60 }),
      fc.string({ maxLength: 60 }),
      fc.boolean(),
      (prompt, before, after, isEscaped) => {
        const quoted = toSingleLine(isEscaped ? JSON.stringify(prompt).slice(1, -1) : prompt, 1_000)
        const redacted =
          redactPrompt(`${before}${quoted}${after}`, { messages: [{ role: 'user', content: prompt }] }) ?? ''
        if (quoted.length >= 16 && !before.includes(quoted) && !after.includes(quoted))
          expect(redacted).not.toContain(quoted)
      },
    ),
  )
})

test('keeps what only resembles the prompt, and names of fields and of the model', () => {
  const body = {
    model: 'vendor/a-rather-long-model-name',
    max_completion_tokens: 5,
    messages: [{ content: 'Hello there.' }],
  }
  const message = "Unsupported parameter: 'max_completion_tokens' with vendor/a-rather-long-model-name"
  expect(redactPrompt(message, body)).toBe(message)
  expect(redactPrompt('x', { messages: [{ content: 'a'.repeat(20_000) }] })).toBeNull()
})

test.each([
  ['{"error":{"message":"Too many","code":"slow_down"}}', 'Too many'],
  ['{"type":"error","error":{"type":"overloaded_error","message":"Over\\nloaded"}}', 'Over loaded'],
  ['{"error":"plain"}', 'plain'],
  ['{"message":"bare"}', 'bare'],
  ['<html>', null],
  [`{"error":{"message":"${'x'.repeat(20_000)}"}}`, null],
])('of %s', (body, message) => {
  expect(describeUpstreamError({ status: 503, headers: {}, body }, null)).toEqual({
    upstream_status: 503,
    upstream_message: message,
  })
})

test('returns one well-formed line of at most that length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, most) => {
      const line = toSingleLine(text, most)
      expect(line.isWellFormed()).toBe(true)
      expect(line.length).toBeLessThanOrEqual(most)
      expect(line).not.toMatch(/[\p{Cc}\u202e\u2028]/u)
    }),
  )
})
