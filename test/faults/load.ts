/** Clients that send requests in a loop, partly repeated and partly new ones, and record each result. */
import { question } from '../harness/chat.ts'
import { post } from '../harness/client.ts'

/** The contract's limit of one second, and two seconds for delays of clients on a busy machine. A hanging request takes longer. */
export const ANSWERED_WITHIN_MS = 3_000

export interface Load {
  /** The results of all finished requests. */
  readonly results: readonly LoadResult[]
  /** Resolves once every client has its last response. */
  stop(): Promise<void>
}

export interface LoadResult {
  /** In milliseconds of `performance.now()`. */
  startedAtMs: number
  endedAtMs: number
  /** 0: no response. */
  status: number
  cache: string | null
  /** OpenAI's error code. */
  code: string | null
}

/** Returns up to five results that took too long, with their times; an empty list if there are none. */
export function findSlow(results: readonly LoadResult[], limitMs: number) {
  const beganAtMs = results[0]?.startedAtMs ?? 0
  return results
    .filter(result => result.endedAtMs - result.startedAtMs >= limitMs)
    .slice(0, 5)
    .map(({ startedAtMs, endedAtMs, status, cache }) => ({
      startedAfterMs: Math.round(startedAtMs - beganAtMs),
      tookMs: Math.round(endedAtMs - startedAtMs),
      status,
      cache,
    }))
}

export interface LoadOptions {
  baseUrl: string
  key: string
  clients?: number
  /** The pause between a response and the client's next request. */
  pauseMs?: number
}

/** Longer than a request waits during a deploy. `findSlow` reports slow requests. */
const HANGS_AFTER_MS = 30_000

/** Every third request is new; the others repeat this many prompts. */
const REPEATED = 24

export function startLoad({ baseUrl, key, clients = 32, pauseMs = 20 }: LoadOptions): Load {
  const results: LoadResult[] = []
  let running = true
  let serial = 0

  async function run(): Promise<void> {
    while (running) {
      const n = serial++
      const prompt = n % 3 === 0 ? `Describe ${crypto.randomUUID()}.` : `Describe city ${CITIES[n % REPEATED]}.`
      results.push(await measure(baseUrl, key, prompt))
      await Bun.sleep(pauseMs)
    }
  }
  const ended = Array.from({ length: clients }, run)
  return {
    results,
    async stop() {
      running = false
      await Promise.all(ended)
    },
  }
}

const CITIES = Array.from({ length: REPEATED }, (_, i) => String.fromCharCode(97 + i).repeat(5))

async function measure(baseUrl: string, key: string, prompt: string): Promise<LoadResult> {
  const startedAtMs = performance.now()
  try {
    const signal = AbortSignal.timeout(HANGS_AFTER_MS)
    const response = await post({ baseUrl }, key, '/chat/completions', question(prompt), { signal })
    const body = (await response.json()) as { error?: { code: string } }
    return {
      startedAtMs,
      endedAtMs: performance.now(),
      status: response.status,
      cache: response.headers.get('x-proxy-cache'),
      code: body.error?.code ?? null,
    }
  } catch {
    return { startedAtMs, endedAtMs: performance.now(), status: 0, cache: null, code: null }
  }
}
