/** A hostile request: its bytes, and the expected outcome. */
import type { RawPart } from './raw-http.ts'

/**
 * Is part of every body, prompt and invalid key. It must not be repeated in an error or a log. It is one word, because parsers quote a
 * word.
 */
export const MARKER = 'quokka7f3aNeverToBeRepeated'
export const MODEL = 'openai/gpt-4o-mini'

export interface HostileRequest {
  name: string
  /** The bytes to send with a valid key. */
  send(key: string): readonly RawPart[]
  /** The status of each response; empty if the server only closes the connection. */
  statuses: readonly number[]
  /** The statuses with the aggregator's upstream instead of the sandbox, which is stricter; null if the request is not sent there. */
  upstreamStatuses?: readonly number[] | null
  /** The expected `error.code`, `error.message` and `error.param`, where they matter. */
  error?: { code?: string; message?: string; param?: string | null }
  /** Bun rejects invalid HTTP by itself, without a body and without the proxy's headers. */
  isRefusedByBun?: boolean
  /** Sent to the proxy with small limits: MAX_BODY_BYTES 4096 and 1.5 s for a body. It trusts one hop. */
  isForSmallProxy?: boolean
}

export interface Sending {
  method?: string
  path?: string
  version?: string
  /** Header lines that are added to those of every request. */
  headers?: readonly string[]
  /** The Authorization line; the valid key's by default; null omits it. */
  authorization?: string | null
  /** The Content-Type line; null omits it. */
  type?: string | null
  /** The line that frames the body; its Content-Length by default. */
  framing?: string | null
  host?: string | null
  body?: string | Uint8Array | object
}

/** Encodes a request. Header lines are sent unchanged, in Latin-1. */
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

/** The body of a valid chat request, with these fields replaced. */
export function chat(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: MODEL, messages: [{ role: 'user', content: `What does ${MARKER} mean?` }], ...fields }
}

/** Nests `depth` values. */
export function nest(depth: number, open: string, close: string, inmost = '1'): string {
  return open.repeat(depth) + inmost + close.repeat(depth)
}
