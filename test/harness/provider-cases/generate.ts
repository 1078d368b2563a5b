/** Chat responses of every shape, complete or broken, for properties that hold at every endpoint. */
import fc from 'fast-check'
import type { Mode } from '../outcomes/outcome.ts'
import type { ProviderResponseBytes } from './case.ts'
import { chunk, DONE, frame, JSON_TYPE, ROLE, STREAM, usageChunk } from './write-bytes.ts'

type Fields = Record<string, unknown>

/** A part of a response: its deltas, and the unique texts that they contain. */
interface Part {
  deltas: Fields[]
  texts: string[]
}

export interface GeneratedResponse {
  mode: Mode
  sent: ProviderResponseBytes
  texts: string[]
}

/** Long enough to be unique. Shrinking is disabled, because shorter marks could repeat. */
const mark = fc.noShrink(fc.stringMatching(/^[a-z]{8}$/)).map(word => `${word}é`)

const text = mark.map((visible): Part => ({ deltas: [{ content: visible }], texts: [visible] }))
const parts = fc.tuple(mark, mark).map(([visible, thought]): Part => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: thought }] },
    { type: 'text', text: visible },
  ]
  return { deltas: [{ content }], texts: [visible, thought] }
})
const reasoning = fc.tuple(mark, fc.constantFrom('reasoning', 'reasoning_content')).map(([thought, name]): Part => {
  return { deltas: [{ [name]: thought }], texts: [thought] }
})
const pictures = mark.map((name): Part => {
  const url = `data:image/png;base64,${Buffer.from(name).toString('base64url')}`
  return { deltas: [{ images: [{ type: 'image_url', image_url: { url }, index: 0 }] }], texts: [url] }
})
const audio = fc.tuple(mark, mark).map(([data, transcript]): Part => {
  return {
    deltas: [{ audio: { id: 'audio_1', data, transcript, expires_at: 1_790_000_000 } }],
    texts: [data, transcript],
  }
})
const annotations = mark.map((name): Part => {
  const url = `https://example.com/${encodeURIComponent(name)}`
  const url_citation = { url, title: name, start_index: 0, end_index: 1 }
  return { deltas: [{ annotations: [{ type: 'url_citation', url_citation }] }], texts: [url, name] }
})
const unknown = mark.map((seal): Part => ({ deltas: [{ provenance: { seal } }], texts: [seal] }))
const refusal = mark.map((refused): Part => ({ deltas: [{ refusal: refused }], texts: [refused] }))

/** A tool call in one piece or in two; `index` is its position. */
const call = fc.record({ command: mark, isCut: fc.boolean() })
const calls = fc.array(call, { minLength: 1, maxLength: 3 }).map((all): Part => {
  const pieces = all.flatMap(({ command, isCut }, index) => {
    const args = JSON.stringify({ command })
    const at = isCut ? 5 : args.length
    const begun = {
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name: 'run', arguments: args.slice(0, at) },
    }
    return isCut ? [begun, { index, function: { arguments: args.slice(at) } }] : [begun]
  })
  return { deltas: pieces.map(piece => ({ tool_calls: [piece] })), texts: all.map(({ command }) => command) }
})

const answer: fc.Arbitrary<Part[]> = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.oneof(text, text, reasoning), { minLength: 1, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.tuple(parts) },
  { weight: 3, arbitrary: fc.tuple(text, fc.oneof(pictures, audio, annotations, unknown)) },
  { weight: 3, arbitrary: fc.oneof(fc.tuple(calls), fc.tuple(text, calls), fc.tuple(reasoning, calls)) },
  { weight: 1, arbitrary: fc.tuple(refusal) },
  { weight: 1, arbitrary: fc.tuple(pictures) },
  { weight: 1, arbitrary: fc.constant<Part[]>([]) },
)

const FINISHES = [
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'error',
  'network_error',
  'MAX_TOKENS',
  'safety',
  null,
]
const finish = fc.oneof({ weight: 3, arbitrary: fc.constant('stop') }, fc.constantFrom(...FINISHES))

