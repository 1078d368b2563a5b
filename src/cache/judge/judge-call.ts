/** One call to a project's judge, and its verdict. */
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { InternalCallTrace } from '../../telemetry/tracing/request-trace.ts'
import { type JudgeMessage, parseVerdict, type Verdict } from './judge-prompt.ts'

/** One prepared question to a model. */
export interface JudgeCall {
  /** What it may cost, in US dollars. */
  estimatedUsd: number
  /** Rejects when the model fails, refuses or is cut off. `trace`: of the request that waits for it, or of the task. */
  send(signal: AbortSignal, trace?: InternalCallTrace): Promise<{ content: string; costUsd: number }>
}

/** The project whose judge is asked, and its routes to the model. */
export type JudgeAccount = Pick<
  ResolvedKey,
  'project_id' | 'key_type' | 'semantic_judge_model' | 'direct_providers' | 'provider_keys_version'
>

/** Returns null when the project cannot reach the model. */
export type PrepareJudgeCall = (
  account: JudgeAccount,
  messages: readonly JudgeMessage[],
  schema: object,
) => JudgeCall | null

/** `cause` says in the log why there is no verdict. */
export type JudgeResult =
  | { verdict: Verdict; costUsd: number }
  /** The model failed, timed out, or replied with something else. */
  | { verdict: null; costUsd: number; cause: string }

/** Never rejects. */
export async function requestVerdict(
  call: JudgeCall,
  signal: AbortSignal,
  trace?: InternalCallTrace,
): Promise<JudgeResult> {
  try {
    const { content, costUsd } = await call.send(signal, trace)
    const verdict = parseVerdict(content)
    return verdict ? { verdict, costUsd } : { verdict, costUsd, cause: 'it was no verdict' }
  } catch (error) {
    // The provider may charge for a call that was aborted.
    return { verdict: null, costUsd: signal.aborted ? call.estimatedUsd : 0, cause: describeCause(error) }
  }
}
