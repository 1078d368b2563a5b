/** What a failed request's record says of its error: codes, and messages without what the prompt says. */
import { ClientDisconnected, ProxyError } from '../../errors/errors.ts'
import { toSingleLine } from '../../errors/to-single-line.ts'
import { readErrorFields } from '../../formats/errors/error-fields.ts'
import { HookRejection } from '../../hooks/hook-response.ts'
import type { RecordDetails } from '../../postgres/usage-record.ts'
import { UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { RecordedQuery } from '../request/query.ts'

const LONGEST_MESSAGE = 300
/** Longer error bodies are not looked into, and next to a longer request no message is kept: searching both takes long. */
const LONGEST_BODY_BYTES = 16_384

type RecordedError = Pick<RecordDetails, 'error_code' | 'error_message'>

/** What the client was told. An upstream's own words are not the proxy's, so `error_message` is null for them. */
export function describeClientError(failure: unknown): RecordedError {
  // The hook's own words may quote what it refused.
  if (failure instanceof HookRejection) return { error_code: failure.code, error_message: null }
  if (failure instanceof ProxyError) {
    const isQuoted = failure instanceof UpstreamFailure && failure.kind === 'reported'
    return { error_code: failure.code, error_message: isQuoted ? null : toSingleLine(failure.message, LONGEST_MESSAGE) }
  }
  if (failure instanceof ClientDisconnected) return { error_code: 'client_gone', error_message: failure.message }
  const { code } = readError(failure)
  return { error_code: code ?? (failure instanceof Error ? 'internal_error' : 'upstream_error'), error_message: null }
}

type RecordedUpstreamError = Pick<RecordDetails, 'upstream_status' | 'upstream_message'>

/** What the upstream answered, if that was the failure. */
export function describeUpstreamError(
  failure: unknown,
  query: Pick<RecordedQuery, 'body'> | null,
): RecordedUpstreamError {
  const quote = (message: string) => redactPrompt(toSingleLine(message, LONGEST_MESSAGE), query?.body ?? {})
  if (failure instanceof UpstreamFailure) {
    const message = failure.kind === 'reported' ? quote(failure.message) : null
    return { upstream_status: failure.upstreamStatus, upstream_message: message }
  }
  if (!isAnswer(failure)) return { upstream_status: null, upstream_message: null }
  const { message } = readError(failure)
  return {
    upstream_status: failure.upstreamStatus ?? failure.status,
    upstream_message: message === null ? null : quote(message),
  }
}

function isAnswer(failure: unknown): failure is { status: number; upstreamStatus?: number; body: unknown } {
  return !(failure instanceof Error) && typeof (failure as { status?: unknown } | null)?.status === 'number'
}

const CODE = /^[\w.-]{1,64}$/

function readError(failure: unknown): { code: string | null; message: string | null } {
  const body = isAnswer(failure) ? failure.body : null
  const isBytes = body instanceof Uint8Array
  const text = isBytes && body.length <= LONGEST_BODY_BYTES ? new TextDecoder().decode(body) : body
  if (typeof text !== 'string' || text.length > LONGEST_BODY_BYTES) return { code: null, message: null }
  const { code, type, message } = readErrorFields(text)
  return { code: [code, type].find(word => word !== null && CODE.test(word)) ?? null, message }
}

/** Characters in a row that are a quotation, not a coincidence. */
const QUOTED = 16

/**
 * Replaces what the message quotes of the request's texts, as they came or escaped as in JSON. Null where the request is too long to tell.
 */
export function redactPrompt(message: string, body: RecordedQuery['body']): string | null {
  const values: string[] = []
  const sent = JSON.stringify(body, (key, value) => {
    if (typeof value === 'string' && key !== 'model') values.push(value)
    return value
  })
  if (sent.length > LONGEST_BODY_BYTES) return null
  const all = values.join('\n')
  const texts = [toSingleLine(all, all.length), JSON.stringify(all)]
  let kept = ''
  let at = 0
  while (at < message.length) {
    const end = endOfQuotation(message, at, texts)
    kept += end > at ? '…' : message[at]
    at = Math.max(end, at + 1)
  }
  return kept.toWellFormed()
}

/** Where the quotation that begins here ends; `start` where none does. */
function endOfQuotation(message: string, start: number, texts: readonly string[]): number {
  const isIn = (end: number) => texts.some(text => text.includes(message.slice(start, end)))
  let end = start + QUOTED
  if (end > message.length || !isIn(end)) return start
  while (end < message.length && isIn(end + 1)) end++
  return end
}