const counts = fc.record({ prompt: fc.integer({ min: 1, max: 9000 }), completion: fc.integer({ min: 1, max: 2000 }) })
const goodUsage = fc.tuple(counts, fc.nat(500), fc.nat(500)).map(([{ prompt, completion }, cached, hidden]) => ({
  prompt_tokens: prompt + cached,
  completion_tokens: completion,
  total_tokens: prompt + cached + completion + hidden,
  prompt_tokens_details: { cached_tokens: cached },
}))
const odd = fc.constantFrom<unknown>(undefined, null, 0, -7, '12', 'many', '', true, {}, [], [3], 1e30, 1.5, '1e400')
const mangledUsage: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, {}, [], 'many', 7, { tokens: 3 }, { usage: { prompt_tokens: 3 } }),
  fc.record({
    prompt_tokens: odd,
    completion_tokens: odd,
    total_tokens: odd,
    cost: fc.constantFrom<unknown>(undefined, undefined, 0, null, -1, 'free', '0', {}),
    prompt_tokens_details: fc.constantFrom<unknown>(
      undefined,
      null,
      { cached_tokens: 99_999 },
      { cached_tokens: '3' },
      5,
    ),
    completion_tokens_details: fc.constantFrom<unknown>(undefined, null, { reasoning_tokens: null }, 'none'),
    cached_tokens: fc.constantFrom<unknown>(undefined, undefined, 1e9, -1),
  }),
)

/** The fault in the bytes: `cut` is the share that is sent. */
const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'whole' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'noDone' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('error' as const),
      at: fc.nat(4),
      error: fc.constantFrom<unknown>('overloaded', { message: 'overloaded', code: 502 }),
    }),
  },
)

interface Drawn {
  parts: Part[]
  finish: string | null
  usage: unknown
  mode: Mode
  fate: { kind: 'whole' | 'noDone' } | { kind: 'cut'; at: number } | { kind: 'error'; at: number; error: unknown }
}

const mode = fc.constantFrom<Mode>('streamed', 'plain')

/** Any response, complete or broken. */
export const anyResponse: fc.Arbitrary<GeneratedResponse> = fc
  .record<Drawn>({
    parts: answer,
    finish,
    usage: fc.oneof(goodUsage, goodUsage, mangledUsage, fc.constant('none')),
    mode,
    fate,
  })
  .map(write)

/** A complete response with text, and with incomplete usage. */
export const textWithMangledUsage: fc.Arbitrary<GeneratedResponse> = fc
  .record<Drawn>({
    parts: fc.tuple(text),
    finish: fc.constant('stop'),
    usage: fc.oneof({ weight: 9, arbitrary: mangledUsage }, fc.constant('none')),
    mode,
    fate: fc.constant({ kind: 'whole' as const }),
  })
  .map(write)

function write(drawn: Drawn): GeneratedResponse {
  const texts = drawn.parts.flatMap(part => part.texts)
  const whole = drawn.mode === 'streamed' ? writeStream(drawn) : writeBody(drawn)
  const body = drawn.fate.kind === 'cut' ? cut(whole, drawn.fate.at) : whole
  const contentType = drawn.mode === 'streamed' ? STREAM : JSON_TYPE
  return { mode: drawn.mode, sent: { status: 200, contentType, body }, texts }
}

function writeStream({ parts: drawn, finish: reason, usage, fate: after }: Drawn): string {
  const frames = [
    ROLE,
    ...drawn.flatMap(part => part.deltas.map(delta => chunk(delta))),
    chunk({}, reason),
    ...(usage === 'none' ? [] : [usageChunk(usage)]),
  ]
  if (after.kind === 'error') return frames.slice(0, after.at).join('') + frame({ error: after.error }) + DONE
  return frames.join('') + (after.kind === 'noDone' ? '' : DONE)
}

function writeBody({ parts: drawn, finish: reason, usage, fate: after }: Drawn): string {
  const deltas = drawn.flatMap(part => part.deltas)
  const message = deltas.reduce<Fields>((grown, delta) => merge(grown, delta), { role: 'assistant', content: null })
  const choices = [{ index: 0, message, finish_reason: reason }]
  const error = after.kind === 'error' ? { error: after.error } : {}
  return JSON.stringify({ id: 'chatcmpl-1', choices, ...(usage !== 'none' && { usage }), ...error })
}

function merge(message: Fields, { tool_calls, ...delta }: Fields): Fields {
  const merged = { ...message }
  for (const [name, value] of Object.entries(delta)) {
    merged[name] = typeof value === 'string' ? `${merged[name] ?? ''}${value}` : value
  }
  for (const piece of (tool_calls ?? []) as { index: number; function: Fields }[]) {
    const { index, ...called } = piece
    const known = [...((merged.tool_calls ?? []) as { function: Fields }[])]
    const begun = known[index]
    known[index] = begun
      ? {
          ...begun,
          function: { ...begun.function, arguments: `${begun.function.arguments}${piece.function.arguments}` },
        }
      : called
    merged.tool_calls = known
  }
  return merged
}

function cut(body: string, at: number): string {
  return body.slice(0, Math.floor(at * body.length))
}
