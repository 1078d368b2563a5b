/** Provider errors in all formats, and their categories. */
import { describe, expect, test } from 'vitest'
import { readProviderError } from '../../../../src/formats/errors/provider-error.ts'

const TEXT = 'Something is wrong here.'
const FORMS: [form: string, body: unknown, message?: string][] = [
  ['OpenAI', { error: { message: TEXT, type: 'x', param: null, code: null } }],
  ['error text', { error: TEXT }],
  ['Anthropic', { type: 'error', error: { type: 'api_error', message: TEXT }, request_id: 'r' }],
  ['message', { message: TEXT }],
  ['vLLM', { object: 'error', message: TEXT, type: 'BadRequestError', code: 400 }],
  ['detail', { detail: TEXT }],
  ['FastAPI', { detail: [{ loc: ['body', 'n'], msg: TEXT, type: 'value_error' }] }, `body.n: ${TEXT}`],
  ['FastAPI, two', { detail: [{ msg: 'Fault one.' }, { msg: 'Fault two.' }] }, 'Fault one.; Fault two.'],
  ['detail object', { detail: { message: TEXT } }],
  ['AWS', { __type: 'ValidationException', Message: TEXT }],
  ['Cloudflare', { success: false, errors: [{ code: 7, message: TEXT }], messages: [], result: null }],
  ['errors of text', { errors: [TEXT] }],
  ['Gemini', [{ error: { code: 400, message: TEXT, status: 'INVALID_ARGUMENT' } }]],
  ['nested text', { error: { message: JSON.stringify({ error: { message: TEXT } }) } }],
  ['nested error', { error: JSON.stringify({ detail: TEXT }) }],
  [
    'OpenRouter',
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: JSON.stringify({ error: { message: TEXT } }) },
      },
    },
    `Provider returned error; ${TEXT}`,
  ],
  [
    'OpenRouter, plain',
    { error: { message: 'Provider returned error', metadata: { raw: TEXT } } },
    `Provider returned error; ${TEXT}`,
  ],
  ['error_msg', { error_code: 17, error_msg: TEXT }],
  ['msg', { code: 1, msg: TEXT, success: false }],
  ['OAuth', { error: 'invalid_request', error_description: TEXT }],
  ['flag', { error: true, message: TEXT }],
  ['problem', { type: 'about:blank', title: 'Bad Request', detail: TEXT, status: 400 }],
  ['NestJS', { statusCode: 400, message: [TEXT], error: 'Bad Request' }],
  ['faults beside', { message: 'Invalid.', details: [{ message: TEXT }] }, `Invalid.; ${TEXT}`],
  ['unnamed', { failure: { because: TEXT, id: 'a1' } }],
  ['deep', { response: { body: { error: { message: TEXT } } } }],
  ['code as text', { error: 'model_not_found' }, 'model_not_found'],
  ['plain text', TEXT],
  ['JSON text', JSON.stringify(TEXT)],
  ['event', `data: ${JSON.stringify({ error: { message: TEXT } })}\n\n`],
  ['page', `<!DOCTYPE html><html><head><title>${TEXT}</title></head><body><p>More</p></body></html>`],
  ['page without a title', `<html><body><style>p {}</style><p>${TEXT}</p></body></html>`],
]

describe('the message', () => {
  test.each(FORMS)('of %s', (_, body, message = TEXT) => {
    expect(readProviderError(typeof body === 'string' ? body : JSON.stringify(body), 400).message).toBe(message)
  })

  test.each(['', '  ', '{}', 'null', '[]', '<html>', '{"error":{}}', '{"error":{"code":5}}', '{"error":null}'])(
    'of %j contains the status',
    body => {
      expect(readProviderError(body, 502).message).toBe('The provider responded with status 502.')
    },
  )

  test('is bounded, however large and deep the body is', () => {
    const long = readProviderError(JSON.stringify({ error: { message: 'word '.repeat(100_000) } }), 500)
    expect(long.message).toHaveLength(8_192)
    const wide = (depth: number): unknown =>
      depth === 0 ? 'a b' : Array.from({ length: 12 }, () => ({ x: wide(depth - 1) }))
    expect(readProviderError({ error: wide(5) }, 500).message.length).toBeLessThanOrEqual(8_192)
    let reads = 0
    let shared: unknown = {
      get message() {
        reads++
        return 5
      },
    }
    for (let level = 0; level < 4; level++) shared = Array.from({ length: 32 }, () => shared)
    readProviderError({ error: shared }, 500)
    expect(reads).toBeLessThan(10_000)
    const deep = `${'{"error":'.repeat(5_000)}1${'}'.repeat(5_000)}`
    expect(readProviderError(deep, 500).message).toBe('The provider responded with status 500.')
  })

  test('code, type and param are those of the error', () => {
    const body = { error: { message: 'x', type: 't', code: 'c', param: 'p' }, code: 'outer' }
    expect(readProviderError(body, 400)).toMatchObject({ type: 't', code: 'c', param: 'p', status: 400 })
  })
})

