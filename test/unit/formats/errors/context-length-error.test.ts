/** Provider messages about a full context, and messages that only resemble them. */
import { describe, expect, test } from 'vitest'
import { writeAnthropicContextMessage } from '../../../../src/formats/errors/context-length-error.ts'
import { readProviderError } from '../../../../src/formats/errors/provider-error.ts'

const tooLong = (prompt: number, limit: number) => `prompt is too long: ${prompt} tokens > ${limit} maximum`
const overLimit = (prompt: number, completion: number, limit: number) =>
  `input length and \`max_tokens\` exceed context limit: ${prompt} + ${completion} > ${limit}`
const PLAIN = 'prompt is too long'

/** The provider's message, and the beginning of the message that Anthropic's clients receive. */
const FULL: [message: string, anthropicMessage: string][] = [
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.",
    tooLong(150000, 128000),
  ],
  [
    "This model's maximum context length is 16,385 tokens. However, your messages resulted in 20,100 tokens. Please reduce the length of the messages.",
    tooLong(20100, 16385),
  ],
  [
    "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.",
    overLimit(230462, 32000, 262144),
  ],
  [
    "This model's maximum context length is 4097 tokens. However, you requested 4600 tokens (4000 in the messages, 600 in the completion). Please reduce the length of the messages or completion.",
    overLimit(4000, 600, 4097),
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7500 in the messages, 500 in the functions, and 1000 in the completion).",
    overLimit(8000, 1000, 8192),
  ],
  ['prompt is too long: 215692 tokens > 200000 maximum', tooLong(215692, 200000)],
  [
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    overLimit(188240, 21333, 200000),
  ],
  [
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    tooLong(1200000, 1048576),
  ],
  ['The input token count exceeds the maximum number of tokens allowed 1048576.', PLAIN],
  [
    'Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce the input token count and try again.',
    tooLong(40000, 32768),
  ],
  ['Input is too long for requested model.', PLAIN],
  [
    'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    tooLong(140000, 131072),
  ],
  ['Please reduce the length of the messages or completion.', PLAIN],
  ['the request exceeds the available context size (4096 tokens), try increasing it', PLAIN],
  ['request (13264 tokens) exceeds the available context size (4096 tokens), try increasing it', tooLong(13264, 4096)],
  ['Requested tokens (5000) exceed context window of 4096', tooLong(5000, 4096)],
  ['prompt too long; exceeded max context length by 1234 tokens', PLAIN],
  ['the input length exceeds the context length', PLAIN],
  ['too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.', tooLong(4292, 4081)],
  [
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (100000 of text input, 20000 of tool input, 20000 in the output). Please reduce the length of either one.",
    overLimit(120000, 20000, 131072),
  ],
  [
    "This endpoint's maximum context length is 200000 tokens. However, you requested about 215000 tokens (205000 of text input, 10000 in the output).",
    tooLong(205000, 200000),
  ],
  [
    '`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 512 `max_new_tokens`',
    overLimit(8000, 512, 8193),
  ],
  ['Input validation error: `inputs` must have less than 1024 tokens. Given: 1500', tooLong(1500, 1024)],
  ["This model's maximum prompt length is 131072 but the request contains 140018 tokens.", tooLong(140018, 131072)],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 9000 input tokens (32000 > 32768 - 9000).",
    overLimit(9000, 32000, 32768),
  ],
  [
    'The decoder prompt (length 9000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    tooLong(9000, 4096),
  ],
  [
    "You passed 7000 input tokens and requested 2000 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 6192 tokens. Please reduce the length of the input prompt.",
    overLimit(7000, 2000, 8192),
  ],
  ["The input (9000 tokens) is longer than the model's context length (8192 tokens).", tooLong(9000, 8192)],
  ['Your input exceeds the context window of this model. Please adjust your input and try again.', PLAIN],
  [
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens. Please reduce the length of the messages.',
    tooLong(300012, 272000),
  ],
  ['The prompt is too long: 150000, model maximum context length: 131071', tooLong(150000, 131071)],
  ['prompt token count of 150000 exceeds the limit of 128000', tooLong(150000, 128000)],
  ['Invalid request: Your request exceeded model token limit: 131072', PLAIN],
  [
    'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
    tooLong(9000, 8192),
  ],
  [
    'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
    PLAIN,
  ],
  ['the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model', tooLong(5000, 4096)],
  ['Range of input length should be [1, 129024]', PLAIN],
  ['Prompt exceeds max length', PLAIN],
  ['Context length exceeded by 808 tokens: the prompt has 9000 tokens, the limit is 8192.', tooLong(9000, 8192)],
  [
    'Your request has 9000 input tokens. The maximum context length is 8192 tokens. To send 9000 input tokens, choose another model.',
    tooLong(9000, 8192),
  ],
  ['litellm.ContextWindowExceededError: BadRequestError: x', PLAIN],
  ['Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)', tooLong(5000, 4096)],
  ['Request too large for gpt-4o model. Max size: 8000 tokens.', PLAIN],
  ['Input too long. Received 5000 tokens, but the maximum input length is 4096 tokens.', tooLong(5000, 4096)],
  ['tokens in request more than max tokens allowed', PLAIN],
  ['prompt is too long: 150000, model maximum context length: 131071', tooLong(150000, 131071)],
  ['Your conversation is too long. Please start a new one.', PLAIN],
  ['invalid params, context window exceeds limit (2013)', PLAIN],
]

