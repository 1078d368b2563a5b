/** A request for every endpoint that calls a provider, and its cost. */
import { TARGETS_BY_PATH } from '../../src/http/paths.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { traitsOf } from '../../src/providers/stored-object-collections.ts'
import { post, type ServerAddress } from './client.ts'
import { GEMINI_PATHS, geminiContent } from './gemini-paths.ts'
import { COLLECTIONS } from './stored-object-paths.ts'

/** A response of this many tokens costs about one cent, at 0.6 US dollars per million. */
export const MAX_CHAT_TOKENS = 16_384
const CHAT = { model: 'gpt-4o-mini', service_tier: 'default' }
/** A Claude response of this many tokens costs one cent, at 5 US dollars per million. */
export const MAX_CLAUDE_TOKENS = 2_000
const ask = (content: string) => [{ role: 'user', content }]

export interface EndpointCase {
  path: string
  /** A different `n` gives a different request. `inputFile` is the id of a batch's input file. */
  body(n: number, inputFile: string): Record<string, unknown>
  /** The cost of the fake provider's response, in US dollars. Null: the model has no price and the response is a 400. 0: free. */
  usd: number | null
}

/** The judge has no path: each process reserves its cost with an SQL function. */
export const JUDGE: EndpointCase = { path: 'judge', body: () => ({}), usd: 0.01 }
const SAMPLES_A_SECOND = 512

/** Returns a WAV file with one byte per sample. All bytes are ASCII, so that a string holds the same bytes. */
function sound(n: number, seconds: number): string {
  const head = 'RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\x02\0\0\0\x02\0\0\x01\0\x08\0data\0\0\0\0'
  return (head + String(n)).padEnd(seconds * SAMPLES_A_SECOND, 'x')
}

export function sendToEndpoint(
  to: ServerAddress,
  key: string,
  endpoint: EndpointCase,
  n: number,
  inputFile: string,
): Promise<Response> {
  return postJsonOrForm(to, key, endpoint.path, endpoint.body(n, inputFile))
}

