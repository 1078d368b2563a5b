/** Scenarios of the fake Anthropic API, as plain data. */
import type { ContentBlock, RefusalStopDetails, Usage } from '@anthropic-ai/sdk/resources/messages'

export type JsonObject = Record<string, unknown>

interface Timing {
  /** The delay before the response headers. */
  firstByteDelayMs?: number
  /** The pause before each event of a stream except the first. */
  eventPauseMs?: number
}

interface Thinking {
  /** Tokens of reasoning before the first word. They are billed and never shown. */
  thinkingTokens?: number
}

interface Begun {
  /** The content of the response whose beginning is sent. By default it follows from the request. */
  content?: ContentBlock[]
}

/** A whole response, plain or streamed as requested. Omitted fields follow from the request. */
export interface AnswerScenario extends Timing, Thinking {
  kind: 'answer'
  content?: ContentBlock[]
  stopReason?: string
  stopDetails?: RefusalStopDetails
  /** Merged over the counted usage. */
  usage?: Partial<Usage>
  /** Sends pings between the events of a stream. */
  pings?: boolean
  headers?: Record<string, string>
}

/** An error before any part of a response. */
export interface ErrorScenario extends Timing {
  kind: 'error'
  status: number
  type: string
  message?: string
  details?: JsonObject
  headers?: Record<string, string>
}

/** A stream with an error after this number of events; 0: the error is the first event. */
interface ErrorInStreamScenario extends Timing, Begun {
  kind: 'errorInStream'
  afterEvents: number
  type: string
  message?: string
}

/** After a number of events (or half of a plain body): the connection is cut, the body ends, or the connection hangs. */
export interface BrokenScenario extends Timing, Thinking, Begun {
  kind: 'cut' | 'endEarly' | 'hang'
  /** `nothing`: before the response headers. */
  after: 'nothing' | number
}

/** Sends exactly these bytes. */
interface RawScenario extends Timing {
  kind: 'raw'
  status: number
  headers: Record<string, string>
  body: string
}

export type Scenario = AnswerScenario | ErrorScenario | ErrorInStreamScenario | BrokenScenario | RawScenario
