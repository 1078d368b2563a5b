/** Parses a hook's response, and creates the error for a request or response that the hook rejects. */
import { createErrorOptions, ProxyError, toSingleLine } from '../errors/errors.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'

export interface HookResponse {
  /** `no-store`: the request may be served, but its response must not be cached or shared. */
  verdict: 'allow' | 'refuse' | 'no-store'
  /** The reason for a rejection, sent to the client. Null if the hook gives none. */
  message: string | null
  /** The version of the hook's rules; '' if the hook sends none. */
  policy: string
}

export type HookPhase = 'before' | 'after'

/**
 * The error for a request or response that a hook rejects. Its message is the hook's and may quote the content: it is sent to the client,
 * and is neither logged nor recorded.
 */
export class HookRejection extends ProxyError {
  /** Returns the same error with `where` in front of its message. */
  withPrefix(where: string): HookRejection {
    return new HookRejection({ status: this.status, code: this.code, message: where + this.message })
  }
}

const VERDICTS = ['allow', 'refuse', 'no-store'] as const
const MAX_MESSAGE_CHARS = 500
/** Printable ASCII, up to 100 characters. The policy is stored with every cached response. */
const POLICY_PATTERN = /^[\x20-\x7e]{0,100}$/
const DEFAULT_MESSAGE = 'The rules of this installation do not allow this request.'

/** Returns null if the text is not a valid hook response. */
export function parseHookResponse(text: string): HookResponse | null {
  const { verdict: received, message, policy = '' } = parseJsonObject(text) ?? {}
  const verdict = VERDICTS.find(each => each === received)
  if (verdict === undefined || typeof policy !== 'string' || !POLICY_PATTERN.test(policy)) return null
  return { verdict, message: typeof message === 'string' ? toSingleLine(message, MAX_MESSAGE_CHARS) : null, policy }
}

export function createHookRejection(phase: HookPhase, { message }: HookResponse): HookRejection {
  const reason = message?.trim() || DEFAULT_MESSAGE
  const options =
    phase === 'before'
      ? createErrorOptions('requestRejected', { reason })
      : createErrorOptions('responseRejected', { reason })
  return new HookRejection(options)
}
