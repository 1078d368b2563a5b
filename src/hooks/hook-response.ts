/** What a hook says of a request or an answer. */
import { createErrorOptions, ProxyError } from '../errors/errors.ts'
import { toSingleLine } from '../errors/to-single-line.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'

export interface HookResponse {
  /** `no-store`: it may be answered, and the answer must not be given to anybody else. */
  verdict: 'allow' | 'refuse' | 'no-store'
  /** For the client of what is refused. */
  message: string | null
  /** The version of the hook's rules; '' where it has none. */
  policy: string
}

export type HookPhase = 'before' | 'after'

/** What a hook refused. Its message is the hook's own, which may quote what it refused: it is for the client alone. */
export class HookRejection extends ProxyError {
  /** The same with something before its message. */
  withPrefix(where: string): HookRejection {
    return new HookRejection({ status: this.status, code: this.code, message: where + this.message })
  }
}

const VERDICTS = ['allow', 'refuse', 'no-store'] as const
const LONGEST_MESSAGE = 500
/** It is stored with every answer. */
const POLICY = /^[\x20-\x7e]{0,100}$/
const NO_MESSAGE = 'The rules of this installation do not allow it.'

/** Null for anything else than a verdict. */
export function parseHookResponse(text: string): HookResponse | null {
  const { verdict: said, message, policy = '' } = parseJsonObject(text) ?? {}
  const verdict = VERDICTS.find(each => each === said)
  if (verdict === undefined || typeof policy !== 'string' || !POLICY.test(policy)) return null
  return { verdict, message: typeof message === 'string' ? toSingleLine(message, LONGEST_MESSAGE) : null, policy }
}

export function createHookRejection(when: HookPhase, { message }: HookResponse): HookRejection {
  const reason = message?.trim() || NO_MESSAGE
  const said =
    when === 'before'
      ? createErrorOptions('requestRejected', { reason })
      : createErrorOptions('responseRejected', { reason })
  return new HookRejection(said)
}
