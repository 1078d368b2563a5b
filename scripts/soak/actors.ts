/** Clients of all kinds; each repeats one behaviour until it is stopped. */
import { readSlowly } from './slow-reader.ts'
import type { Tally } from './tally.ts'

export interface ActorOptions {
  port: number
  key: string
  tally: Tally
}

export interface Actors {
  /** Resolves when each has finished its current request. */
  stop(): Promise<void>
}

type Body = Record<string, unknown>
type Act = (serial: number) => Promise<void>

const MIB = 1024 * 1024
/** Number of choices in a long response: about 25 chunks each. */
const LONG = 60
/** A client that leaves does so within this time. */
const PATIENCE_MS = 150

/** Resolves when popular questions have been answered and all actors have started. */
export async function startActors({ port, key, tally }: ActorOptions): Promise<Actors> {
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let running = true
  let serial = 0

  const post = (body: Body, signal?: AbortSignal): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) })

  async function readWhole(body: Body): Promise<Response> {
    const response = await post(body)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`status ${response.status}: ${text.slice(0, 200)}`)
    const isWhole = body.stream === true ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')
    if (!isWhole) throw new Error(`an answer that is not whole: …${text.slice(-100)}`)
    return response
  }

  async function leaveMidway(body: Body): Promise<void> {
    const leaving = new AbortController()
    setTimeout(() => leaving.abort(), Math.random() * PATIENCE_MS)
    try {
      const response = await post(body, leaving.signal)
      await response.text()
    } catch (error) {
      if (!leaving.signal.aborted) throw error
    }
  }

  const askPopular = (n: number) => ask(`Describe letter ${LETTERS[n % LETTERS.length]}.`, n % 2 === 0 ? STREAM : {})

  const acts: { kind: string; actors: number; pauseMs: number; act: Act }[] = [
    {
      kind: 'streams',
      actors: 8,
      pauseMs: 100,
      act: async n => void (await readWhole(ask(`Describe stone ${n}.`, STREAM))),
    },
    {
      kind: 'left',
      actors: 8,
      pauseMs: 25,
      act: n => leaveMidway(ask(`Describe bird ${n}.`, { ...STREAM, n: 1 + (n % 3) })),
    },
    { kind: 'left plain', actors: 2, pauseMs: 50, act: n => leaveMidway(ask(`Describe fish ${n}.`)) },
    {
      kind: 'slow readers',
      actors: 12,
      pauseMs: 100,
      act: n => readSlowly(port, key, ask(`Describe tree ${n}.`, { ...STREAM, n: LONG })),
    },
    {
      kind: 'bursts',
      actors: 2,
      pauseMs: 300,
      async act(n) {
        const same = ask(`Describe cloud ${n}.`)
        const together = Array.from({ length: 12 }, (_, i) => {
          const body = i % 2 === 0 ? { ...same, ...STREAM } : same
          return i % 3 === 0 ? leaveMidway(body) : readWhole(body)
        })
        await Promise.all(together)
      },
    },
    {
      kind: 'hits',
      actors: 8,
      pauseMs: 50,
      async act(n) {
        const cache = (await readWhole(askPopular(n))).headers.get('x-proxy-cache')
        if (cache !== 'HIT') throw new Error(`X-Proxy-Cache is ${cache}`)
      },
    },
    {
      kind: '8 MiB bodies',
      actors: 2,
      pauseMs: 1_000,
      async act(n) {
        const image_url = {
          url: `data:image/png;base64,${String(n)
            .padStart(16, '0')
            .repeat((8 * MIB) / 16)}`,
        }
        const content = [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url },
        ]
        await readWhole({ ...ask('', n % 2 === 0 ? STREAM : {}), messages: [{ role: 'user', content }] })
      },
    },
  ]

  async function perform(kind: string, act: Act, pauseMs: number): Promise<void> {
    while (running) {
      try {
        await act(serial++)
        tally.count(kind)
      } catch (error) {
        tally.fail(kind, error)
        // An error that repeats must not fill the log.
        await Bun.sleep(100)
      }
      await Bun.sleep(pauseMs)
    }
  }

  for (let n = 0; n < LETTERS.length; n++) await readWhole(askPopular(n))
  const performing = acts.flatMap(({ kind, actors, act, pauseMs }) =>
    Array.from({ length: actors }, () => perform(kind, act, pauseMs)),
  )
  return {
    async stop() {
      running = false
      await Promise.all(performing)
    },
  }
}

const STREAM = { stream: true }
/** Letters, because proof treats different numbers as different questions. */
const LETTERS = Array.from({ length: 50 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(3 + i))

/** Each question has its own system message, so that no similar question is in its context. */
function ask(content: string, fields: Body = {}): Body {
  const messages = [
    { role: 'system', content: `You know all about this: ${content}` },
    { role: 'user', content },
  ]
  return { model: 'openai/gpt-4o-mini', messages, ...fields }
}