const MEANINGS: [meaning: string | null, status: number | null, error: Record<string, unknown>][] = [
  [
    'moderated',
    400,
    { code: 'content_policy_violation', message: 'Your request was rejected as a result of our safety system.' },
  ],
  ['moderated', 400, { message: 'Your request was rejected as a result of our safety system.' }],
  [
    'moderated',
    400,
    {
      code: 'content_filter',
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    },
  ],
  [
    'moderated',
    403,
    { code: 403, message: 'Input was flagged', metadata: { reasons: ['violence'], flagged_input: 'x' } },
  ],
  ['moderated', 400, { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' }],
  [
    'moderated',
    400,
    { message: 'Content Exists Risk: the content was considered high risk by our content filter and rejected.' },
  ],
  ['moderated', null, { message: 'Input flagged for moderation.' }],
  [
    'quotaExhausted',
    429,
    {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded your current quota, please check your plan and billing details.',
    },
  ],
  ['quotaExhausted', 429, { message: 'You exceeded your current quota, please check your plan and billing details.' }],
  ['quotaExhausted', 402, { message: 'Insufficient Balance' }],
  ['quotaExhausted', 402, { message: 'No.' }],
  [
    'quotaExhausted',
    400,
    { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
  ],
  ['quotaExhausted', 402, { message: 'This request requires more credits, or fewer max_tokens.' }],
  ['quotaExhausted', 403, { message: 'Your newly created team has no credits yet: purchase more credits.' }],
  [
    'rateLimited',
    429,
    { message: 'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 20000, Requested 15000.' },
  ],
  [
    'rateLimited',
    429,
    { message: 'You exceeded your current quota. Please retry in 30.5s.', status: 'RESOURCE_EXHAUSTED' },
  ],
  ['rateLimited', 429, { message: 'Slow down.' }],
  ['rateLimited', 400, { __type: 'ThrottlingException', message: 'Please wait.' }],
  [
    'unknownModel',
    404,
    { code: 'model_not_found', message: 'The model `x` does not exist or you do not have access to it.' },
  ],
  ['unknownModel', 404, { type: 'not_found_error', message: 'model: claude-x' }],
  ['unknownModel', 400, { code: 400, message: 'a/b is not a valid model ID' }],
  ['unknownModel', 404, { message: 'No endpoints found for a/b.' }],
  ['unknownModel', 404, { message: "model 'x' not found, try pulling it first" }],
  ['unknownModel', 400, { type: 'invalid_model', message: 'Invalid model: x', code: '1500' }],
  ['unknownModel', 400, { message: 'Model Not Exist', code: 'invalid_request_error' }],
  ['unknownModel', 400, { message: 'The provided model identifier is invalid.' }],
  [
    'unknownModel',
    404,
    { message: 'models/x is not found for API version v1beta, or is not supported for generateContent.' },
  ],
  ['unknownModel', 404, { message: 'Not found the model x or Permission denied' }],
  ['unknownModel', 400, { code: 'model_decommissioned', message: 'The model `x` has been decommissioned.' }],
  ['overloaded', 503, { message: 'The engine is currently overloaded, please try again later.' }],
  [
    'overloaded',
    429,
    { type: 'engine_overloaded_error', message: 'The engine is currently overloaded, please try again later' },
  ],
  ['overloaded', 529, { type: 'overloaded_error', message: 'Overloaded' }],
  ['overloaded', 500, { message: 'The server is busy. Server is busy, high load.' }],
  ['overloaded', null, { type: 'overloaded_error', message: 'Overloaded' }],
  ['invalidKey', 401, { message: 'Incorrect API key provided.' }],
  ['invalidKey', 401, { message: 'Your account has been suspended for violating our content policy.' }],
  // Errors that only resemble one of the categories.
  [null, 403, { message: 'Your account has been suspended for violating our content policy.' }],
  [null, 400, { message: "Unsupported parameter: 'safety_settings'." }],
  [null, 400, { message: 'The `moderation` parameter is unknown.' }],
  [null, 400, { message: 'Tools are not supported by this model.' }],
  [null, 404, { message: 'No endpoints found that support tool use.' }],
  [null, 404, { message: 'File not found.' }],
  [null, 400, { message: 'Image input is not supported by model x.' }],
  [null, 400, { message: 'Invalid value in the request.', type: 'invalid_request_error' }],
  [null, 500, { message: 'The server had an error while processing your request.', type: 'server_error' }],
  [null, null, { message: 'The server had an error.', code: 502 }],
]

test.each(MEANINGS)('%s with status %s: %j', (meaning, status, error) => {
  expect(readProviderError({ error }, status).category).toBe(meaning)
  expect(readProviderError(JSON.stringify({ object: 'error', ...error }), status).category).toBe(meaning)
})
