import { expect, test } from 'vitest'
import { invalidRequestError, ProxyError } from '../../../src/errors/errors.ts'

test('an error becomes the envelope that OpenAI clients read', () => {
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

test('a bad request names the field at fault', () => {
  expect(invalidRequestError('model must be a string.', 'model').toBody().error.param).toBe('model')
})
