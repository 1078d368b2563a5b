/** Sends requests as a client does, and returns the parts of responses that tests read. */
import { question } from './chat.ts'

/** A server. Its `baseUrl` ends in /v1. */
export interface ServerAddress {
  baseUrl: string
}

export interface SendOptions {
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: Headers
  cache: string | null
  text: string
  /** Null if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  json: any
}

/** Sends one chat request and reads the response to its end. A string is the prompt of a default request. */
export async function ask(
  to: ServerAddress,
  key: string,
  body: Record<string, unknown> | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = typeof body === 'string' ? question(body) : body
  return readAnswer(await post(to, key, '/chat/completions', request, { headers }))
}

/** Sends a request and returns its response unread. `path` follows `baseUrl`; a string body is sent unchanged. */
export function post(
  to: ServerAddress,
  key: string,
  path: string,
  body: Record<string, unknown> | string,
  { headers, signal }: SendOptions = {},
): Promise<Response> {
  return fetch(`${to.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
}

/** Sends a GET request, without an Authorization header if no key is given. */
export function get(
  to: ServerAddress,
  path: string,
  key?: string,
  { headers, signal }: SendOptions = {},
): Promise<Response> {
  return fetch(`${to.baseUrl}${path}`, {
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(signal ? { signal } : {}),
  })
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, cache: headers.get('x-proxy-cache'), text, json: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
