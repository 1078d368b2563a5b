/** Clients of a soak: each sends its own kind of request at its own pace, and records the responses by request id. */
import type { Answered, Ledger } from './ledger.ts'
import type { ProjectName, SoakProject } from './stores.ts'

export interface ClientOptions {
  /** Ports of the proxies of one installation. */
  ports: readonly number[]
  projects: Record<ProjectName, SoakProject>
  ledger: Ledger
  /** Factor of the pauses. */
  pace: number
}

export interface Clients {
  /** Resolves when each client has received its last response. */
  stop(): Promise<void>
}

interface Ask {
  project: ProjectName
  kind: string
  path: string
  body: Record<string, unknown>
  /** The client disconnects after this time if the response is not complete. */
  leavesAfterMs?: number
  /** Pause between two reads of the response. */
  readPauseMs?: number
}

interface Habit {
  clients: number
  pauseMs: number
  ask(n: number): Ask | Ask[]
}

/** Upper bound of a response's time in every outage. A hanging upstream has shorter limits of its own. */
const ANSWERED_WITHIN_MS = 60_000
const MIB = 1024 * 1024

const HABITS: Habit[] = [
  { clients: 3, pauseMs: 400, ask: n => ({ ...chat('steady', 'plain', `Describe stone ${word(n)}.`) }) },
  { clients: 3, pauseMs: 400, ask: n => chat('steady', 'stream', `Describe river ${word(n)}.`, STREAM) },
  {
    clients: 4,
    pauseMs: 250,
    ask: n => chat('steady', 'hit', `Describe letter ${word(n % 20)}.`, n % 2 ? STREAM : {}),
  },
  { clients: 1, pauseMs: 900, ask: n => together('steady', n) },
  { clients: 1, pauseMs: 700, ask: n => respondTo('steady', n) },
  { clients: 1, pauseMs: 700, ask: n => messageTo('steady', n) },
  { clients: 1, pauseMs: 700, ask: n => embed('steady', n) },
  { clients: 1, pauseMs: 5_000, ask: n => large('steady', n) },
  { clients: 1, pauseMs: 700, ask: n => pass('steady', n) },
  {
    clients: 1,
    pauseMs: 600,
    ask: n => ({
      ...chat('steady', 'slow reader', `Describe tree ${word(n)}.`, { ...STREAM, n: 40 }),
      readPauseMs: 20,
    }),
  },
  {
    clients: 3,
    pauseMs: 300,
    ask: n => leaving(chat('fickle', 'left stream', `Describe bird ${word(n)}.`, { ...STREAM, n: 1 + (n % 3) })),
  },
  { clients: 2, pauseMs: 300, ask: n => leaving(chat('fickle', 'left plain', `Describe fish ${word(n)}.`)) },
  { clients: 1, pauseMs: 900, ask: n => together('fickle', n).map((ask, i) => (i % 3 === 0 ? leaving(ask) : ask)) },
  { clients: 1, pauseMs: 700, ask: n => leaving(n % 2 ? respondTo('fickle', n) : messageTo('fickle', n)) },
  { clients: 2, pauseMs: 1_000, ask: n => chat('limited', 'limited', `Describe cloud ${word(n % 7)}.`) },
  { clients: 1, pauseMs: 600, ask: n => chat('test', 'test key', `Describe hill ${word(n)}.`, n % 2 ? STREAM : {}) },
]

export function startClients({ ports, projects, ledger, pace }: ClientOptions): Clients {
  let running = true
  let serial = 0

  async function perform(ask: Ask): Promise<void> {
    const port = ports[serial % ports.length] ?? 0
    ledger.note(await askOnce(port, projects[ask.project].key, ask))
  }

  async function live({ pauseMs, ask }: Habit): Promise<void> {
    while (running) {
      await Promise.all([ask(serial++)].flat().map(perform))
      await Bun.sleep(pace * pauseMs * (0.5 + Math.random()))
    }
  }
  const lives = HABITS.flatMap(habit => Array.from({ length: habit.clients }, () => live(habit)))
  return {
    async stop() {
      running = false
      await Promise.all(lives)
    },
  }
}

/** More different requests than any cache of a process holds. Each is sent twice, because some caches store data of hits only. */
const FILLING = 6_000
const FILLING_AT_ONCE = 8

/** Fills a process's caches to their limits before any outage, so that later memory growth has another cause. */
export async function fillCaches(port: number, key: string, ledger: Ledger): Promise<void> {
  let next = 0
  async function fill(): Promise<void> {
    for (let n = next++; n < FILLING; n = next++) {
      const ask = chat('steady', 'filling', `Describe ${spell(n)} of ${spell(n + FILLING)} for port ${spell(port)}.`)
      for (let times = 0; times < 2; times++) ledger.note(await askOnce(port, key, ask))
    }
  }
  await Promise.all(Array.from({ length: FILLING_AT_ONCE }, fill))
}

/** Returns a distinct word for each number. */
function spell(n: number): string {
  return n.toString(26).replace(/[\da-p]/g, digit => String.fromCharCode(97 + Number.parseInt(digit, 26)))
}

