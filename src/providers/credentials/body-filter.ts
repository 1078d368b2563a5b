/** Redacts credentials in a body: in its bytes and, in an event stream, also in text that is split over several events. */
import { concatBytes, createEventSplitter, transformBytes } from '../../formats/sse/split-events.ts'
import { beginsStream, createSseParser, replaceData } from '../../formats/sse/sse.ts'
import { isEventStream } from '../upstream.ts'
import { type CredentialRedactor, type Credentials, redactHeaders } from './credentials.ts'
import { EventFilter } from './event-filter.ts'

/** The first bytes of a body that decide whether it is an event stream. */
const SNIFFED_BYTES = 64

/** Returns a redactor for a body. It detects event streams by their first bytes, because some providers label them as JSON or not at all. */
export function createBodyRedactor(
  credentials: Credentials,
  response: Pick<RedactableResponse, 'headers'>,
): CredentialRedactor {
  const byteRedactor = credentials.createRedactor()
  if (credentials.isEmpty) return byteRedactor
  let events: CredentialRedactor | null | undefined = isEventStream(response)
    ? createEventRedactor(credentials)
    : undefined
  const redactEvents = (bytes: Uint8Array): Uint8Array => {
    if (events === undefined && bytes.length > 0)
      events = beginsStream(Buffer.from(bytes.subarray(0, SNIFFED_BYTES)).toString())
        ? createEventRedactor(credentials)
        : null
    return events ? events.push(bytes) : bytes
  }
  return {
    get hasFound() {
      return byteRedactor.hasFound || (events?.hasFound ?? false)
    },
    push: bytes => redactEvents(byteRedactor.push(bytes)),
    end() {
      const rest = redactEvents(byteRedactor.end())
      return events ? concatBytes([rest, events.end()]) : rest
    },
  }
}

function createEventRedactor(credentials: Credentials): CredentialRedactor {
  const splitter = createEventSplitter()
  const filter = new EventFilter<Uint8Array>(credentials, replaceData)
  let data = ''
  const parser = createSseParser(event => {
    data = event.data
  })

  function readEvent(event: Uint8Array, isEnd: boolean): Uint8Array[] {
    data = ''
    parser.push(event)
    if (isEnd) parser.end()
    return filter.push(event, data)
  }

  return {
    get hasFound() {
      return filter.hasFound
    },
    push: bytes => concatBytes(splitter.push(bytes).flatMap(event => readEvent(event, false))),
    end: () => concatBytes([...readEvent(splitter.end(), true), ...filter.end()]),
  }
}

interface RedactableResponse {
  headers: Headers
  body: ReadableStream<Uint8Array>
  isStorable(): boolean
  credentials?: Credentials
}

/** Redacts the credentials of earlier attempts, which used other keys, in a response. */
export function hideEarlier<Response extends RedactableResponse>(
  response: Response,
  earlier: readonly Credentials[],
): Response {
  let redacted = response
  for (const credentials of new Set(earlier)) {
    if (credentials === response.credentials) continue
    const filter = createBodyRedactor(credentials, response)
    const { isStorable } = redacted
    const body = transformBytes(redacted.body, bytes => (bytes ? filter.push(bytes) : filter.end()))
    redactHeaders(response.headers, credentials)
    redacted = { ...redacted, body, isStorable: () => isStorable() && !filter.hasFound }
  }
  return redacted
}
