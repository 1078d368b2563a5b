/** One answer, read by one client library in each of the forms it comes in. */
import type { TestProxy } from '../../harness/proxy.ts'
import type { CorpusEntry } from '../../standin/corpus.ts'
import type { Standin } from '../../standin/server.ts'
import { playBody, playEntry } from './play-corpus.ts'

/** Where a client sends its requests, and what it sends them with. */
export interface Connection {
  baseURL: string
  apiKey: string
  fetch: typeof fetch
}

/** A client library: each function returns what it read, in a form that can be compared. */
export interface Reader {
  readStream(connection: Connection, entry: CorpusEntry): Promise<unknown>
  readPlain(connection: Connection, entry: CorpusEntry): Promise<unknown>
}

export interface Forms {
  /** The plain body the entry stands for, straight from upstream: what all others are to equal. */
  told: unknown
  /** The stream, straight from upstream. */
  direct: unknown
  /** The same stream by way of the proxy. */
  live: unknown
  /** Both asked for after that. */
  streamedAgain: unknown
  plainAgain: unknown
  /** X-Proxy-Cache of the last three. */
  caches: (string | null)[]
}

/** Reads an answer in all its forms, one after the other. What a client throws is a reading too. */
export async function readForms(
  reader: Reader,
  entry: CorpusEntry,
  proxy: TestProxy,
  upstream: Standin,
): Promise<Forms> {
  const caches: (string | null)[] = []
  const viaProxy = connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches)
  const toUpstream = connect(upstream.baseUrl, 'vendor-key')
  upstream.script(playBody(entry))
  const told = await attempt(reader.readPlain(toUpstream, entry))
  upstream.script(playEntry(entry))
  const direct = await attempt(reader.readStream(toUpstream, entry))
  const live = await attempt(reader.readStream(viaProxy, entry))
  // A client that throws on a chunk hangs up, perhaps before the end: then nothing was stored.
  if (hasFailed(live)) await viaProxy.readAgain()
  const streamedAgain = await attempt(reader.readStream(viaProxy, entry))
  const plainAgain = await attempt(reader.readPlain(viaProxy, entry))
  return { told, direct, live, streamedAgain, plainAgain, caches }
}

/** `caches` is told what X-Proxy-Cache said, answer by answer. */
export function connect(
  baseURL: string,
  apiKey: string,
  caches: (string | null)[] = [],
): Connection & { readAgain(): Promise<void> } {
  let send = async (): Promise<Response | null> => null
  const observed = async (input: string | URL | Request, init?: RequestInit) => {
    const { signal: _, ...again } = init ?? {}
    send = () => fetch(input, again)
    const response = await fetch(input, init)
    caches.push(response.headers.get('x-proxy-cache'))
    return response
  }
  return {
    baseURL,
    apiKey,
    fetch: Object.assign(observed, { preconnect: fetch.preconnect }),
    /** Sends the last request again, reads the answer to its end, and tells nobody. */
    async readAgain() {
      await (await send())?.text()
    },
  }
}

/** Whether its client threw. */
export function hasFailed(reading: unknown): boolean {
  return typeof reading === 'object' && reading !== null && 'failed' in reading
}

async function attempt(reading: Promise<unknown>): Promise<unknown> {
  try {
    return await reading
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}
