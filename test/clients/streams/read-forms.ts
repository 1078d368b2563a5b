/** One response, read by one client library in each of its forms. */

import type { CorpusEntry } from '../../fake-provider/corpus.ts'
import type { FakeProvider } from '../../fake-provider/server.ts'
import type { TestProxy } from '../../harness/proxy.ts'
import { plainBodyScenario, scriptOfEntry } from './play-corpus.ts'

/** The base URL, key and fetch function of a client. */
export interface Connection {
  baseURL: string
  apiKey: string
  fetch: typeof fetch
}

/** A client library. Each function returns the parsed response in a comparable form. */
export interface Reader {
  readStream(connection: Connection, entry: CorpusEntry): Promise<unknown>
  readPlain(connection: Connection, entry: CorpusEntry): Promise<unknown>
}

export interface Forms {
  /** The entry's plain body, directly from the provider. All other forms must equal it. */
  told: unknown
  /** The stream, directly from the provider. */
  direct: unknown
  /** The same stream through the proxy. */
  live: unknown
  /** Later requests for the stream and for the plain form. */
  streamedAgain: unknown
  plainAgain: unknown
  /** X-Proxy-Cache of the last three. */
  caches: (string | null)[]
}

/** Reads a response in all forms, one after the other. An error that the client throws is also a result. */
export async function readForms(
  reader: Reader,
  entry: CorpusEntry,
  proxy: TestProxy,
  upstream: FakeProvider,
): Promise<Forms> {
  const caches: (string | null)[] = []
  const viaProxy = connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches)
  const toUpstream = connect(upstream.baseUrl, 'vendor-key')
  upstream.script(plainBodyScenario(entry))
  const told = await attempt(reader.readPlain(toUpstream, entry))
  upstream.script(scriptOfEntry(entry))
  const direct = await attempt(reader.readStream(toUpstream, entry))
  const live = await attempt(reader.readStream(viaProxy, entry))
  // A client that throws on a chunk disconnects, possibly before the end. In that case the response is not stored.
  if (hasFailed(live)) await viaProxy.readAgain()
  const streamedAgain = await attempt(reader.readStream(viaProxy, entry))
  const plainAgain = await attempt(reader.readPlain(viaProxy, entry))
  return { told, direct, live, streamedAgain, plainAgain, caches }
}

/** Appends X-Proxy-Cache of each response to `caches`. */
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
    /** Sends the last request again and reads the response to its end, without recording it in `caches`. */
    async readAgain() {
      await (await send())?.text()
    },
  }
}

/** Returns whether the client threw. */
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
