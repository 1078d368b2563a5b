/** A small proxy that records the exchanges between a client and an upstream. */
import { type Exchange, writeExchange } from './exchange.ts'
import { secretsOf, stripRequestHeaders, stripResponseHeaders, stripText } from './strip-secrets.ts'

export interface RecorderOptions {
  /** The upstream's address, without /v1. */
  upstream: string
  provider: Exchange['provider']
  /** The folder for the exchanges. */
  folder: string
  /** Any free port by default. */
  port?: number
  onWritten?(file: string): void
}

/** Starts it on 127.0.0.1; its address ends in /v1. */
export function startRecorder({ upstream, provider, folder, port = 0, onWritten }: RecorderOptions) {
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    // An upstream may take minutes.
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const text = await request.text()
      const headers = new Headers(request.headers)
      for (const name of ['host', 'connection', 'content-length', 'accept-encoding']) headers.delete(name)
      headers.set('accept-encoding', 'identity')
      const answer = await fetch(`${upstream}${pathname}${search}`, {
        method: request.method,
        headers,
        redirect: 'manual',
        ...(text === '' ? {} : { body: text }),
      })
      const body = await answer.text()
      const secrets = secretsOf(request.headers)
      const about = {
        provider,
        method: request.method,
        path: pathname,
        asked: request.headers,
        answered: answer.headers,
      }
      const exchange = writeDown({
        ...about,
        text: stripText(text, secrets),
        status: answer.status,
        body: stripText(body, secrets),
      })
      if (exchange) onWritten?.(await writeExchange(folder, exchange))
      const passed = new Headers(answer.headers)
      for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) passed.delete(name)
      return new Response(body, { status: answer.status, headers: passed })
    },
  })
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) }
}

interface Passed {
  provider: Exchange['provider']
  method: string
  path: string
  asked: Headers
  answered: Headers
  text: string
  status: number
  body: string
}

/** Null for a request without JSON, which a replay could not match. */
function writeDown({ provider, method, path, asked, answered, text, status, body }: Passed): Exchange | null {
  const parsed = parse(text)
  if (parsed === null) return null
  const isStream = answered.get('content-type')?.includes('text/event-stream') ?? false
  return {
    provider,
    request: { method, path, headers: stripRequestHeaders(asked), body: parsed },
    response: {
      status,
      headers: stripResponseHeaders(answered),
      body: isStream ? body.split(/(?<=\r?\n\r?\n)(?!\r?\n)/) : body,
    },
  }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
