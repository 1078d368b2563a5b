/** A recorded exchange with an upstream, without secrets: one request and its response, in one JSON file. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalizeBody } from '../../src/formats/json/canonical.ts'

export interface Exchange {
  /** The provider, whose key the proxy uses. */
  provider: 'openai' | 'anthropic' | 'groq' | 'aggregator'
  request: {
    method: string /** The path includes /v1. */
    path: string
    headers: Record<string, string>
    body: Record<string, unknown>
  }
  /** A stream's body is a list of events, each with its final empty line. */
  response: { status: number; headers: Record<string, string>; body: string | string[] }
}

/** The repository's own exchanges. */
export const OWN_FOLDER = new URL('../../test/fixtures/exchanges', import.meta.url).pathname

export async function readExchanges(folder = OWN_FOLDER): Promise<{ name: string; exchange: Exchange }[]> {
  const files = readdirSync(folder)
    .filter(file => file.endsWith('.json'))
    .sort()
  return Promise.all(
    files.map(async file => ({
      name: file.replace(/\.json$/, ''),
      exchange: await Bun.file(join(folder, file)).json(),
    })),
  )
}

export async function writeExchange(folder: string, exchange: Exchange): Promise<string> {
  const { request } = exchange
  const family = request.path.replace(/^\/v1\//, '').replaceAll('/', '-')
  const form = request.body.stream === true ? 'stream' : 'plain'
  const digest = Bun.SHA256.hash(matchKey(request), 'hex').slice(0, 8)
  const file = join(folder, `${family}-${form}-${digest}.json`)
  await Bun.write(file, `${JSON.stringify(exchange, null, 2)}\n`)
  return file
}

export function bodyText({ body }: Exchange['response']): string {
  return typeof body === 'string' ? body : body.join('')
}

/** Equal for requests with the same response: the proxy asks for usage in every stream. */
export function matchKey({ method, path, body }: Pick<Exchange['request'], 'method' | 'path' | 'body'>): string {
  const { stream_options: _, stream, ...asked } = body
  return `${method} ${path} ${stream === true} ${canonicalizeBody(asked, new Set())}`
}
