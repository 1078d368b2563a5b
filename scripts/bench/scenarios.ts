/** The paths through the proxy that are measured: what is asked, and how it must be answered. */
import { listQuestions } from './questions.ts'

export interface Scenario {
  /** After /v1. */
  path: string
  /** Sent in turn; of a function, anew for each turn of the load. */
  bodies: string[] | (() => string[])
  headers?: Record<string, string>
  /** The expected X-Proxy-Cache, because measuring the wrong path is worse than not measuring. */
  expects: 'HIT' | 'HIT-SEMANTIC' | 'MISS'
  /** The project's semantic cache. */
  semantic: 'on' | 'off'
  /** Asked once before, so that their answers are kept. */
  learns?: readonly string[]
  /** What the upstream does. */
  upstream?: object
  /** Instead of those that are asked for. */
  connections?: number
  /** What one of its answers takes. */
  leastSeconds?: number
  /** Pause between the first requests of two connections. */
  pauseMs?: number
}

const CHAT = '/chat/completions'
const QUESTIONS = 200
/** More than are asked in a turn. */
const VARIED_A_TURN = 6_000
const BATCH = 256

export const chat = (content: string, fields: object = {}) =>
  JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }], ...fields })

/** Letters, because proof treats different numbers as different questions. */
const questions = Array.from({ length: QUESTIONS }, (_, i) => {
  const series = String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)).repeat(2)
  return `How do I replace the water filter of a coffee machine of series ${series}?`
})
const KNOWN = questions.map(question => chat(question))
const EMBEDDED = embed(() => false)
const NEW = [chat('Tell me something about number {{n}}.')]
const STREAMED = [chat('Tell me something about number {{n}}.', { stream: true })]

/** Every prompt of a scenario has been sent once. */
export class OutOfPrompts extends Error {}

let varied: string[] | null = null
function takeVaried(): string[] {
  varied ??= listQuestions(200_000)
  if (varied.length < VARIED_A_TURN)
    throw new OutOfPrompts(
      'Every question has been asked once: fewer --rounds, --connections or --checkouts take fewer',
    )
  return varied.splice(0, VARIED_A_TURN).map(question => chat(question))
}

/** A batch of paragraphs, some of them new each time. */
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
  // As people ask: the group is as large, its prompts differ in more than a number.
  'miss-varied': { ...miss, bodies: takeVaried },
  'miss-off': { ...miss, bodies: NEW, semantic: 'off' },
  stream: { ...miss, bodies: STREAMED, upstream: { kind: 'answer', chunkPauseMs: 1 } },
  // Some thousand events each: what they cost is the cost of an event.
  'stream-long': {
    ...miss,
    bodies: STREAMED,
    upstream: { kind: 'answer', contentChars: 9_000, chunkPauseMs: 1 },
    connections: 20,
    leastSeconds: 8,
  },
  // Slow ones, begun one after the other, and the last before the first has ended: what they cost is memory.
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
