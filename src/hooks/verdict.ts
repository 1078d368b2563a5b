/** What a hook says of a request or an answer. */
import { describeError, ProxyError } from '../errors/errors.ts'
import { plainText } from '../errors/plain-text.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'

export interface Verdict {
  /** `no-store`: it may be answered, and the answer must not be given to anybody else. */
  verdict: 'allow' | 'refuse' | 'no-store'
  /** For the client of what is refused. */
  message: string | null
  /** The version of the hook's rules; '' where it has none. */
  policy: string
}

export type When = 'before' | 'after'

/** What a hook refused. Its message is the hook's own, which may quote what it refused: it is for the client alone. */
export class HookRefusal extends ProxyError {
  /** The same with something before its message. */
  behind(where: string): HookRefusal {
    return new HookRefusal({ status: this.status, code: this.code, message: where + this.message })
  }
}

const VERDICTS = ['allow', 'refuse', 'no-store'] as const
const LONGEST_MESSAGE = 500
/** It is stored with every answer. */
const POLICY = /^[\x20-\x7e]{0,100}$/
const NO_MESSAGE = 'The rules of this installation do not allow it.'

/** Null for anything else than a verdict. */
export function readVerdict(text: string): Verdict | null {
  const { verdict: said, message, policy = '' } = parseJsonObject(text) ?? {}
  const verdict = VERDICTS.find(each => each === said)
  if (verdict === undefined || typeof policy !== 'string' || !POLICY.test(policy)) return null
  return { verdict, message: typeof message === 'string' ? plainText(message, LONGEST_MESSAGE) : null, policy }
}

export function refusalOf(when: When, { message }: Verdict): HookRefusal {
  const reason = message?.trim() || NO_MESSAGE
  const said =
    when === 'before' ? describeError('requestRefused', { reason }) : describeError('answerRefused', { reason })
  return new HookRefusal(said)
}
