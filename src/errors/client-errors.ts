/** The catalogue's errors with a status from 400 to 499: what the client can change. */
import { type CatalogueEntry, CLOSE } from './catalogue-entry.ts'

export const CLIENT_ERRORS = {
  // What is wrong with the request.
  invalidRequest: {
    status: 400,
    code: 'invalid_request_error',
    when: 'The body is not one JSON object in UTF-8, or is not well formed in another way that concerns no single field.',
    message: '{problem}',
  },
  invalidField: {
    status: 400,
    code: 'invalid_request_error',
    when: 'A field or a header has a value that cannot be taken, or that the model’s provider has no equal of.',
    message: '{problem}',
    param: '{param}',
  },
  tooManyInputs: {
    status: 400,
    code: 'array_above_max_length',
    when: 'An embeddings request has more inputs than OpenAI takes at once.',
    message:
      "Invalid 'input': array too long. Expected an array with maximum length {most}, but instead got an array with length {count}.",
    param: 'input',
  },
  inputTooLong: {
    status: 400,
    code: 'context_length_exceeded',
    when: 'One input of an embeddings request has more tokens than OpenAI’s models read.',
    message:
      "This model's maximum context length is {most} tokens, however you requested {tokens} tokens ({tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    param: 'input',
  },
  inputsTooLong: {
    status: 400,
    code: 'max_tokens_per_request',
    type: 'max_tokens_per_request',
    when: 'The inputs of an embeddings request have more tokens in all than OpenAI takes at once.',
    message: 'Requested {tokens} tokens, max {most} tokens per request',
    param: 'input',
  },
  bodyTooSlow: {
    status: 408,
    code: 'request_timeout',
    when: 'The body did not arrive in time.',
    message: 'The body of your request did not arrive within {seconds} seconds.',
    headers: CLOSE,
  },
  bodyTooLarge: {
    status: 413,
    code: 'request_too_large',
    when: 'The body is larger than MAX_BODY_BYTES.',
    message: 'The body of your request is larger than {maxBytes} bytes.',
    headers: CLOSE,
  },
  wrongContentType: {
    status: 415,
    code: 'unsupported_media_type',
    when: 'The body is announced as something else than JSON.',
    message: 'Content-Type must be application/json.',
    param: 'Content-Type',
  },
  compressedBody: {
    status: 415,
    code: 'unsupported_media_type',
    when: 'The body is compressed.',
    message: 'Content-Encoding is not supported: send the body uncompressed.',
    param: 'Content-Encoding',
  },

  // Who may ask, and how often.
  missingKey: {
    status: 401,
    code: 'missing_api_key',
    when: 'The request carries no key.',
    message: 'Missing API key',
  },
  invalidKey: {
    status: 401,
    code: 'invalid_api_key',
    when: 'The key does not have the form of a service key, or nobody has been issued it.',
    message: 'Invalid API key',
  },
  disabledKey: {
    status: 403,
    code: 'api_key_disabled',
    when: 'The key has been deactivated.',
    message: 'API key disabled',
  },
  rateLimited: {
    status: 429,
    code: 'rate_limit_exceeded',
    when: 'The key, or the client’s address within the project, has used up its requests of the last 60 seconds.',
    message: 'Rate limit exceeded',
    headers: {
      'retry-after': '{seconds}',
      'x-ratelimit-limit-requests': '{limit}',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '{seconds}s',
    },
  },
  edgeRateLimited: {
    status: 429,
    code: 'rate_limit_exceeded',
    when: 'The client’s address has asked for health or for the list of models too often.',
    message: 'Rate limit exceeded',
    headers: { 'retry-after': '{seconds}' },
  },
  monthlyQuotaExceeded: {
    status: 429,
    code: 'monthly_quota_exceeded',
    when: 'The project has used up its requests of the month.',
    message: 'Monthly quota exceeded',
    // Waiting a moment does not help, and OpenAI's clients would.
    headers: { 'x-should-retry': 'false' },
  },

  // Where the request leads.
  endpointElsewhere: {
    status: 404,
    code: 'not_found',
    when: 'The path is an endpoint of OpenAI’s or Anthropic’s that the proxy does not have.',
    message: 'This proxy has no /v1/{endpoint}: it belongs to {api}. {advice}',
  },
  pathUnknown: {
    status: 404,
    code: 'not_found',
    when: 'There is nothing at the path.',
    message:
      'There is nothing at this path. Requests go to /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/models or /v1/health: set your client’s base address to end in /v1.',
  },
  methodNotAllowed: {
    status: 405,
    code: 'method_not_allowed',
    when: 'The path is right and the method is not.',
    message: 'This path takes {allowed} alone.',
    headers: { allow: '{allowed}' },
  },
  modelUnknown: {
    status: 404,
    code: 'model_not_found',
    when: 'No provider has a model of this name, and the project has stored no keys.',
    message: 'Model {model} is not known. Name it <vendor>/<model>, for example openai/gpt-4o-mini.',
    param: 'model',
  },
  modelNotNative: {
    status: 404,
    code: 'model_not_found',
    when: 'The name has no vendor, and is none of the providers’ whose keys the project has stored.',
    message:
      'Model {model} is not one of the {count} native models of {providers}, such as {similar}. GET /v1/models lists what this key can use; other models are named <vendor>/<model>, for example openai/gpt-4o-mini.',
    param: 'model',
  },
  modelNeedsKey: {
    status: 404,
    code: 'model_not_found',
    when: 'The name is a provider’s own, and the project has stored no key for that provider.',
    message:
      'Model {model} is a native name of {providers}, for which this project has stored no key. Store one, or use {alternative} to reach the aggregator.',
    param: 'model',
  },
  providerKeyRemoved: {
    status: 404,
    code: 'model_not_found',
    when: 'The project’s key for the provider was removed while the request was on its way.',
    message: "The project's {provider} key has just been removed.",
    param: 'model',
  },
  modelNotListed: {
    status: 404,
    code: 'model_not_found',
    when: '`GET /v1/models/<name>` asks for a model that the catalogue does not have.',
    message: 'Model {model} is not in the catalogue. GET /v1/models lists what this key can use.',
    param: 'model',
  },
  endpointUnsupported: {
    status: 404,
    code: 'unsupported_endpoint',
    when: 'The model’s provider does not have the endpoint.',
    message: "{vendor}'s models answer POST /v1/chat/completions alone, not /v1/{endpoint}.",
    param: 'model',
  },
} as const satisfies Record<string, CatalogueEntry>
