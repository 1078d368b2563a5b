import { describe, expect, test } from 'vitest'
import { classify403, read403 } from '../../../src/providers/classify-403.ts'

const openRouter = (message: string, metadata?: unknown) => ({
  error: { code: 403, message, ...(metadata ? { metadata } : {}) },
})
const REGION = {
  error: {
    code: 'unsupported_country_region_territory',
    message: 'Country, region, or territory not supported',
    param: null,
    type: 'request_forbidden',
  },
}

describe('a 403 about content', () => {
  test.each<[string, unknown]>([
    [
      'OpenRouter’s moderation',
      openRouter(
        'anthropic/claude-haiku-4.5 requires moderation on Anthropic. Your input was flagged for "violence". No credits were charged.',
        {
          reasons: ['violence'],
          flagged_input: 'How do I',
          provider_name: 'Anthropic',
          model_slug: 'anthropic/claude-haiku-4.5',
        },
      ),
    ],
    [
      'OpenRouter’s moderation, in its short form',
      openRouter('Refused', { reasons: ['S1'], flagged_input: '', provider_name: 'X' }),
    ],
    [
      'OpenRouter’s terms',
      {
        ...openRouter('The request is prohibited due to a violation of provider Terms Of Service.', {
          provider_name: null,
        }),
        user_id: 'user_1',
      },
    ],
    [
      'OpenRouter’s guardrails',
      openRouter('Request blocked: prompt injection patterns detected', { error_type: 'permission_denied' }),
    ],
    ['OpenRouter’s content filter', openRouter('Output was cut', { error_type: 'content_policy_violation' })],
    ['a model’s refusal', openRouter('I cannot help', { error_type: 'refusal', provider_name: 'Z' })],
    [
      'OpenRouter’s guardrails at /messages',
      {
        type: 'error',
        error: { type: 'permission_error', message: 'Request blocked: prompt injection patterns detected' },
      },
    ],
    [
      'xAI’s guidelines, with the key’s id in the message',
      {
        code: 'The caller does not have permission to execute the specified operation',
        error:
          'Content violates usage guidelines. Team: a, API key ID: b, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO',
      },
    ],
    [
      'xAI’s guidelines, in their short form',
      { code: 'permission-denied', error: 'Content violates usage guidelines. ' },
    ],
    ['moderation that mentions credits', openRouter('Your input was flagged. No credits were charged.')],
    ['an error inside `detail`', { detail: { error: 'Input data may contain inappropriate content.' } }],
    ['Azure’s content filter', { error: { code: 'content_filter', message: 'The response was filtered' } }],
  ])('%s', (_, body) => {
    expect(classify403(JSON.stringify(body))).toBe('content')
  })
})

describe('a 403 about a model or a place', () => {
  test.each<[string, unknown]>([
    ['OpenRouter’s regions', openRouter('This model is not available in your region.')],
    [
      'the region of a provider behind OpenRouter',
      openRouter('Provider returned error', { raw: JSON.stringify(REGION), provider_name: 'OpenAI' }),
    ],
    [
      'the region of a provider behind OpenRouter, as an object',
      openRouter('Provider returned error', {
        raw: { __kind: 'OK', data: JSON.stringify(REGION) },
        provider_name: 'OpenAI',
      }),
    ],
    ['OpenAI’s supported countries', REGION],
    [
      'an OpenAI model without access',
      {
        error: {
          message: 'Project `proj_a` does not have access to model `gpt-4o`',
          type: 'invalid_request_error',
          param: null,
          code: 'model_not_found',
        },
      },
    ],
    [
      'Google’s supported locations',
      {
        error: { code: 403, message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' },
      },
    ],
    [
      'terms that are not accepted',
      { error: { code: 'model_terms_required', message: 'The model `m` requires terms acceptance by an admin.' } },
    ],
    ['a gated model', { error: 'Access to model acme/large is restricted. Ask for access.' }],
    [
      'a model for certain organizations',
      { error: { message: 'You are not allowed to sample from this model', type: 'invalid_request_error' } },
    ],
    [
      'a model for verified organizations',
      { error: { message: 'Your organization must be verified to use the model `gpt-5`.' } },
    ],
  ])('%s', (_, body) => {
    expect(classify403(JSON.stringify(body))).toBe('model')
  })
})

describe('a 403 about the key', () => {
  test.each<[string, unknown]>([
    [
      'OpenRouter’s key limit',
      openRouter('Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys'),
    ],
    [
      'OpenRouter’s budgets',
      openRouter('Budget limit exceeded', { limit_source: 'openrouter_key_limit', limit_usd: 5 }),
    ],
    ['OpenRouter’s guardrail budgets', openRouter('Request rejected', { limit_source: 'openrouter_guardrail_budget' })],
    ['OpenRouter’s permissions', openRouter('Only management keys can perform this operation')],
    [
      'Anthropic’s permissions',
      {
        type: 'error',
        error: {
          type: 'permission_error',
          message: 'Your API key does not have permission to use the specified resource.',
        },
      },
    ],
    [
      'xAI’s permissions',
      {
        code: 'permission-denied',
        error: 'Access to the chat endpoint is denied. Please ensure you’re using the correct credentials.',
      },
    ],
    [
      'xAI’s credits',
      {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Your newly created team doesn’t have any credits yet.',
      },
    ],
    [
      'OpenAI’s scopes',
      {
        error: {
          message: 'You have insufficient permissions for this operation. Missing scopes: model.request.',
          type: 'invalid_request_error',
        },
      },
    ],
    [
      'a leaked Google key',
      {
        error: {
          code: 403,
          message: 'Your API key was reported as leaked. Please use another API key.',
          status: 'PERMISSION_DENIED',
        },
      },
    ],
    [
      'an account that was suspended for its requests',
      { error: { message: 'Your account has been suspended for violating our terms of service.' } },
    ],
    [
      'a user who was blocked',
      {
        error: { code: 'user_blocked', message: 'Your access has been restricted due to repeated policy violations.' },
      },
    ],
    [
      'the aggregator’s key at a provider',
      openRouter('Provider returned error', {
        raw: '{"error":{"message":"This API key is disabled"}}',
        provider_name: 'Z',
      }),
    ],
  ])('%s', (_, body) => {
    expect(classify403(JSON.stringify(body))).toBe('key')
  })
})

test.each([
  '',
  'Forbidden',
  '<html>403 Forbidden</html>',
  '{"error":"no"}',
  'null',
  '[]',
  '{"error":{"message":"Forbidden","code":403}}',
  JSON.stringify({ error: { type: 'forbidden', message: 'Request not allowed' } }),
])('of %j is unknown', body => {
  expect(classify403(body)).toBe('unknown')
})

test('is returned unread', async () => {
  const text = JSON.stringify(REGION)
  const answer = { status: 403, headers: new Headers(), body: new Blob([text]).stream(), isStorable: () => true }
  const [blamed, again] = await read403(answer, 'openai')
  expect([blamed, again.status, await new Response(again.body).text()]).toEqual(['model', 403, text])
})
