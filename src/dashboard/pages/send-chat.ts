/** Sends chat requests with an API key, streamed or not, and requests explanations of cache decisions. */
import { createParser } from 'eventsource-parser'
import { preventsMatch } from '../../cache/reasons.ts'
import { ApiError, parseError } from './api.ts'
import type { WordingDifference } from './types.ts'

export type ContentPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ContentPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: ToolCall[] }
  | { role: 'tool'; content: string; tool_call_id: string }

/** The body of a chat request. All other fields are parameters of the model. */
export interface ChatBody {
  model: string
  messages: ChatMessage[]
  stream?: boolean
  [parameter: string]: unknown
}

export interface ChatRequest {
  /** The base URL of the proxy, which ends in /v1. */
  baseUrl: string
  apiKey: string
  body: ChatBody
  /** Request headers such as Cache-Control and the proxy's own. */
  headers: Record<string, string>
}

export interface ResponseStatus {
  status: number
  headers: [name: string, value: string][]
}

export interface ModelOutput {
  text: string
  toolCalls: ToolCall[]
}

/** The response of POST /v1/cache/explain. */
export interface CacheExplanation {
  semantic: {
    normalized: string
    policy: string
    threshold: number
    instructions_hash: string | null
    wording_matters: boolean
  } | null
  nearest: {
    id: string
    similarity: number
    text: string | null
    proof: string
    verdict: { verdict: string; source: string } | null
    objections: { number: string; effect: number }[]
    differences: {
      kind: string
      askedText: string
      cachedText: string
      askedAt: number
      cachedAt: number
    }[]
  }[]
  decision: { cache: 'HIT' | 'HIT-SEMANTIC' | 'MISS'; reason: string }
}

/** Calls `onOutput` with the whole output so far, each time it grows. Throws an `ApiError`. */
export async function sendChat(
  chat: ChatRequest,
  {
    onHeaders,
    onOutput,
    signal,
  }: { onHeaders(response: ResponseStatus): void; onOutput(output: ModelOutput): void; signal: AbortSignal },
): Promise<void> {
  const response = await post('/chat/completions', chat, signal)
  onHeaders({ status: response.status, headers: proxyHeaders(response.headers) })
  if (!chat.body.stream) {
    const message = (await response.json()).choices?.[0]?.message
    return onOutput({ text: message?.content ?? message?.refusal ?? '', toolCalls: message?.tool_calls ?? [] })
  }
  let output: ModelOutput = { text: '', toolCalls: [] }
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') return
      const { choices, error } = JSON.parse(data)
      if (error)
        throw new ApiError(response.status, error.code ?? 'unknown', error.message ?? 'The response was interrupted.')
      output = appendDelta(output, choices?.[0]?.delta ?? {})
      onOutput(output)
    },
  })
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    parser.feed(decoder.decode(read.value, { stream: true }))
  }
}

interface Delta {
  content?: string | null
  refusal?: string | null
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[]
}

/** Appends a chunk of a stream. A tool call arrives in parts: first its name, then its arguments. */
function appendDelta({ text, toolCalls }: ModelOutput, delta: Delta): ModelOutput {
  const calls = [...toolCalls]
  for (const { index, id, function: part } of delta.tool_calls ?? []) {
    const before = calls[index] ?? { id: '', type: 'function', function: { name: '', arguments: '' } }
    const { name, arguments: previous } = before.function
    calls[index] = {
      ...before,
      id: id || before.id,
      function: { name: part?.name || name, arguments: previous + (part?.arguments ?? '') },
    }
  }
  return { text: text + (delta.content ?? delta.refusal ?? ''), toolCalls: calls }
}

export async function explainChat(chat: ChatRequest, signal: AbortSignal): Promise<CacheExplanation> {
  const { stream: _, ...body } = chat.body
  const response = await post('/cache/explain', { ...chat, body }, signal)
  return response.json()
}

export function listWordingDifferences({
  proof,
  differences,
}: CacheExplanation['nearest'][number]): WordingDifference[] {
  return differences.map(({ kind, askedAt, askedText, cachedAt, cachedText }) => ({
    kind,
    harmless: !preventsMatch(kind, proof),
    asked_at: askedAt,
    asked_text: askedText,
    cached_at: cachedAt,
    cached_text: cachedText,
  }))
}

async function post(
  path: string,
  { baseUrl, apiKey, body, headers }: ChatRequest,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    // The API key alone identifies the caller: no session cookie is sent.
    credentials: 'omit',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  }).catch(error => {
    if (signal.aborted) throw error
    const hint = 'Check that it is running, that PUBLIC_URL is correct, and that CORS_ORIGINS allows this page.'
    throw new ApiError(0, 'unreachable', `The proxy cannot be reached at ${baseUrl}. ${hint}`)
  })
  if (response.ok) return response
  throw await parseError(response, `The proxy at ${baseUrl} responded with status ${response.status}.`)
}

/** Selects the response headers that describe how the request was handled. The proxy's own headers come first. */
function proxyHeaders(headers: Headers): [string, string][] {
  const isRelevant = (name: string) => /^(x-proxy-|x-request-id|x-ratelimit-|cache-status|age$|retry-after)/.test(name)
  return [...headers].filter(([name]) => isRelevant(name)).sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))
}

function rank(name: string): number {
  return name.startsWith('x-proxy-') ? 0 : 1
}