/** Sends a body with a file as a form, every other body as JSON. */
export function postJsonOrForm(
  to: ServerAddress,
  key: string,
  path: string,
  body: Record<string, unknown> | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  if (typeof body === 'string' || typeof body.file !== 'string') return post(to, key, path, body, { headers })
  const form = new FormData()
  form.set('model', String(body.model))
  form.set('file', new File([body.file], 'sound.wav'))
  return fetch(`${to.baseUrl}${path}`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}` },
    body: form,
  })
}

export const ENDPOINT_CASES: readonly EndpointCase[] = [
  {
    path: '/chat/completions',
    body: n => ({ ...CHAT, messages: ask(`Number ${n}?`), max_tokens: MAX_CHAT_TOKENS }),
    usd: MAX_CHAT_TOKENS * 0.6e-6,
  },
  {
    path: '/chat/completions',
    body: n => ({ ...CHAT, messages: ask(`${n}?`), max_tokens: MAX_CHAT_TOKENS, stream: true }),
    usd: MAX_CHAT_TOKENS * 0.6e-6,
  },
  {
    path: '/completions',
    body: n => ({ model: 'gpt-3.5-turbo-instruct', prompt: `Number ${n}`, max_tokens: 4_000 }),
    usd: 4_000 * 2e-6,
  },
  {
    path: '/responses',
    body: n => ({ ...CHAT, input: `Number ${n}?`, max_output_tokens: MAX_CHAT_TOKENS }),
    usd: MAX_CHAT_TOKENS * 0.6e-6,
  },
  {
    path: '/responses/compact',
    body: n => ({ model: 'gpt-4o-mini', input: `Number ${n}` }),
    usd: MAX_CHAT_TOKENS * 0.6e-6,
  },
  {
    path: '/messages',
    body: n => ({ model: 'claude-haiku-4-5', max_tokens: MAX_CLAUDE_TOKENS, messages: ask(`Number ${n}?`) }),
    usd: MAX_CLAUDE_TOKENS * 5e-6,
  },
  {
    path: '/embeddings',
    // The proxy reserves by bytes; the response reports fewer tokens.
    body: n => ({
      model: 'text-embedding-3-large',
      input: Array.from({ length: 8 }, (_, i) => `${n} ${i} `.padEnd(8_000, 'word ')),
    }),
    usd: 12_800 * 0.13e-6,
  },
  { path: '/images/generations', body: n => ({ model: 'gpt-image-1', prompt: `Number ${n}` }), usd: 1_056 * 40e-6 },
  {
    path: '/images/edits',
    body: n => ({ model: 'gpt-image-1', prompt: `Number ${n}`, image: 'x' }),
    usd: 1_056 * 40e-6,
  },
  { path: '/images/variations', body: () => ({ model: 'dall-e-2', image: 'x' }), usd: null },
  {
    path: '/audio/speech',
    body: n => ({ model: 'tts-1', voice: 'alloy', input: String(n).padEnd(700, 'x') }),
    usd: 700 * 15e-6,
  },
  {
    path: '/audio/transcriptions',
    body: n => ({ model: 'whisper-1', file: sound(n, 100) }),
    usd: 3 * 100e-6,
  },
  {
    path: '/audio/translations',
    body: n => ({ model: 'whisper-1', file: sound(n, 100) }),
    // The duration in the fake provider's verbose JSON.
    usd: 2.5 * 100e-6,
  },
  { path: '/moderations', body: n => ({ model: 'omni-moderation-latest', input: `Number ${n}` }), usd: 0 },
  { path: '/rerank', body: () => ({ model: 'cohere/rerank-v3.5', query: 'x', documents: ['x'] }), usd: null },
  {
    path: '/batches',
    body: (_, inputFile) => ({ input_file_id: inputFile, endpoint: '/v1/chat/completions', completion_window: '24h' }),
    // The batch does not finish during the race, so its cost stays reserved.
    usd: (MAX_CHAT_TOKENS * 0.6e-6) / 2,
  },
  {
    path: '/messages/batches',
    body: n => {
      const params = { model: 'claude-haiku-4-5', max_tokens: MAX_CLAUDE_TOKENS, messages: ask(`Number ${n}?`) }
      return { requests: [{ custom_id: 'a', params }] }
    },
    usd: (MAX_CLAUDE_TOKENS * 5e-6) / 2,
  },
  ...['generateContent', 'streamGenerateContent'].map(method => ({
    path: `/v1beta/models/gpt-4o-mini:${method}`,
    body: (n: number) => ({
      contents: [geminiContent(`Number ${n}?`)],
      generationConfig: { maxOutputTokens: MAX_CHAT_TOKENS },
    }),
    usd: MAX_CHAT_TOKENS * 0.6e-6,
  })),
  {
    path: '/v1beta/models/text-embedding-3-large:embedContent',
    body: n => ({ content: geminiContent(`${n} `.padEnd(40_000, 'word ')) }),
    usd: 8_000 * 0.13e-6,
  },
  {
    path: '/v1beta/models/text-embedding-3-large:batchEmbedContents',
    body: n => ({
      requests: Array.from({ length: 8 }, (_, i) => ({ content: geminiContent(`${i} ${n} `.padEnd(8_000, 'word ')) })),
    }),
    usd: 12_800 * 0.13e-6,
  },
  { path: '/realtime', body: () => ({}), usd: null },
  JUDGE,
]
export const PAID_ENDPOINTS = ENDPOINT_CASES.filter(({ usd }) => usd !== null && usd > 0)

/** All endpoints that call a provider, read from the routing tables. Requests about a file are free and not included. */
export const PROVIDER_ENDPOINTS = [
  ...Object.entries(TARGETS_BY_PATH).flatMap(([path, { kind }]) =>
    kind === 'endpoint' || kind === 'realtime' ? path.slice(3) : [],
  ),
  ...GEMINI_PATHS.filter(path => !path.endsWith(':countTokens')).map(path => path.slice(3)),
  ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/${operation}`),
  ...COLLECTIONS.map(traitsOf).flatMap(({ path, actions }) => (actions['']?.POST?.startsBatch ? [path] : [])),
  JUDGE.path,
]

/** Uploads a batch input of one request. Returns its file id. */
export async function uploadBatchInput({ baseUrl }: ServerAddress, key: string): Promise<string> {
  const body = { ...CHAT, messages: ask('Line?'), max_tokens: MAX_CHAT_TOKENS }
  const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body })
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([line], 'in.jsonl'))
  const headers = { authorization: `Bearer ${key}` }
  const file = await fetch(`${baseUrl}/files`, { method: 'POST', headers, body: form })
  return ((await file.json()) as { id: string }).id
}
