/** The measured paths through the proxy: the requests and the expected responses. */
import { listQuestions } from './questions.ts'

export interface Scenario {
  /** Without /v1. */
  path: string
  /** Sent in turn; a function returns new bodies for each turn of the load. */
  bodies: string[] | (() => string[])
  headers?: Record<string, string>
  /** The expected X-Proxy-Cache: a run fails if it measures another path. */
  expects: 'HIT' | 'HIT-SEMANTIC' | 'MISS'
  /** The project's setting of the semantic cache. */
  semantic: 'on' | 'off'
  /** Requests that are sent once beforehand, so that their responses are cached. */
  learns?: readonly string[]
  /** The fake provider's behaviour. */
  upstream?: object
  /** Replaces the requested number of connections. */
  connections?: number
  /** The least length of a turn, in seconds: the duration of one response. */
  leastSeconds?: number
  /** Pause between the first requests of two connections, in milliseconds. */
  pauseMs?: number
}

const CHAT = '/chat/completions'
const QUESTIONS = 200
/** More questions than requests are sent in a turn. */
const VARIED_A_TURN = 6_000
const BATCH = 256

export const chat = (content: string, fields: object = {}) =>
  JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }], ...fields })

/** Series differ in letters, because the verifier treats different numbers as different questions. */
const questions = Array.from({ length: QUESTIONS }, (_, i) => {
  const series = String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)).repeat(2)
  return `How do I replace the water filter of a coffee machine of series ${series}?`
})
const KNOWN = questions.map(question => chat(question))
const EMBEDDED = embed(() => false)
const NEW = [chat('Tell me something about number {{n}}.')]
const STREAMED = [chat('Tell me something about number {{n}}.', { stream: true })]

/** Thrown when every prompt of a scenario has been sent once. */
export class OutOfPrompts extends Error {}

let varied: string[] | null = null
function takeVaried(): string[] {
  varied ??= listQuestions(200_000)
  if (varied.length < VARIED_A_TURN)
    throw new OutOfPrompts('every question has been sent once: reduce --rounds, --connections or --checkouts')
  return varied.splice(0, VARIED_A_TURN).map(question => chat(question))
}

/** A batch of paragraphs, some of them new in each request. */
function embed(isNew: (i: number) => boolean): string[] {
  const input = Array.from(
    { length: BATCH },
    (_, i) =>
      `Paragraph ${i} ${isNew(i) ? 'of {{n}}' : ''}, about nothing in particular, as long as those in an index.`,
  )
  return [JSON.stringify({ model: 'openai/text-embedding-3-small', input, encoding_format: 'base64' })]
}

const hit = { path: CHAT, expects: 'HIT', semantic: 'on' } as const
const miss = { path: CHAT, expects: 'MISS', semantic: 'on' } as const

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  exact: { ...hit, bodies: KNOWN, learns: KNOWN },
  semantic: {
    ...hit,
    bodies: questions.map(question => chat(question.replace('?', ', please?'))),
    learns: KNOWN,
    expects: 'HIT-SEMANTIC',
  },
  miss: { ...miss, bodies: NEW },
  // Varied prompts: the group is as large as in `miss`, but its prompts differ in more than a number.
  'miss-varied': { ...miss, bodies: takeVaried },
  'miss-off': { ...miss, bodies: NEW, semantic: 'off' },
  stream: { ...miss, bodies: STREAMED, upstream: { kind: 'answer', chunkPauseMs: 1 } },
  // Streams of some thousand events: the cost per stream is the cost of its events.
  'stream-long': {
    ...miss,
    bodies: STREAMED,
    upstream: { kind: 'answer', contentChars: 9_000, chunkPauseMs: 1 },
    connections: 20,
    leastSeconds: 8,
  },
  // Slow streams that start one after the other, the last before the first has ended: they measure memory.
  'stream-crowd': {
    ...miss,
    bodies: STREAMED,
    upstream: { kind: 'answer', contentChars: 180, chunkPauseMs: 500 },
    connections: 2_000,
    leastSeconds: 20,
    pauseMs: 3,
  },
  'embed-known': { ...hit, path: '/embeddings', bodies: EMBEDDED, learns: EMBEDDED, connections: 4 },
  'embed-half': { ...miss, path: '/embeddings', bodies: embed(i => i % 2 === 0), connections: 4 },
}
