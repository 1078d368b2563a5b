import { expect, test } from 'vitest'
import { createError } from '../../../src/errors/errors.ts'

test('fills in the placeholders of message, parameter and headers', () => {
  const error = createError('rateLimited', { limit: 60, seconds: 7 })
  expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error', param: null })
  expect(error.headers).toEqual({
    'retry-after': '7',
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '7s',
  })
  expect(createError('bodyTooLarge', { maxBytes: 1024 }).message).toBe(
    'The body of your request is larger than 1024 bytes.',
  )
  expect(createError('invalidField', { problem: 'n must be 1.', param: 'n' })).toMatchObject({
    message: 'n must be 1.',
    param: 'n',
  })
})

test('does not expand a value that looks like a placeholder or a replacement pattern', () => {
  const model = '"{model} {count} $& $1"'
  expect(createError('modelNotListed', { model }).message).toContain(`Model ${model} is`)
})

test('each error has its own headers', () => {
  Object.assign(createError('databaseUnavailable').headers, { 'x-proxy-provider': 'sandbox' })
  expect(createError('databaseUnavailable').headers).toEqual({ 'retry-after': '1' })
})

test('logs the cause and does not show it', () => {
  const error = createError('internal', null, new Error('secret detail'))
  expect(error.cause).toEqual(new Error('secret detail'))
  expect(JSON.stringify(error.toBody())).not.toContain('secret')
})
