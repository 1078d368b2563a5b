/** What the stand-in for Anthropic's API is told to do, as plain data. */
import type { ContentBlock, RefusalStopDetails, Usage } from '@anthropic-ai/sdk/resources/messages'

export type JsonObject = Record<string, unknown>

interface Timing {
  /** Before the response headers. */
  firstByteDelayMs?: number
  /** Before each event of a stream but the first. */
  eventPauseMs?: number
}

interface Thinking {
  /** Tokens that the model thinks before its first word: billed, and never shown. */
  thinkingTokens?: number
}

interface Begun {
  /** Of the answer of which a beginning is sent; what is left out follows from the request. */
  content?: ContentBlock[]
}

/** A whole answer, plain or streamed as the request asks; what is left out follows from the request. */
export interface AnswerScenario extends Timing, Thinking {
  kind: 'answer'
  content?: ContentBlock[]
  stopReason?: string
  stopDetails?: RefusalStopDetails
  /** Merged over the counted usage. */
  usage?: Partial<Usage>
  /** Pings between the events of a stream. */
  pings?: boolean
  headers?: Record<string, string>
}

/** An error before anything was answered. */
export interface ErrorScenario extends Timing {
  kind: 'error'
  status: number
  type: string
  message?: string
  details?: JsonObject
  headers?: Record<string, string>
}

/** A stream that turns into an error after so many events; 0: it begins with it. */
interface ErrorInStreamScenario extends Timing, Begun {
  kind: 'errorInStream'
  afterEvents: number
  type: string
  message?: string
}

/** After so many events (or half of a plain body): the connection is cut, ends as if all were said, or stays silent. */
export interface BrokenScenario extends Timing, Thinking, Begun {
  kind: 'cut' | 'endEarly' | 'hang'
  /** `nothing`: before the response headers. */
  after: 'nothing' | number
}

/** These very bytes. */
interface RawScenario extends Timing {
  kind: 'raw'
  status: number
  headers: Record<string, string>
  body: string
}

export type Scenario = AnswerScenario | ErrorScenario | ErrorInStreamScenario | BrokenScenario | RawScenario
