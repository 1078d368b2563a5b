/** One question to a project's judge, and its verdict as it was read. */
import type { Account } from '../../postgres/admit.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import { type JudgeMessage, readVerdict, type Verdict } from './judge-prompt.ts'

/** One question to a model, made ready. */
export interface ModelCall {
  /** What it may cost. */
  estimatedUsd: number
  /** Rejects where the model fails, refuses or is cut off. */
  ask(signal: AbortSignal): Promise<{ content: string; costUsd: number }>
}

/** Whose judge is asked, and on what ways it is reached. */
export type JudgedAccount = Pick<
  Account,
  'project_id' | 'key_type' | 'semantic_judge_model' | 'direct_providers' | 'provider_keys_version'
>

/** Null where the project cannot reach the model. */
export type PrepareModelCall = (
  account: JudgedAccount,
  messages: readonly JudgeMessage[],
  schema: object,
) => ModelCall | null

/** `cause`: why there is no verdict, for the log. */
export type Answered =
  | { verdict: Verdict; costUsd: number }
  /** The model failed, was given up, or said something else. */
  | { verdict: null; costUsd: number; cause: string }

/** Never rejects. */
export async function askForVerdict(call: ModelCall, signal: AbortSignal): Promise<Answered> {
  try {
    const { content, costUsd } = await call.ask(signal)
    const verdict = readVerdict(content)
    return verdict ? { verdict, costUsd } : { verdict, costUsd, cause: 'it was no verdict' }
  } catch (error) {
    // What the model did for a call that was given up may be charged all the same.
    return { verdict: null, costUsd: signal.aborted ? call.estimatedUsd : 0, cause: describeCause(error) }
  }
}
