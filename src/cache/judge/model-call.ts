/** One call to a project's judge, and its verdict. */
import type { Account } from '../../postgres/admit.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { AsideTrace } from '../../telemetry/tracing/request-trace.ts'
import { type JudgeMessage, readVerdict, type Verdict } from './judge-prompt.ts'

/** One prepared question to a model. */
export interface ModelCall {
  /** What it may cost, in US dollars. */
  estimatedUsd: number
  /** Rejects when the model fails, refuses or is cut off. `trace`: of the request that waits for it, or of the task. */
  ask(signal: AbortSignal, trace?: AsideTrace): Promise<{ content: string; costUsd: number }>
}

/** The project whose judge is asked, and its routes to the model. */
export type JudgedAccount = Pick<
  Account,
  'project_id' | 'key_type' | 'semantic_judge_model' | 'direct_providers' | 'provider_keys_version'
>

/** Returns null when the project cannot reach the model. */
export type PrepareModelCall = (
  account: JudgedAccount,
  messages: readonly JudgeMessage[],
  schema: object,
) => ModelCall | null

/** `cause` says in the log why there is no verdict. */
export type Answered =
  | { verdict: Verdict; costUsd: number }
  /** The model failed, timed out, or replied with something else. */
  | { verdict: null; costUsd: number; cause: string }

/** Never rejects. */
export async function askForVerdict(call: ModelCall, signal: AbortSignal, trace?: AsideTrace): Promise<Answered> {
  try {
    const { content, costUsd } = await call.ask(signal, trace)
    const verdict = readVerdict(content)
    return verdict ? { verdict, costUsd } : { verdict, costUsd, cause: 'it was no verdict' }
  } catch (error) {
    // The provider may charge for a call that was aborted.
    return { verdict: null, costUsd: signal.aborted ? call.estimatedUsd : 0, cause: describeCause(error) }
  }
}
