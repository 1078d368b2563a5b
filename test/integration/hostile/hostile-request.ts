/** What a hostile request is: its bytes, and what must come of it. */
import type { RawPart } from './raw-http.ts'

/**
 * Stands in every body, prompt and bad key: it may not come back in an error, nor reach a log. One word, for that is
 * what a parser quotes.
 */
export const MARKER = 'quokka7f3aNeverToBeRepeated'
export const MODEL = 'openai/gpt-4o-mini'

export interface HostileRequest {
  name: string
  /** The bytes, for a key that is good. */
  send(key: string): readonly RawPart[]
  /** Of each response; none where the server just hangs up. */
  statuses: readonly number[]
  /** Where the aggregator's upstream is asked instead of the sandbox, which is stricter; null: not to be sent there. */
  upstreamStatuses?: readonly number[] | null
  /** `error.code`, `error.message` and `error.param`, where they matter. */
  error?: { code?: string; message?: string; param?: string | null }
  /** Bun answers by itself what is not HTTP: without a body, and without our headers. */
  isRefusedByBun?: boolean
  /** Its limits are small, MAX_BODY_BYTES 4096 and 1.5 s for a body, and it trusts one hop in front of it. */
  isForSmallProxy?: boolean
}

export interface Sending {
  method?: string
  path?: string
  version?: string
  /** Whole header lines, added to those that every request has. */
  headers?: readonly string[]
  /** The whole Authorization line; by default the good key's; null: none. */
  authorization?: string | null
  /** The whole Content-Type line; null: none. */
  type?: string | null
  /** The whole line that frames the body; by default its Content-Length. */
  framing?: string | null
  host?: string | null
  body?: string | Uint8Array | object
}

/** Writes one request. Header lines are sent as they are, in Latin-1. */
export function write(sending: Sending): (key: string) => RawPart[] {
  const { method = 'POST', path = '/v1/chat/completions', version = 'HTTP/1.1', body = chat() } = sending
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return key => {
    const lines = [
      `${method} ${path} ${version}`,
      sending.host === undefined ? 'Host: proxy.example' : sending.host,
      sending.authorization === undefined ? `Authorization: Bearer ${key}` : sending.authorization,
      sending.type === undefined ? 'Content-Type: application/json' : sending.type,
      sending.framing === undefined ? `Content-Length: ${bytes.length}` : sending.framing,
      ...(sending.headers ?? []),
    ].filter(line => line !== null)
    return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]
  }
}

/** The body of a good chat request, with these fields over it. */
export function chat(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: MODEL, messages: [{ role: 'user', content: `What does ${MARKER} mean?` }], ...fields }
}

/** `depth` values within each other. */
export function nest(depth: number, open: string, close: string, inmost = '1'): string {
  return open.repeat(depth) + inmost + close.repeat(depth)
}
