/** Sends a recorded request directly and through the proxy, as a miss, as a hit and as its counterpart, and reports the differences. */
import type { Endpoint } from '../../src/providers/upstream.ts'
import { type Answer, compareAnswers, compareContents, withoutUnaskedUsage } from './compare.ts'
import type { Exchange } from './exchange.ts'

export interface CheckedThrough {
  /** Address of the replaying upstream, without /v1. */
  direct: string
  /** Address of the proxy, without /v1. */
  through: string
  /** Key of a project with stored keys for the providers. */
  key: string
}

const ENDPOINTS: Record<string, Endpoint> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
}

/** One line per difference; none when a client cannot tell the proxy from its upstream. */
export async function checkExchange(
  { request }: Exchange,
  { direct, through, key }: CheckedThrough,
): Promise<string[]> {
  const { path, body } = request
  const endpoint = ENDPOINTS[path]
  if (!endpoint) return [`There is nothing to compare ${path} by.`]
  // Separates this run from earlier ones.
  const namespace = { 'x-proxy-cache-namespace': crypto.randomUUID() }
  const ask = (base: string, asked: Exchange['request']['body']) =>
    send(base, request, asked, { ...namespace, authorization: `Bearer ${key}` })
  const told = await send(direct, request, body, {})
  const isTyped = endpoint === 'responses' || endpoint === 'messages'
  const expected = isTyped ? told : withoutUnaskedUsage(told, body)
  const found: string[] = []
  const note = (what: string, differences: string[]) =>
    found.push(...differences.map(difference => `${what}: ${difference}`))

  note('miss', compareAnswers(expected, await ask(through, body)))
  const again = await ask(through, body)
  if (again.headers.get('x-proxy-cache') !== 'HIT') {
    // A request that is not cached goes to the upstream again.
    note('repeat', compareAnswers(expected, again))
    return found
  }
  const isStream = body.stream === true
  note('hit', isStream ? compareContents(endpoint, body, expected, again) : compareAnswers(expected, again))
  const counterpart = await ask(through, counterpartOf(endpoint, body))
  if (counterpart.headers.get('x-proxy-cache') !== 'HIT') found.push('counterpart: not served from the cache')
  // A plain response always reports its usage.
  note('counterpart', compareContents(endpoint, body, told, counterpart))
  return found
}

/** The same request for a plain response, or for a stream that reports usage as the plain one does. */
function counterpartOf(endpoint: Endpoint, body: Exchange['request']['body']): Exchange['request']['body'] {
  const { stream, stream_options: _, ...asked } = body
  if (stream === true) return { ...asked, stream: false }
  const isTyped = endpoint === 'responses' || endpoint === 'messages'
  return { ...asked, stream: true, ...(isTyped ? {} : { stream_options: { include_usage: true } }) }
}

async function send(
  base: string,
  { method, path, headers }: Exchange['request'],
  body: unknown,
  more: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...headers, ...more },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
