/** Redacts credentials in a body: in its bytes, and in an event stream also in the text that its events carry in parts. */
import { concatBytes, createEventSplitter, transformBytes } from '../../formats/sse/split-events.ts'
import { beginsStream, createSseParser, replaceData } from '../../formats/sse/sse.ts'
import { isEventStream } from '../upstream.ts'
import { type CredentialRedactor, type Credentials, redactHeaders } from './credentials.ts'
import { EventFilter } from './event-filter.ts'

const LOOKED_AT_BYTES = 64

/** Some providers label an event stream as JSON, or not at all. */
export function openBody(credentials: Credentials, answer: Pick<Answer, 'headers'>): CredentialRedactor {
  const byBytes = credentials.createRedactor()
  if (credentials.isEmpty) return byBytes
  let events: CredentialRedactor | null | undefined = isEventStream(answer) ? openEvents(credentials) : undefined
  const read = (bytes: Uint8Array): Uint8Array => {
    if (events === undefined && bytes.length > 0)
      events = beginsStream(Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES)).toString()) ? openEvents(credentials) : null
    return events ? events.push(bytes) : bytes
  }
  return {
    get hasFound() {
      return byBytes.hasFound || (events?.hasFound ?? false)
    },
    push: bytes => read(byBytes.push(bytes)),
    end() {
      const rest = read(byBytes.end())
      return events ? concatBytes([rest, events.end()]) : rest
    },
  }
}

function openEvents(credentials: Credentials): CredentialRedactor {
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

interface Answer {
  headers: Headers
  body: ReadableStream<Uint8Array>
  isStorable(): boolean
  credentials?: Credentials
}

/** The answer also without the credentials of earlier attempts at the same request, with other keys. */
export function hideEarlier<A extends Answer>(answer: A, earlier: readonly Credentials[]): A {
  let hidden = answer
  for (const credentials of new Set(earlier)) {
    if (credentials === answer.credentials) continue
    const filter = openBody(credentials, answer)
    const { isStorable } = hidden
    const body = transformBytes(hidden.body, bytes => (bytes ? filter.push(bytes) : filter.end()))
    redactHeaders(answer.headers, credentials)
    hidden = { ...hidden, body, isStorable: () => isStorable() && !filter.hasFound }
  }
  return hidden
}
