/** Sends one chat request with an API key, as any client would, streamed or not, and asks the cache to explain itself. */
import { createParser } from 'eventsource-parser'
import { ApiError } from './api.ts'
import type { WordingDifference } from './types.ts'

export interface Chat {
  /** The proxy's; ends in /v1. */
  baseUrl: string
  apiKey: string
  model: string
  message: string
  stream: boolean
  /** Request headers such as Cache-Control and the proxy's own. Empty ones are not sent. */
  headers: Record<string, string>
}

export interface Answered {
  status: number
  headers: [name: string, value: string][]
}

/** The response of POST /v1/cache/explain. */
export interface Explanation {
  semantic: { normalized: string; policy: string; threshold: number } | null
  nearest: {
    id: string
    similarity: number
    text: string
    proof: string
    verdict: { verdict: string; source: string } | null
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

/** Calls `onText` with the whole text so far, each time it grows. Throws an ApiError. */
export async function sendChat(
  chat: Chat,
  {
    onHeaders,
    onText,
    signal,
  }: { onHeaders(answered: Answered): void; onText(text: string): void; signal: AbortSignal },
): Promise<void> {
  const response = await post('/chat/completions', chat, { stream: chat.stream }, signal)
  onHeaders({ status: response.status, headers: proxyHeaders(response.headers) })
  if (!chat.stream) return onText((await response.json()).choices?.[0]?.message?.content ?? '')
  let text = ''
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') return
      text += JSON.parse(data).choices?.[0]?.delta?.content ?? ''
      onText(text)
    },
  })
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    parser.feed(decoder.decode(read.value, { stream: true }))
  }
}

export async function explainChat(chat: Chat, signal: AbortSignal): Promise<Explanation> {
  const response = await post('/cache/explain', chat, {}, signal)
  return response.json()
}

export function toDifferences({ proof, differences }: Explanation['nearest'][number]): WordingDifference[] {
  return differences.map(({ kind, askedAt, askedText, cachedAt, cachedText }) => ({
    kind,
    harmless: proof === 'normalized' || proof === 'verified',
    asked_at: askedAt,
    asked_text: askedText,
    cached_at: cachedAt,
    cached_text: cachedText,
  }))
}

async function post(path: string, chat: Chat, fields: object, signal: AbortSignal): Promise<Response> {
  const { baseUrl, apiKey, model, message } = chat
  const given = Object.entries(chat.headers).filter(([, value]) => value !== '')
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    // The API key alone identifies the caller: no session cookie is sent.
    credentials: 'omit',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...Object.fromEntries(given) },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: message }], ...fields }),
    signal,
  }).catch(error => {
    if (signal.aborted) throw error
    const hint = 'It must run there (PUBLIC_URL), and take requests of this page (CORS_ORIGINS).'
    throw new ApiError(0, 'unreachable', `The proxy cannot be reached at ${baseUrl}. ${hint}`)
  })
  if (response.ok) return response
  const reported = (await response.json().catch(() => null))?.error
  const unsaid = `The proxy at ${baseUrl} answered with status ${response.status}.`
  throw new ApiError(response.status, reported?.code ?? 'unknown', reported?.message ?? unsaid)
}

/** Headers that tell how the request was answered, the proxy's own first. */
function proxyHeaders(headers: Headers): [string, string][] {
  const isOfProxy = (name: string) => /^(x-proxy-|x-request-id|x-ratelimit-|cache-status|age$|retry-after)/.test(name)
  return [...headers].filter(([name]) => isOfProxy(name)).sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))
}

function rank(name: string): number {
  return name.startsWith('x-proxy-') ? 0 : 1
}