/** Messages about other errors. */
const OTHER = [
  'max_tokens must be at most 4096',
  'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
  'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4',
  'The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower maximum tokens value.',
  "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 90 instead.",
  "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760.",
  "Invalid 'input': string too long. Expected a string with maximum length 10485760, but got a string with length 10500000 instead.",
  "Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 3000 instead.",
  'maximum length of 64 characters for tool name',
  'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
  'tools: Input should have at most 128 items',
  'max_tokens: Input should be less than or equal to 4096',
  'temperature: Input should be greater than or equal to 0',
  '`max_tokens` must be greater than `thinking.budget_tokens`.',
  'Request exceeds the maximum allowed number of bytes.',
  'Input audio is too long: 40 minutes',
  'Too many images in the messages: 25 > 20',
  'messages: text content blocks must be non-empty',
  'Prompt must be at most 4000 characters for this image model',
  'Request exceeded the time limit of 60 seconds for input tokens processing',
  'Invalid `max_tokens`: requested 5000 tokens but the maximum is 4096',
  'thinking budget tokens 50000 exceeds maximum 32000',
  'Function name in messages is too long: maximum 64 characters',
  'Unsupported value: temperature does not support 0.5 with this model.',
  'Invalid type for messages: expected an array.',
]

const meaningOf = (message: string, status: number, more = {}) =>
  readProviderError(JSON.stringify({ error: { message, ...more } }), status).category

describe('an exceeded context length', () => {
  test.each(FULL)('is recognized with its counts: %s', (message, told) => {
    const shown = writeAnthropicContextMessage(message)
    expect([meaningOf(message, 400), readProviderError(message, null).category]).toEqual(['fullContext', 'fullContext'])
    expect(shown.endsWith(message)).toBe(true)
    if (shown !== message) expect(shown.slice(0, -message.length)).toBe(`${told}. `)
    else expect(shown.startsWith(told)).toBe(true)
  })

  test.each(OTHER)('is not recognized in %s', message => {
    for (const status of [400, 413, 422, 500, null]) {
      const { category } = readProviderError(message, status)
      expect(category, `${status}`).not.toBe('fullContext')
    }
  })

  test('is recognized by a code alone, and with the numbers beside the message', () => {
    for (const code of ['context_length_exceeded', 'model_max_prompt_tokens_exceeded', 'ContextWindowExceededError'])
      expect(meaningOf('No.', 400, { code })).toBe('fullContext')
    const more = { type: 'exceed_context_size_error', n_prompt_tokens: 5000, n_ctx: 4096 }
    const error = readProviderError({ error: { message: 'Too much.', ...more } }, 400)
    expect(writeAnthropicContextMessage(error.message, error.counts)).toBe(`${tooLong(5000, 4096)}. Too much.`)
  })

  test('is not recognized in an error about a rate, a credit or a key', () => {
    const tpm =
      'Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.'
    expect(meaningOf(tpm, 413, { type: 'tokens', code: 'rate_limit_exceeded' })).toBe('rateLimited')
    expect(meaningOf(tpm, 413)).toBe('rateLimited')
    expect(meaningOf('Too many tokens, please wait before trying again.', 429)).toBe('rateLimited')
    expect(meaningOf('This request would exceed your rate limit of 30,000 input tokens per minute.', 429)).toBe(
      'rateLimited',
    )
    expect(meaningOf('You requested up to 65535 tokens, but can only afford 3000.', 402)).toBe('quotaExhausted')
    expect(meaningOf('Prompt tokens limit exceeded: 12000 > 10000.', 402)).toBe('quotaExhausted')
  })
})
