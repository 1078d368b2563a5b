/** Reads the text of a request and its response, for projects that log contents. */
import { ProxyError } from '../../errors/errors.ts'
import type { RequestContent } from '../../telemetry/content-recorder.ts'
import type { RecordedQuery } from '../request/query.ts'

/** Characters that are logged of the request, and of the response. Longer texts are truncated. */
const MAX_CHARS = 131_072

/** `response` is a body, or the failure in place of one. */
export function readRequestContent(
  query: RecordedQuery & { text?: string; isLarge?: boolean },
  response: unknown,
): RequestContent {
  return { request: query.isLarge || !query.text ? null : truncate(query.text), response: readResponseText(response) }
}

function readResponseText(response: unknown): string | null {
  if (typeof response === 'string') return truncate(response)
  if (response instanceof Uint8Array) return truncate(new TextDecoder().decode(response.subarray(0, 4 * MAX_CHARS)))
  if (response instanceof ProxyError) return truncate(JSON.stringify(response.toBody()))
  return typeof response === 'object' && response !== null && 'body' in response
    ? readResponseText(response.body)
    : null
}

function truncate(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS).toWellFormed()}…`
}
