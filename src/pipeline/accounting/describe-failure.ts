/** Describes a failed request's error for its record: codes, and messages from which text of the prompt is redacted. */
import { ClientDisconnected, ProxyError, toSingleLine } from '../../errors/errors.ts'
import { readErrorFields } from '../../formats/errors/provider-error.ts'
import { HookRejection } from '../../hooks/hook-response.ts'
import type { RecordDetails } from '../../postgres/usage-record.ts'
import { UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { RecordedQuery } from '../request/query.ts'

const MAX_MESSAGE_CHARS = 300
/** Longer error bodies are not read, and for a longer request no upstream message is recorded: searching either takes long. */
const MAX_BODY_BYTES = 16_384

type RecordedError = Pick<RecordDetails, 'error_code' | 'error_message'>

/** Describes the error that was sent to the client. `error_message` is null if the message is the upstream's own. */
export function describeClientError(failure: unknown): RecordedError {
  // The hook's message may quote the rejected content.
  if (failure instanceof HookRejection) return { error_code: failure.code, error_message: null }
  if (failure instanceof ProxyError) {
    const isQuoted = failure instanceof UpstreamFailure && failure.kind === 'reported'
    return {
      error_code: failure.code,
      error_message: isQuoted ? null : toSingleLine(failure.message, MAX_MESSAGE_CHARS),
    }
  }
  if (failure instanceof ClientDisconnected) return { error_code: 'client_gone', error_message: failure.message }
  const { code } = readError(failure)
  return { error_code: code ?? (failure instanceof Error ? 'internal_error' : 'upstream_error'), error_message: null }
}

type RecordedUpstreamError = Pick<RecordDetails, 'upstream_status' | 'upstream_message'>

/** Describes the upstream's error response; both fields are null if that was not the failure. */
export function describeUpstreamError(
  failure: unknown,
  query: Pick<RecordedQuery, 'body'> | null,
): RecordedUpstreamError {
  const quote = (message: string) => redactPrompt(toSingleLine(message, MAX_MESSAGE_CHARS), query?.body ?? {})
  if (failure instanceof UpstreamFailure) {
    const message = failure.kind === 'reported' ? quote(failure.message) : null
    return { upstream_status: failure.upstreamStatus, upstream_message: message }
  }
  if (!isUpstreamResponse(failure)) return { upstream_status: null, upstream_message: null }
  const { message } = readError(failure)
  return {
    upstream_status: failure.upstreamStatus ?? failure.status,
    upstream_message: message === null ? null : quote(message),
  }
}

function isUpstreamResponse(failure: unknown): failure is { status: number; upstreamStatus?: number; body: unknown } {
  return !(failure instanceof Error) && typeof (failure as { status?: unknown } | null)?.status === 'number'
}

const CODE_PATTERN = /^[\w.-]{1,64}$/

function readError(failure: unknown): { code: string | null; message: string | null } {
  const body = isUpstreamResponse(failure) ? failure.body : null
  const isBytes = body instanceof Uint8Array
  const text = isBytes && body.length <= MAX_BODY_BYTES ? new TextDecoder().decode(body) : body
  if (typeof text !== 'string' || text.length > MAX_BODY_BYTES) return { code: null, message: null }
  const { code, type, message } = readErrorFields(text)
  return { code: [code, type].find(word => word !== null && CODE_PATTERN.test(word)) ?? null, message }
}

/** A message quotes a text if this many characters in a row are equal. Fewer are treated as a coincidence. */
const MIN_QUOTATION_CHARS = 16

/**
 * Replaces quotations of the request's texts, plain or escaped as in JSON, by `…`. Returns null if the request is too long to search.
 */
export function redactPrompt(message: string, body: RecordedQuery['body']): string | null {
  const values: string[] = []
  const sent = JSON.stringify(body, (key, value) => {
    if (typeof value === 'string' && key !== 'model') values.push(value)
    return value
  })
  if (sent.length > MAX_BODY_BYTES) return null
  const all = values.join('\n')
  const texts = [toSingleLine(all, all.length), JSON.stringify(all)]
  let redacted = ''
  let position = 0
  while (position < message.length) {
    const end = findQuotationEnd(message, position, texts)
    redacted += end > position ? '…' : message[position]
    position = Math.max(end, position + 1)
  }
  return redacted.toWellFormed()
}

/** Returns the end of the quotation that begins at `start`; `start` itself if none begins there. */
function findQuotationEnd(message: string, start: number, texts: readonly string[]): number {
  const isQuoted = (end: number) => texts.some(text => text.includes(message.slice(start, end)))
  let end = start + MIN_QUOTATION_CHARS
  if (end > message.length || !isQuoted(end)) return start
  while (end < message.length && isQuoted(end + 1)) end++
  return end
}