async function askOnce(port: number, key: string, ask: Ask): Promise<Answered> {
  const id = crypto.randomUUID()
  const leaving = new AbortController()
  const timer = setTimeout(() => leaving.abort(), ask.leavesAfterMs ?? ANSWERED_WITHIN_MS)
  const noted = {
    id,
    port,
    project: ask.project,
    kind: ask.kind,
    startedAtMs: Date.now(),
    status: 0,
    code: null,
    isBusy: false,
    isWhole: false,
  }
  const end = (rest: Partial<Answered>): Answered => ({ ...noted, hasLeft: false, endedAtMs: Date.now(), ...rest })
  let status = 0
  try {
    const response = await fetch(`http://127.0.0.1:${port}${ask.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id },
      body: JSON.stringify(ask.body),
      signal: leaving.signal,
    })
    status = response.status
    const text = await readText(response, ask.readPauseMs ?? 0)
    const isWhole = status === 200 && isComplete(text, ask)
    const isBusy = status === 503 && response.headers.has('retry-after')
    return end({ status, code: codeOf(text), isBusy, isWhole, ...(isWhole ? {} : { detail: text.slice(-200) }) })
  } catch (error) {
    const hasLeft = leaving.signal.aborted && ask.leavesAfterMs !== undefined
    return end({ status, hasLeft, detail: error instanceof Error ? error.message : String(error) })
  } finally {
    clearTimeout(timer)
  }
}

async function readText(response: Response, pauseMs: number): Promise<string> {
  if (pauseMs === 0) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    await Bun.sleep(pauseMs)
  }
  return text
}

const ENDS: Record<string, RegExp> = {
  // A provider that omits `[DONE]` may still have sent everything.
  '/v1/chat/completions': /data: \[DONE\]\n\n$|"finish_reason":"stop"(?![\s\S]*"error")/,
  '/v1/responses': /event: response\.completed\n/,
  '/v1/messages': /event: message_stop\n/,
}

function isComplete(text: string, { path, body }: Ask): boolean {
  if (body.stream === true) return ENDS[path]?.test(text) ?? false
  try {
    // Aggregators report a provider's failure inside a 200.
    return !('error' in JSON.parse(text)) || path === '/v1/responses'
  } catch {
    return false
  }
}

function codeOf(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; type?: string } }
    return error?.code ?? error?.type ?? null
  } catch {
    return null
  }
}

const STREAM = { stream: true }
const run = crypto.randomUUID().slice(0, 8)

/** A distinct word for each number, because the verifier treats different numbers as different questions. */
function word(n: number): string {
  return n.toString(36).replace(/\d/g, digit => 'ghijklmnop'[Number(digit)] ?? '') + run.replace(/[^a-z]/g, '')
}

function chat(project: ProjectName, kind: string, content: string, fields: Record<string, unknown> = {}): Ask {
  const messages = [
    { role: 'system', content: `You know all about this: ${content}` },
    { role: 'user', content },
  ]
  return { project, kind, path: '/v1/chat/completions', body: { model: 'openai/gpt-4o-mini', messages, ...fields } }
}

/** Several concurrent requests with the same question: one upstream call serves all. */
function together(project: ProjectName, n: number): Ask[] {
  const ask = chat(project, 'together', `Describe wind ${word(n)}.`)
  return Array.from({ length: 6 }, (_, i) => (i % 2 ? { ...ask, body: { ...ask.body, ...STREAM } } : ask))
}

function respondTo(project: ProjectName, n: number): Ask {
  const body = { model: 'openai/gpt-4o-mini', input: `Describe road ${word(n)}.`, ...(n % 4 > 1 ? STREAM : {}) }
  return { project, kind: 'responses', path: '/v1/responses', body }
}

function messageTo(project: ProjectName, n: number): Ask {
  const messages = [{ role: 'user', content: `Describe lake ${word(n)}.` }]
  const body = { model: 'openai/gpt-4o-mini', max_tokens: 200, messages, ...(n % 4 > 1 ? STREAM : {}) }
  return { project, kind: 'messages', path: '/v1/messages', body }
}

function embed(project: ProjectName, n: number): Ask {
  const input = Array.from({ length: 5 }, (_, i) => (i < 3 ? `fixed ${i}` : `text ${word(n)} ${i}`))
  return {
    project,
    kind: 'embeddings',
    path: '/v1/embeddings',
    body: { model: 'openai/text-embedding-3-small', input },
  }
}

function pass(project: ProjectName, n: number): Ask {
  const about = { project, kind: 'passed on' }
  return n % 2
    ? { ...about, path: '/v1/moderations', body: { input: `text ${word(n)}` } }
    : { ...about, path: '/v1/rerank', body: { model: 'cohere/rerank-v3.5', query: word(n), documents: ['one', 'two'] } }
}

function large(project: ProjectName, n: number): Ask {
  const url = `data:image/png;base64,${String(n)
    .padStart(16, '0')
    .repeat((2 * MIB) / 16)}`
  const ask = chat(project, '2 MiB body', '')
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url } },
  ]
  return { ...ask, body: { ...ask.body, messages: [{ role: 'user', content }] } }
}

function leaving(ask: Ask): Ask {
  return { ...ask, leavesAfterMs: Math.random() * 150 }
}
