/** Reads the response of an endpoint. An error status is also an outcome. */
import { readChatPlain, readChatStream } from './chat-outcome.ts'
import { parseJson } from './events.ts'
import { readGeminiPlain, readGeminiStream } from './gemini-outcome.ts'
import { readMessagesPlain, readMessagesStream } from './messages-outcome.ts'
import { type Endpoint, emptyOutcome, type Mode, type Outcome } from './outcome.ts'
import { readResponsesPlain, readResponsesStream } from './responses-outcome.ts'

const READERS: Record<Endpoint, Record<Mode, (body: string) => Outcome>> = {
  chat: { streamed: readChatStream, plain: text => readChatPlain(parseJson(text)) },
  responses: { streamed: readResponsesStream, plain: text => readResponsesPlain(parseJson(text)) },
  messages: { streamed: readMessagesStream, plain: text => readMessagesPlain(parseJson(text)) },
  generate_content: { streamed: readGeminiStream, plain: text => readGeminiPlain(parseJson(text)) },
}

export interface ReadResponse {
  status: number
  contentType: string
  body: string
  /** The connection broke before the end of the body. */
  isCut: boolean
}

export function readOutcome(endpoint: Endpoint, mode: Mode, response: ReadResponse): Outcome {
  const { status, contentType, body, isCut } = response
  if (isCut) return { ...emptyOutcome(), end: 'cut' }
  if (status >= 300) return readError(endpoint, body)
  const outcome = READERS[endpoint][mode](body)
  const expected = mode === 'streamed' ? 'text/event-stream' : 'application/json'
  if (!contentType.startsWith(expected)) outcome.problems.push(`content type: ${contentType}`)
  return outcome
}

/** Reads an error in the endpoint's envelope. Its message must not be empty. */
function readError(endpoint: Endpoint, body: string): Outcome {
  const outcome = { ...emptyOutcome(), end: 'error' }
  const parsed = parseJson(body)
  if (typeof parsed?.error?.message !== 'string' || parsed.error.message === '')
    outcome.problems.push('the error has no message')
  const isOfFormat =
    endpoint === 'messages' ? parsed?.type === 'error' : endpoint !== 'generate_content' || isGoogleError(parsed?.error)
  if (!isOfFormat) outcome.problems.push('the error is not of this format')
  return outcome
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
function isGoogleError(error: any): boolean {
  return typeof error?.code === 'number' && /^[A-Z_]+$/.test(error.status)
}
