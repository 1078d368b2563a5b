/** What a request said and got, as text, for those who want it kept. */
import { ProxyError } from '../../errors/errors.ts'
import type { RequestContent } from '../../telemetry/content-recorder.ts'
import type { RecordedQuery } from '../request/query.ts'

/** Of each of the two. What is longer is cut. */
const LONGEST_CHARS = 131_072

/** `answer`: a body, or the failure in place of one. */
export function readRequestContent(
  query: RecordedQuery & { text?: string; isLarge?: boolean },
  answer: unknown,
): RequestContent {
  return { request: query.isLarge || !query.text ? null : cut(query.text), response: readAnswer(answer) }
}

function readAnswer(answer: unknown): string | null {
  if (typeof answer === 'string') return cut(answer)
  if (answer instanceof Uint8Array) return cut(new TextDecoder().decode(answer.subarray(0, 4 * LONGEST_CHARS)))
  if (answer instanceof ProxyError) return cut(JSON.stringify(answer.toBody()))
  return typeof answer === 'object' && answer !== null && 'body' in answer ? readAnswer(answer.body) : null
}

function cut(text: string): string {
  return text.length <= LONGEST_CHARS ? text : `${text.slice(0, LONGEST_CHARS).toWellFormed()}…`
}
