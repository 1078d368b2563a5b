/** What the stand-in upstream is told to do, as plain data, so that another process can be told as well. */

export type JsonObject = Record<string, unknown>

/** The vendor whose wire format is spoken. */
export type Flavour = 'openai' | 'aggregator' | 'groq'

interface Timing {
  /** Before the response headers. */
  firstByteDelayMs?: number
  /** Before each chunk of a stream but the first. */
  chunkPauseMs?: number
}

export interface ScriptedToolCall {
  name: string
  /** JSON text as the model wrote it, or a value to be written as such. */
  arguments: unknown
  id?: string
}

interface Thinking {
  /** Tokens that the model thinks before its first word: billed, and never shown. */
  thinkingTokens?: number
}

interface Begun {
  /** Of the answer of which a beginning is sent; what is left out follows from the request. */
  content?: string
}

/** A whole answer, plain or streamed as the request asks; what is left out follows from the request. */
export interface AnswerScenario extends Timing, Thinking {
  kind: 'answer'
  content?: string | null
  /** Instead of `content`: this many characters of it. */
  contentChars?: number
  refusal?: string
  reasoning?: string
  toolCalls?: ScriptedToolCall[]
  /** The legacy form of a tool call. */
  functionCall?: ScriptedToolCall
  finishReason?: string
  /** Merged over the counted usage; null reports none at all. */
  usage?: JsonObject | null
  /** Fields the proxy has never seen: in the body, and in each message. */
  fields?: JsonObject
  messageFields?: JsonObject
  headers?: Record<string, string>
  gzip?: boolean
  /** The stream ends after its last chunk, without `[DONE]`. */
  withoutDone?: boolean
}

/** An error before anything was answered, in the flavour's own envelope. */
export interface ErrorScenario extends Timing {
  kind: 'error'
  status: number
  message?: string
  code?: string
  retryAfterSeconds?: number
  headers?: Record<string, string>
}

/** A 200 that turns into an error: after some chunks of a stream, or inside the body of a plain answer. */
export interface BrokenAnswerScenario extends Timing, Begun {
  kind: 'errorInAnswer'
  /** Chunks sent before it. */
  afterChunks: number
  /** `bare`: `{error}` alone; `choice`: beside a choice that ends with `error`; `event`: under `event: error`. */
  shape: 'bare' | 'choice' | 'event'
  /** Whether `[DONE]` follows all the same. */
  withDone?: boolean
}

/** The connection is cut: before the headers, or after so many chunks (or half of a plain body). */
export interface CutScenario extends Timing, Thinking, Begun {
  kind: 'cut'
  after: 'nothing' | number
}

/** Nothing more ever comes, and the connection stays open. */
export interface HangScenario extends Timing, Thinking, Begun {
  kind: 'hang'
  after: 'nothing' | number
}

/** These very bytes, each part written by itself. */
export interface RawScenario extends Timing {
  kind: 'raw'
  status?: number
  /** Of the parts: for bytes that are not valid UTF-8. */
  encoding?: 'latin1'
  /** Null omits a header that a stream has by default. */
  headers?: Record<string, string | null>
  parts: string[]
  /** What follows the parts: by default the body's end. */
  afterwards?: 'end' | 'cut' | 'hang'
}

/** A 200 whose body is not the JSON it claims to be. */
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
