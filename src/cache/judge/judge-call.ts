/** A call to a project's judge, and its verdict. */
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { InternalCallTrace } from '../../telemetry/tracing/request-trace.ts'
import { type JudgeMessage, parseVerdict, type Verdict } from './judge-prompt.ts'

/** A prepared call to a model. */
export interface JudgeCall {
  /** Estimated cost in US dollars. */
  estimatedUsd: number
  /** Sends the call. Rejects when the model fails, refuses or stops early. `trace` belongs to the waiting request or the background task. */
  send(signal: AbortSignal, trace?: InternalCallTrace): Promise<{ content: string; costUsd: number }>
}

/** The project whose judge is called, and its routes to the model. */
export type JudgeAccount = Pick<
  ResolvedKey,
  'project_id' | 'key_type' | 'semantic_judge_model' | 'direct_providers' | 'provider_keys_version'
>

/** Prepares a call. Returns null when the project has no route to the model. */
export type PrepareJudgeCall = (
  account: JudgeAccount,
  messages: readonly JudgeMessage[],
  schema: object,
) => JudgeCall | null

/** The verdict and its cost. Without a verdict, `cause` is the reason for the log. */
export type JudgeResult =
  | { verdict: Verdict; costUsd: number }
  /** The model failed, timed out, or returned an invalid reply. */
  | { verdict: null; costUsd: number; cause: string }

/** Calls the judge and parses its verdict. Never rejects. */
export async function requestVerdict(
  call: JudgeCall,
  signal: AbortSignal,
  trace?: InternalCallTrace,
): Promise<JudgeResult> {
  try {
    const { content, costUsd } = await call.send(signal, trace)
    const verdict = parseVerdict(content)
    return verdict ? { verdict, costUsd } : { verdict, costUsd, cause: 'the reply was not a verdict' }
  } catch (error) {
    // The provider may charge for a call that was aborted.
    return { verdict: null, costUsd: signal.aborted ? call.estimatedUsd : 0, cause: describeCause(error) }
  }
}
