import { describe, expect, test } from 'vitest'
import { createErrorOptions } from '../../../src/errors/errors.ts'
import { toProxyError } from '../../../src/formats/errors/client-error.ts'
import { canFallBackAfter } from '../../../src/providers/classify-rejection.ts'
import { failedResponseError, UpstreamFailure } from '../../../src/providers/upstream-failure.ts'

const openAi = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
})
const claude = (type: string, message: string) => ({ type: 'error', error: { type, message } })
const google = (code: number, status: string, message: string, reason?: string) => ({
  error: { code, message, status, ...(reason && { details: [{ reason, domain: 'googleapis.com' }] }) },
})

const HELPS: [string, number, unknown][] = [
  [
    'OpenAI’s context length',
    400,
    openAi('This model’s maximum context length is 8192 tokens.', 'context_length_exceeded'),
  ],
  [
    'Anthropic’s context length',
    400,
    claude('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
  ],
  [
    'Google’s context length',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
  ],
  [
    'vLLM’s context length',
    400,
    {
      object: 'error',
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      code: 400,
    },
  ],
  [
    'Groq’s size',
    413,
    openAi(
      'Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000',
      'rate_limit_exceeded',
      'tokens',
    ),
  ],
  ['Anthropic’s size', 413, claude('request_too_large', 'Request exceeds the maximum size')],
  ['a proxy’s size', 413, '<html><title>413 Request Entity Too Large</title></html>'],
  ['OpenAI’s key', 401, openAi('Incorrect API key provided: sk-a.', 'invalid_api_key')],
  [
    'Google’s key',
    400,
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'API_KEY_INVALID'),
  ],
  ['OpenRouter’s credits', 402, { error: { code: 402, message: 'Insufficient credits' } }],
  ['DeepSeek’s balance', 402, openAi('Insufficient Balance', 'invalid_request_error', 'unknown_error')],
  [
    'Anthropic’s credits',
    400,
    claude('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
  ],
  ['OpenAI’s quota', 429, openAi('You exceeded your current quota.', 'insufficient_quota', 'insufficient_quota')],
  ['a suspended account', 403, openAi('Your account has been suspended for violating our terms of service.')],
  ['Anthropic’s disabled organization', 400, claude('invalid_request_error', 'This organization has been disabled.')],
  [
    'Anthropic’s permission',
    403,
    claude('permission_error', 'Your API key does not have permission to use the specified resource.'),
  ],
  ['a model without access', 403, openAi('Project `proj_a` does not have access to model `gpt-4o`', 'model_not_found')],
  ['a region', 403, openAi('Country, region, or territory not supported', 'unsupported_country_region_territory')],
  ['a 403 without a cause', 403, 'Forbidden'],
  [
    'OpenAI’s unknown model',
    404,
    openAi('The model `gpt-9` does not exist or you do not have access to it.', 'model_not_found'),
  ],
  ['Anthropic’s unknown model', 404, claude('not_found_error', 'model: claude-9')],
  ['a deprecated model', 404, openAi('The model `gpt-4-32k` has been deprecated, learn more here.', 'model_not_found')],
  [
    'a withdrawn model',
    400,
    openAi('The model `mixtral-8x7b` has been decommissioned and is no longer supported.', 'model_decommissioned'),
  ],
  ['a retired model', 410, openAi('Gone')],
  ['OpenRouter’s missing endpoints', 404, { error: { code: 404, message: 'No endpoints found for acme/m.' } }],
  ['a server without the path', 404, '404 page not found'],
  [
    'an unverified organization',
    400,
    {
      error: {
        message: 'Your organization must be verified to stream this model.',
        type: 'invalid_request_error',
        param: 'stream',
        code: 'unsupported_value',
      },
    },
  ],
  ['an unsupported place', 400, google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.')],
  ['Anthropic’s overload', 529, claude('overloaded_error', 'Overloaded')],
  ['a server error', 500, 'oops'],
  ['a rate limit', 429, openAi('Rate limit reached', 'rate_limit_exceeded')],
  [
    'a throttled request',
    400,
    {
      __type: 'ThrottlingException',
      message: 'Too many requests, please wait before trying again.',
      code: 'ThrottlingException',
    },
  ],
  ['Groq’s capacity', 498, openAi('Flex tier capacity exceeded', 'capacity_exceeded')],
]

const DOES_NOT_HELP: [string, number, unknown][] = [
  [
    'Azure’s content filter',
    400,
    openAi(
      'The response was filtered due to the prompt triggering Azure OpenAI’s content management policy.',
      'content_filter',
    ),
  ],
  [
    'OpenAI’s content policy',
    400,
    openAi('Your request was rejected as a result of our safety system.', 'content_policy_violation'),
  ],
  ['Anthropic’s content filter', 400, claude('invalid_request_error', 'Output blocked by content filtering policy')],
  [
    'OpenRouter’s moderation',
    403,
    {
      error: {
        code: 403,
        message: 'Your input was flagged',
        metadata: { reasons: ['violence'], flagged_input: 'How' },
      },
    },
  ],
  ['xAI’s guidelines', 403, { code: 'permission-denied', error: 'Content violates usage guidelines. ' }],
  [
    'DashScope’s inspection',
    400,
    { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' },
  ],
  ['an unknown field', 400, openAi("Unknown parameter: 'temprature'.", 'unknown_parameter')],
  ['an unknown key of an object', 400, openAi('Invalid key "foo" in `tools`.')],
  [
    'an unsupported value',
    400,
    openAi("Unsupported value: 'temperature' does not support 0.2 with this model.", 'unsupported_value'),
  ],
  [
    'an unsupported parameter',
    400,
    openAi("Unsupported parameter: 'max_tokens' is not supported with this model.", 'unsupported_parameter'),
  ],
  [
    'a missing field',
    422,
    { detail: [{ loc: ['body', 'messages'], msg: 'field required', type: 'value_error.missing' }] },
  ],
  ['a wrong image', 400, openAi('Invalid image data.', 'invalid_image_format')],
  [
    'an image that cannot be fetched',
    400,
    openAi('Error while downloading file. Upstream status code: 404.', 'invalid_image_url'),
  ],
  ['a form with a rate in it', 400, openAi('fps must be at most 30 frames per second')],
  [
    'tool calls without results',
    400,
    openAi("An assistant message with 'tool_calls' must be followed by tool messages"),
  ],
  ['Anthropic’s form', 400, claude('invalid_request_error', 'messages: at least one message is required')],
  [
    'too much output',
    400,
    openAi('max_tokens is too large: 100000. This model supports at most 16384 completion tokens.'),
  ],
  ['a file that does not exist', 404, openAi('No such File object: file-abc')],
  [
    'a previous response that does not exist',
    404,
    openAi("Previous response with id 'resp_1' not found.", 'previous_response_not_found'),
  ],
  ['a wrong method', 405, 'Method not allowed'],
  ['a wrong media type', 415, 'Unsupported media type'],
  ['an unimplemented feature', 501, 'Not implemented'],
]

const write = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

describe('after an upstream’s error response', () => {
  test.each(HELPS)('a fallback may help: %s', (_, status, body) => {
    expect(canFallBackAfter({ status, body: write(body) })).toBe(true)
    expect(canFallBackAfter({ status, body: new TextEncoder().encode(write(body)) })).toBe(true)
  })

  test.each(DOES_NOT_HELP)('a fallback does not help: %s', (_, status, body) => {
    expect(canFallBackAfter({ status, body: write(body) })).toBe(false)
  })

  test('its own status decides, not the one that the client gets', () => {
    const body = write({ error: { message: 'There is trouble' } })
    expect(canFallBackAfter({ status: 400, upstreamStatus: 529, body })).toBe(true)
    expect(canFallBackAfter({ status: 529, upstreamStatus: 400, body })).toBe(false)
  })
})

describe('after an error within a response of status 200', () => {
  const reported = (body: object) => failedResponseError(toProxyError(body), 'error_in_stream', null)

  test.each([
    ['overload', claude('overloaded_error', 'Overloaded')],
    ['a full context', openAi('This model’s maximum context length is 8192 tokens.', 'context_length_exceeded')],
    ['an exhausted quota', openAi('You exceeded your current quota.', 'insufficient_quota')],
    ['an unknown model', openAi('The model does not exist.', 'model_not_found')],
    ['a rejected key', claude('authentication_error', 'invalid x-api-key')],
    ['an unknown cause', { error: { message: 'There is trouble' } }],
  ])('a fallback may help: %s', (_, body) => {
    expect(canFallBackAfter(reported(body))).toBe(true)
  })

  test.each([
    ['a content filter', openAi('The prompt was filtered.', 'content_filter')],
    ['the form', claude('invalid_request_error', 'messages: at least one message is required')],
  ])('a fallback does not help: %s', (_, body) => {
    expect(canFallBackAfter(reported(body))).toBe(false)
  })

  test('a fallback may help after any other failure', () => {
    const empty = new UpstreamFailure('empty', {
      ...createErrorOptions('upstreamBroken', { provider: 'p', fault: 'f' }),
      status: 400,
    })
    expect(canFallBackAfter(empty)).toBe(true)
  })
})
