/** Scenarios of the fake provider. They are plain data, so that another process can send them as JSON. */

export type JsonObject = Record<string, unknown>

/** The vendor whose wire format the fake provider uses. */
export type Flavour = 'openai' | 'aggregator' | 'groq'

interface Timing {
  /** The delay before the response headers. */
  firstByteDelayMs?: number
  /** The pause before each chunk of a stream except the first. */
  chunkPauseMs?: number
}

export interface ScriptedToolCall {
  name: string
  /** JSON text exactly as the model wrote it, or a value that is encoded as JSON. */
  arguments: unknown
  id?: string
}

interface Thinking {
  /** Tokens of reasoning before the first word. They are billed and never shown. */
  thinkingTokens?: number
}

interface Begun {
  /** The content of the response whose beginning is sent. By default it follows from the request. */
  content?: string
}

/** A whole response, plain or streamed as requested. Omitted fields follow from the request. */
export interface AnswerScenario extends Timing, Thinking {
  kind: 'answer'
  content?: string | null
  /** Generates content of this length, in place of `content`. */
  contentChars?: number
  refusal?: string
  reasoning?: string
  toolCalls?: ScriptedToolCall[]
  /** The legacy form of a tool call. */
  functionCall?: ScriptedToolCall
  finishReason?: string
  /** Merged over the counted usage; null omits usage. */
  usage?: JsonObject | null
  /** Fields that the proxy does not know: in the body, and in each message. */
  fields?: JsonObject
  messageFields?: JsonObject
  headers?: Record<string, string>
  gzip?: boolean
  /** The stream ends after its last chunk, without `[DONE]`. */
  withoutDone?: boolean
  /** The position in the stream at which an event that is invalid JSON is inserted. */
  malformedEventAt?: number
}

/** An error before any part of a response, in the vendor's envelope. */
export interface ErrorScenario extends Timing {
  kind: 'error'
  status: number
  message?: string
  code?: string
  retryAfterSeconds?: number
  headers?: Record<string, string>
}

/** A 200 that contains an error: after some chunks of a stream, or in the body of a plain response. */
export interface BrokenAnswerScenario extends Timing, Begun {
  kind: 'errorInAnswer'
  /** The number of chunks before the error. */
  afterChunks: number
  /** `bare`: `{error}` alone; `choice`: beside a choice that ends with `error`; `event`: with `event: error`. */
  shape: 'bare' | 'choice' | 'event'
  /** Whether `[DONE]` follows the error. */
  withDone?: boolean
}

/** The connection is cut before the headers, or after this number of chunks (or half of a plain body). */
export interface CutScenario extends Timing, Thinking, Begun {
  kind: 'cut'
  after: 'nothing' | number
}

/** The response stops, and the connection stays open. */
export interface HangScenario extends Timing, Thinking, Begun {
  kind: 'hang'
  after: 'nothing' | number
}

/** Sends exactly these bytes. Each part is a separate write. */
export interface RawScenario extends Timing {
  kind: 'raw'
  status?: number
  /** The encoding of the parts, for bytes that are not valid UTF-8. */
  encoding?: 'latin1'
  /** Null omits a default header. */
  headers?: Record<string, string | null>
  parts: string[]
  /** The action after the last part; by default the body ends. */
  afterwards?: 'end' | 'cut' | 'hang'
}

/** A 200 with a body that is invalid JSON. */
export interface InvalidJsonScenario extends Timing {
  kind: 'invalidJson'
}

export type Scenario =
  | AnswerScenario
  | ErrorScenario
  | BrokenAnswerScenario
  | CutScenario
  | HangScenario
  | RawScenario
  | InvalidJsonScenario
