/** Catalogue entries for malformed requests, keys, and limits. */
import { CLOSE_CONNECTION, defineErrors, type ErrorDefinition, RETRY_SOON } from './error-definition.ts'

export const CLIENT_ERRORS = {
  // Malformed requests.
  ...defineErrors(400, 'invalid_request_error', {
    invalidRequest: {
      description: 'The body is not a JSON object in UTF-8, or is invalid in a way that concerns no single field.',
      message: '{problem}',
    },
    invalidField: {
      description: 'A field or header has an invalid value, or one that the model’s provider does not support.',
      message: '{problem}',
      param: '{param}',
    },
    invalidHost: {
      description:
        'The request’s URL cannot be parsed: the Host header is not one host name and port, or the method is CONNECT.',
      message:
        'The URL of your request cannot be parsed: the Host header must be one host name, optionally with a port.',
      param: 'Host',
      headers: CLOSE_CONNECTION,
    },
    nullCharacter: {
      description: 'A text to search for or to store contains U+0000.',
      message: 'Text must not contain the character U+0000. Remove it.',
    },
    invalidId: {
      description:
        'A field that refers to a stored object, such as a file, contains an empty id or one of more than 256 characters.',
      message: '{param} must be an ID of 1 to 256 characters. If there is no object to refer to, omit the field.',
      param: '{param}',
    },
  }),
  tooManyInputs: {
    status: 400,
    code: 'array_above_max_length',
    description: 'An embeddings request has more inputs than OpenAI accepts at once.',
    message:
      "Invalid 'input': array too long. Expected an array with maximum length {most}, but instead got an array with length {count}.",
    param: 'input',
  },
  embeddingsTooLarge: {
    status: 400,
    code: 'response_too_large',
    description:
      'The response to an embeddings request would be larger than the proxy writes: its inputs times their dimensions, as `float` or `base64`.',
    message:
      "Invalid 'input': {inputs} inputs of {dimensions} dimensions make {count} numbers; one response contains at most {most} as {format}. Send fewer inputs at a time, or ask for encoding_format base64.",
    param: 'input',
  },
  inputTooLong: {
    status: 400,
    code: 'context_length_exceeded',
    description: 'One input of an embeddings request has more tokens than OpenAI’s models accept.',
    message:
      "This model's maximum context length is {most} tokens, however you requested {tokens} tokens ({tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    param: 'input',
  },
  inputsTooLong: {
    status: 400,
    code: 'max_tokens_per_request',
    type: 'max_tokens_per_request',
    description: 'The inputs of an embeddings request have more tokens in total than OpenAI accepts at once.',
    message: 'Requested {tokens} tokens, max {most} tokens per request',
    param: 'input',
  },
  bodyTooSlow: {
    status: 408,
    code: 'request_timeout',
    description: 'The body did not arrive in time.',
    message: 'The body of your request did not arrive within {seconds} seconds.',
    headers: CLOSE_CONNECTION,
  },
  bodyTooLarge: {
    status: 413,
    code: 'request_too_large',
    description: 'The body is larger than MAX_BODY_BYTES, after decoding if it is compressed.',
    message: 'The body of your request is larger than {maxBytes} bytes.',
    headers: CLOSE_CONNECTION,
  },
  wrongContentType: {
    status: 415,
    code: 'unsupported_media_type',
    description: 'The body’s Content-Type is not JSON, nor a form where the endpoint accepts forms.',
    message: 'Content-Type must be {forms}application/json.',
    param: 'Content-Type',
  },
  requestRejected: {
    status: 400,
    code: 'request_refused',
    description:
      'The installation’s [hook](hooks.md) rejected the request: no provider was called, and no cached response was used.',
    message: '{reason}',
  },
  responseRejected: {
    status: 400,
    code: 'answer_refused',
    description: 'The installation’s [hook](hooks.md) rejected the response. The provider charges for it.',
    message: '{reason}',
  },
  tooLargeForHook: {
    status: 413,
    code: 'too_long_to_check',
    description:
      'The request (or request plus response) exceeds `HOOK_MAX_BYTES`, and the [hook](hooks.md) is set to fail closed.',
    message:
      'The request and its response are too long for this installation’s hook, which checks at most {mostBytes} bytes in total. Send a shorter request.',
  },
  unsupportedContentEncoding: {
    status: 415,
    code: 'unsupported_media_type',
    description: 'The body is compressed in a way that is not supported, or more than three times.',
    message: 'Content-Encoding must be gzip, deflate, br or zstd, or a list of at most three of them.',
    param: 'Content-Encoding',
    headers: { 'accept-encoding': 'gzip, deflate, br, zstd' },
  },
  undecodableBody: {
    status: 400,
    code: 'invalid_request_error',
    description: 'The body cannot be decoded by its Content-Encoding, or is truncated.',
    message: 'The request body could not be decoded as {coding}.',
    param: 'Content-Encoding',
    headers: CLOSE_CONNECTION,
  },

  // Keys and limits.
  missingKey: {
    status: 401,
    code: 'missing_api_key',
    description: 'The request has no API key.',
    message: 'Missing API key',
  },
  invalidKey: {
    status: 401,
    code: 'invalid_api_key',
    description: 'The key is malformed, was never issued, or has expired.',
    message: 'Invalid API key',
  },
  disabledKey: {
    status: 403,
    code: 'api_key_disabled',
    description: 'The key is deactivated.',
    message: 'API key disabled',
  },
  addressNotAllowed: {
    status: 403,
    code: 'address_not_allowed',
    description: 'The key’s `allowed_addresses` do not include the address that the request comes from.',
    message:
      'This key may not be used from {address}. Have an owner of the project add the address to the key’s allowed_addresses, or send the request from one of them.',
  },
  feedbackNotAllowed: {
    status: 403,
    code: 'permission_denied',
    description: 'The project’s setting `cache_feedback` does not permit API keys to give feedback on matches.',
    message:
      'API keys of this project may not judge matches: its setting cache_feedback is {setting}. Judge in the dashboard or with an admin key, or set cache_feedback to any to let API keys judge.',
  },
  ...defineErrors(429, 'rate_limit_exceeded', {
    keyResting: {
      description:
        'The provider has limited the rate of the model with this provider key, and gets no requests for it until the time that it stated.',
      message: 'Upstream {provider} has limited the rate of this model; try again in {seconds} s.',
      headers: { 'retry-after': '{seconds}' },
    },
    rateLimited: {
      description:
        'The key, or the client’s address within the project, has reached its limit for the last 60 seconds.',
      message: 'Rate limit exceeded',
      headers: {
        'retry-after': '{seconds}',
        'x-ratelimit-limit-requests': '{limit}',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '{seconds}s',
      },
    },
    tokenRateLimited: {
      type: 'tokens',
      description: 'The request may use more tokens than the key has left in this minute. Cache hits are still served.',
      message:
        'Rate limit exceeded: this key may use {limit} tokens a minute, and this request may use {tokens}. Wait, or set a smaller max_tokens.',
      headers: { 'retry-after': '{seconds}' },
    },
    tooManyTokens: {
      type: 'tokens',
      description: 'The request may use more tokens than its key may use in a whole minute.',
      message:
        'This request can use up to {tokens} tokens, but its key is limited to {limit} tokens per minute. Set a smaller max_tokens, or send a shorter request.',
      headers: { 'x-should-retry': 'false' },
    },
    edgeRateLimited: {
      description:
        'The client’s address has requested health or models too often, or has sent too many invalid admin keys or sessions.',
      message: 'Rate limit exceeded',
      headers: { 'retry-after': '{seconds}' },
    },
  }),
  tooManyConcurrentRequests: {
    status: 429,
    code: 'concurrent_requests_exceeded',
    description: 'The key has as many requests in progress in this process as its plan allows.',
    message: 'Too many requests at the same time: this key may have {limit} in progress',
    headers: RETRY_SOON,
  },
  monthlyQuotaExceeded: {
    status: 429,
    code: 'monthly_quota_exceeded',
    description: 'The project has used up its requests for the month.',
    message: 'Monthly quota exceeded',
    // A short wait does not help, but OpenAI's clients would retry.
    headers: { 'x-should-retry': 'false' },
  },
  budgetExceeded: {
    status: 429,
    code: 'insufficient_quota',
    type: 'insufficient_quota',
    description:
      'The request may cost more than what is left of a budget of its project, key, model or tag, or of the organization. Cache hits are still served, unless `when_exhausted` is `refuse`.',
    message:
      'Budget exceeded: {budget}; {until}. {left} is left, and this request may use up to {most}. Set a lower max_tokens, and for hosted tools a lower max_uses or max_tool_calls, to reserve less.',
    headers: { 'x-should-retry': 'false' },
  },
  budgetReserved: {
    status: 429,
    code: 'budget_reserved',
    description:
      'The budget is not spent, but one of these applies: requests in flight have reserved so much that this one does not fit, even after waiting for 5 seconds; its key has reserved the share of the project’s budgets that one key may reserve (`budget_key_share`); or its project has reserved the share of the organization’s budgets that one project may reserve (80%). Cache hits are still served.',
    message:
      'Budget reserved by requests in flight: of {budget}, {spent} is spent, and {reserved} is reserved by {holders}. This request may use up to {most}. Try again in {seconds} seconds, or set a lower max_tokens, and for hosted tools a lower max_uses or max_tool_calls, to reserve less.',
    headers: { 'retry-after': '{seconds}' },
  },
  ...defineErrors(400, 'model_not_priced', {
    unknownPrice: {
      description: 'A budget applies, and the catalogue has no price of a model by this name.',
      message:
        'No price is known for {model}.{hint} A budget in {unit} applies, so only models with a price can be used: correct the name, or have an operator add the price to the catalogue.',
      param: 'model',
    },
    unpricedModel: {
      description:
        'A budget applies, and the maximum cost of the request is not known: the catalogue lacks the price of a tool, a tier or another part of it, or the model’s maximum output.',
      message:
        'A budget in {unit} applies, and the maximum cost of this request to {model} is not known, because the catalogue lacks {missing}. Remove that part of the request or set max_tokens; if that is not enough, have an operator add the price and limits to the catalogue.',
      param: 'model',
    },
  }),
} as const satisfies Record<string, ErrorDefinition>
