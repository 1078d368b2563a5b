/** What the pipeline needs to know about a provider's response: whether it may be stored, what it used, and whether it is a failure. */
import { isUtf8 } from 'node:buffer'
import type { ProxyErrorOptions } from '../errors/errors.ts'
import type { GatheredBytes } from '../event-loop/gather-bytes.ts'
import { Job, offLoop } from '../event-loop/off-loop.ts'
import type { Held } from '../event-loop/stream-memory.ts'
import type { AnswerFormat, AssembledStream } from '../formats/answer-format.ts'
import { type Completeness, isUpstreamFailure } from '../formats/chat/completeness.ts'
import { type FormattedEndpoint, formatOf } from '../formats/format-of.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { type PlainBody, readPlainBody } from '../formats/read-plain-body.ts'
import { describeFailure } from '../formats/response-failure.ts'
import { markZeros, type TokenUsage } from '../formats/token-usage.ts'
import type { Wanted } from '../formats/wanted.ts'
import { MAX_PLAIN_BYTES, readBytes } from './read-bytes.ts'

/** An error as plain data: a worker may have read it. */
export type ReadFailure = Required<Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>>

export interface ResponseReading {
  completeness: Completeness
  callsTools: boolean
  /** As reported; null when it was not, or cannot be read. */
  usage: TokenUsage | null
  /** Whether anything to show or to run has come. */
  hasBegun: boolean
  /** Whether it may have used something without that: it ended in order, or goes on elsewhere. */
  mayHaveBegun: boolean
  /** Whether the model had finished, however: only then is a usage, which some providers report as they go, that of all. */
  hasEnded: boolean
  /** Null for an error in its place. */
  id: unknown
  /** The model that it names. */
  model: unknown
  /** The service tier that it names; null where it names none. */
  tier: string | null
  /** The model's text, when its tokens have to be counted. */
  text: string
  /** The provider's failure, if the response is one. */
  failure: ReadFailure | null
  /** Kinds of parts that the client's format has no place for. */
  omitted: readonly string[]
}

export interface PlainReading extends ResponseReading {
  /** In the client's format. */
  bytes: Uint8Array
}

export interface ResponseInput {
  endpoint: FormattedEndpoint
  wanted: Wanted
}

const READ = new Job<ResponseInput & { parts: readonly Uint8Array[] }, PlainReading>(
  new URL('./jobs.ts', import.meta.url),
  'readResponse',
)

/** Reads and judges a whole plain response, a long one in a worker. Throws a 502 when it is too long, or breaks off. */
export async function readPlain(
  body: ReadableStream<Uint8Array>,
  provider: string,
  { owner, held, ...input }: ResponseInput & { owner: number; held?: Held | undefined },
): Promise<PlainReading> {
  const bytes = await readBytes(body, provider, MAX_PLAIN_BYTES, held)
  return 'whole' in bytes ? judgePlain(bytes.whole, input) : await judgeAside(bytes.gathered, input, owner)
}

function judgeAside(gathered: GatheredBytes, input: ResponseInput, owner: number): Promise<PlainReading> {
  return offLoop.run(READ, { parts: gathered.parts, ...input }, { owner, transfer: gathered.buffers })
}

export function judgePlain(bytes: Uint8Array, { endpoint, wanted }: ResponseInput): PlainReading {
  const format = formatOf(endpoint)
  const read = readPlainBody(bytes, () => format.createAssembler(wanted))
  const reading = judge(format, read, wanted)
  // Entries are stored as text, so they must be valid UTF-8.
  const completeness = reading.completeness === 'whole' && !isUtf8(bytes) ? 'not_utf8' : reading.completeness
  const isRewritten = read && (format.normalize?.(read.body) || read.stream)
  return { ...reading, completeness, bytes: isRewritten ? encode(read.body) : bytes }
}

const NOTHING: PlainBody = { body: {}, stream: null }

/** Judges a response in the format that its provider sent. `read` null: its body is neither JSON nor an event stream. */
export function judge(format: AnswerFormat, read: PlainBody | null, wanted: Wanted): ResponseReading {
  const { body, stream } = read ?? NOTHING
  const completeness = stream?.completeness ?? (read ? format.completenessOf(body, wanted) : 'not_an_answer')
  const usage = stream?.usage ?? body.usage ?? null
  return judgeAssembled(format, { body, completeness, usage, error: stream?.error ?? null })
}

export function judgeAssembled(format: AnswerFormat, assembled: AssembledStream): ResponseReading {
  const { body, usage: reported, completeness } = assembled
  const usage = format.readUsage(reported, body)
  const hasEnded = format.hasEnded(body)
  return {
    completeness,
    callsTools: format.callsTools(body),
    usage,
    hasBegun: format.hasBegun(body),
    // A model that has ended in order has read its prompt, and may have thought; a response in the background has only begun to.
    mayHaveBegun: body.background === true || (hasEnded && !isUpstreamFailure(completeness)),
    hasEnded,
    id: body.id ?? null,
    model: body.model,
    tier: typeof body.service_tier === 'string' ? body.service_tier : null,
    text: hasEnded && isWhole(usage) ? '' : format.textOf(body),
    failure: isUpstreamFailure(completeness) ? readFailure(assembled) : null,
    omitted: [],
  }
}

/** Whether nothing in it has to be counted. */
function isWhole(usage: TokenUsage | null): boolean {
  return usage !== null && !markZeros(usage, { hasOutput: true }).missing
}

function readFailure(assembled: AssembledStream): ReadFailure {
  const { status, code, message, type } = describeFailure(assembled)
  return { status, code, message, type }
}

export function encode(body: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(body))
}
