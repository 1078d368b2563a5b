import { expect, test } from 'vitest'
import { invalidRequestError, ProxyError } from '../../../src/errors/errors.ts'

test('writes an error in OpenAI’s envelope', () => {
  const error = new ProxyError({
    status: 401,
    code: 'invalid_api_key',
    message: 'Invalid API key',
    cause: 'secret detail',
  })
  expect(error.toBody()).toEqual({
    error: { message: 'Invalid API key', type: 'authentication_error', param: null, code: 'invalid_api_key' },
  })
})

test('names the field at fault', () => {
  expect(invalidRequestError('model must be a string.', 'model').toBody().error.param).toBe('model')
})
