/** Creates the error for a response with status 200 that is a failure. Uses the error that the provider reported, if any. */

import { createError, type ProxyError } from '../errors/errors.ts'
import type { AssembledStream } from './api-format.ts'
import type { Completeness } from './chat/completeness.ts'
import { firstChoiceOf } from './chat/part-reader.ts'
import { toProxyError } from './errors/client-error.ts'
import { asString, isPresent } from './json/canonical.ts'

/** Descriptions of the failures, which follow "The provider" in the message. */
const FAULTS: Partial<Record<Completeness, string>> = {
  not_a_response: 'returned no response',
  empty_choice: 'returned an empty response',
  no_output: 'returned an empty response, and counts output tokens',
  malformed_chunk: 'sent a chunk that cannot be read',
  unfinished_choice: 'ended its response before it was complete',
  missing_end: 'ended its response before it was complete',
}

export type FailedResponse = Pick<AssembledStream, 'body' | 'completeness'> & { error?: unknown }

export function toResponseError({ body, completeness, error }: FailedResponse): ProxyError {
  const choice = firstChoiceOf(body)
  const reported = error ?? body.error ?? choice?.error
  if (isPresent(reported)) return toProxyError({ error: reported })
  const fault = FAULTS[completeness] ?? `reported a failure (finish_reason ${quote(choice?.finish_reason)})`
  return createError('responseUnreadable', { fault })
}

/** Returns a finish reason in quotes if it is safe to repeat, else `unknown`. */
function quote(finishReason: unknown): string {
  const reason = asString(finishReason)
  return /^[\w.-]{1,64}$/.test(reason) ? `"${reason}"` : 'unknown'
}
