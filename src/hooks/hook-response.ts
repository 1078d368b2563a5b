/** Posts to a hook, parses its response, and creates the error for a request or response that the hook rejects. */
import { createErrorOptions, ProxyError, toSingleLine } from '../errors/errors.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'
import { concatBytes } from '../formats/sse/split-events.ts'
import type { SignMessage } from './sign-message.ts'

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

/** The hook gave no valid response. The message says why, and quotes nothing of the response. */
export class HookUnavailable extends Error {}

const MAX_RESPONSE_BYTES = 16_384

interface HookCall {
  url: string
  id: string
  body: Uint8Array
  sign: SignMessage
  /** Headers that carry the trace context; null if the request is not traced. */
  traceHeaders: Headers | null
  signal: AbortSignal
}

/**
 * Sends one signed request over a reused connection. The response's size is limited, and redirects are not followed. Throws HookUnavailable.
 */
export async function postToHook({ url, id, body, sign, traceHeaders, signal }: HookCall): Promise<HookResponse> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...Object.fromEntries(traceHeaders ?? []), ...(await sign(id, body)), 'accept-encoding': 'identity' },
      body,
      redirect: 'manual',
      signal,
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new HookUnavailable(`the hook responded with status ${response.status}, expected 200`)
    }
    const parsed = parseHookResponse(await readLimitedText(response))
    if (!parsed) throw new HookUnavailable('the hook response has no valid verdict')
    return parsed
  } catch (error) {
    if (error instanceof HookUnavailable) throw error
    if (signal.aborted) throw new HookUnavailable('the hook did not respond in time')
    const { code, name } = error as { code?: unknown; name?: unknown }
    throw new HookUnavailable(`no connection to the hook: ${code ?? name}`)
  }
}

async function readLimitedText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    // Leaving the loop cancels the rest of the body.
    if (length > MAX_RESPONSE_BYTES) throw new HookUnavailable(`the hook response exceeds ${MAX_RESPONSE_BYTES} bytes`)
    parts.push(part)
  }
  return new TextDecoder().decode(concatBytes(parts))
}
