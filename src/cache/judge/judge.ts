/** Puts a pair of questions that proof cannot decide to a model, within a time limit and the project's budget of the day. */
import { withinTimeLimit } from '../../event-loop/time-limit.ts'
import { sha256 } from '../../json/canonical.ts'
import type { Account } from '../../postgres/admit.ts'
import type { Database } from '../../postgres/database.ts'
import type { SimilarAnswer } from '../../postgres/find-answer.ts'
import { reserveJudgement, settleJudgement } from '../../postgres/judgements.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { Log } from '../../telemetry/log.ts'
import { readPrompt } from '../../text/read-prompt.ts'
import { takeAskedText } from '../asked-text.ts'
import type { CacheQuery, SemanticQuery } from '../cache-query.ts'
import { findExchange } from '../proof/exchange.ts'
import { prove } from '../proof/prove.ts'
import { JUDGE_SCHEMA, type JudgeMessage, readVerdict, type Verdict, writeJudgeMessages } from './judge-prompt.ts'

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

export interface Judgement {
  /** Null where there was none in time: as if nobody had been asked. */
  verdict: Verdict | null
  costUsd: number
}

export interface Judge {
  /** Whether a query may come to cost something. */
  isAskedFor(account: Account): boolean
  /** Requests about the same pair share one call: its cost is the first one's. Never rejects. */
  decide(query: CacheQuery, semantic: SemanticQuery, candidate: SimilarAnswer): Promise<Judgement>
  /** Resolves when all verdicts have been written. */
  flush(): Promise<void>
}

const NO_JUDGEMENT: Judgement = { verdict: null, costUsd: 0 }

export function createJudge(database: Database, prepareCall: PrepareModelCall, log: Log): Judge {
  const running = new Map<string, Promise<Judgement>>()
  const settling = new Set<Promise<void>>()

  function isAskedFor({
    semantic_mode,
    semantic_policy,
    semantic_judge,
    semantic_judge_model,
    key_type,
  }: Account): boolean {
    // The sandbox, which answers test keys, judges nothing.
    const isWanted = semantic_judge === 'inline' && semantic_judge_model !== '' && key_type !== 'test'
    return isWanted && semantic_mode === 'on' && semantic_policy === 'judged'
  }

  async function ask(query: CacheQuery, semantic: SemanticQuery, candidate: SimilarAnswer): Promise<Judgement> {
    const { account, identity } = query
    const taken = takeAskedText(identity.endpoint, identity.body)
    const pair = taken && { context: taken.contextBody, asked: taken.text, cached: candidate.prompt }
    const messages = pair && writeJudgeMessages(pair)
    const call = messages && prepareCall(account, messages, JUDGE_SCHEMA)
    if (!call) return NO_JUDGEMENT
    const day = await reserveJudgement(database, account.project_id, call.estimatedUsd)
    if (day === null) return NO_JUDGEMENT

    const cached = readPrompt(candidate.prompt)
    const proof = prove(semantic.reading, cached)
    const about = {
      contextHash: semantic.contextHash,
      askedHash: semantic.normalizedHash,
      entryHash: sha256(cached.normalized),
      until: candidate.expires_at,
      similarity: candidate.similarity,
      difference: proof.proved ? null : proof.kind,
      source: 'judge' as const,
      queuedId: null,
    }
    const exchange = findExchange(semantic.reading, cached)
    const settle = (costUsd: number, verdict: Verdict | null) =>
      settleLater({
        projectId: account.project_id,
        day,
        correctionUsd: costUsd - call.estimatedUsd,
        verdict,
        // Asked one way only, it can take an equivalence back, and teaches none.
        exchange: verdict === 'different' ? exchange : null,
        ...about,
      })
    const limit = AbortSignal.timeout(account.semantic_judge_timeout_ms)
    try {
      const { content, costUsd } = await call.ask(limit)
      const verdict = readVerdict(content)
      settle(costUsd, verdict)
      return { verdict, costUsd }
    } catch (error) {
      log.warn({ project: account.project_name, cause: describeCause(error) }, 'the judge gave no verdict')
      // What the model did for a call that was given up may be charged all the same.
      settle(limit.aborted ? call.estimatedUsd : 0, null)
      return { verdict: null, costUsd: limit.aborted ? call.estimatedUsd : 0 }
    }
  }

  function settleLater(judgement: Parameters<typeof settleJudgement>[1]): void {
    const settled = settleJudgement(database, judgement).catch(error => {
      log.warn({ cause: describeCause(error) }, 'a verdict could not be written')
    })
    settling.add(settled)
    void settled.finally(() => settling.delete(settled))
  }

  return {
    isAskedFor,

    async decide(query, semantic, candidate) {
      const { project_id, semantic_judge_timeout_ms } = query.account
      const name = `${project_id} ${semantic.contextHash} ${semantic.normalizedHash} ${candidate.entry_id}`
      const shared = running.get(name)
      const asked = shared ?? ask(query, semantic, candidate).finally(() => running.delete(name))
      if (!shared) running.set(name, asked)
      try {
        const judgement = await withinTimeLimit(semantic_judge_timeout_ms, asked)
        return shared ? { ...judgement, costUsd: 0 } : judgement
      } catch (error) {
        log.warn({ cause: describeCause(error) }, 'the judge was not waited for')
        return NO_JUDGEMENT
      }
    },

    async flush() {
      await Promise.all([...running.values()].map(each => each.catch(() => {})))
      await Promise.all(settling)
    },
  }
}
