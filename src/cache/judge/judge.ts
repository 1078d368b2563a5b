/** Calls a model about a pair of prompts that the verifier left undecided, within a time limit and the project's daily budget. */
import { BackgroundWork } from '../../event-loop/background-work.ts'
import { withTimeout } from '../../event-loop/timeouts.ts'
import { sha256 } from '../../formats/json/canonical.ts'
import { type ArgumentsOf, callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { SimilarMatchRow } from '../../postgres/search-cache.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { Log } from '../../telemetry/log.ts'
import type { VerdictRecorder } from '../../telemetry/proxy-metrics.ts'
import type { CacheQuery, SemanticQuery } from '../cache-query.ts'
import { extractPromptText } from '../prompt-text.ts'
import { normalizeInSameContext } from '../text/normalize-prompt.ts'
import { mainDifferenceKind } from '../verify/difference.ts'
import { type JudgeCall, type PrepareJudgeCall, requestVerdict } from './judge-call.ts'
import { buildJudgeMessages, JUDGE_SCHEMA, type Verdict } from './judge-prompt.ts'

export interface Judgement {
  /** Null when there is no verdict in time. The candidate then stays undecided. */
  verdict: Verdict | null
  costUsd: number
}

export interface Judge {
  /** Judges a candidate. Requests about the same pair share one call, whose cost the first one bears. Never rejects. */
  decide(query: CacheQuery, semantic: SemanticQuery, candidate: SimilarMatchRow): Promise<Judgement>
  /** Resolves when all verdicts are written. */
  flush(): Promise<void>
}

const NO_JUDGEMENT: Judgement = { verdict: null, costUsd: 0 }

export function createJudge(
  database: Database,
  prepareCall: PrepareJudgeCall,
  log: Log,
  recordVerdict: VerdictRecorder,
): Judge {
  const running = new Map<string, Promise<Judgement>>()
  const settling = new BackgroundWork()

  async function judge(query: CacheQuery, semantic: SemanticQuery, candidate: SimilarMatchRow): Promise<Judgement> {
    const { resolvedKey } = query
    const prepared = prepare(query, candidate, prepareCall)
    if (!prepared) return NO_JUDGEMENT
    const reserved = { of_project: resolvedKey.project_id, at_most_usd: prepared.estimatedUsd }
    const day = await callFunction(database, 'reserve_judgement', reserved)
    if (day === null) return NO_JUDGEMENT
    const result = await requestVerdict(
      prepared,
      AbortSignal.timeout(resolvedKey.semantic_judge_timeout_ms),
      query.trace,
    )
    const { verdict, costUsd } = result
    if (verdict === null)
      log.warn({ project: resolvedKey.project_name, cause: result.cause }, 'the judge returned no verdict')
    else recordVerdict('judge', verdict)
    const money = { of_project: resolvedKey.project_id, of_day: day, correction_usd: costUsd - prepared.estimatedUsd }
    void settling.add(settle({ ...describe(semantic, candidate), ...money, verdict }))
    return { verdict, costUsd }
  }

  async function settle(judgement: ArgumentsOf<'settle_judgement'>): Promise<void> {
    await callFunction(database, 'settle_judgement', judgement).catch(error => {
      log.failures.report('judge', error, 'a verdict could not be written', { part: 'settle' })
    })
  }

  return {
    async decide(query, semantic, candidate) {
      const { project_id, semantic_judge_timeout_ms } = query.resolvedKey
      const name = `${project_id} ${semantic.contextHash} ${semantic.normalizedHash} ${candidate.entry_id}`
      const shared = running.get(name)
      const pending = shared ?? judge(query, semantic, candidate).finally(() => running.delete(name))
      if (!shared) running.set(name, pending)
      try {
        const judgement = await withTimeout(semantic_judge_timeout_ms, pending)
        return shared ? { ...judgement, costUsd: 0 } : judgement
      } catch (error) {
        log.warn(
          { cause: describeCause(error) },
          'the judge did not return a verdict in time; the request continues without it',
        )
        return NO_JUDGEMENT
      }
    },

    async flush() {
      await Promise.all([...running.values()].map(each => each.catch(() => {})))
      await settling.settled()
    },
  }
}

/** Prepares the call. Returns null when the pair is too long, or the project has no route to the model. */
function prepare(
  { resolvedKey, identity }: CacheQuery,
  candidate: SimilarMatchRow,
  prepareCall: PrepareJudgeCall,
): JudgeCall | null {
  const prompt = extractPromptText(identity.endpoint, identity.body)
  const pair = prompt && { context: prompt.contextBody, asked: prompt.text, cached: candidate.prompt }
  const messages = pair && buildJudgeMessages(pair)
  return messages && prepareCall(resolvedKey, messages, JUDGE_SCHEMA)
}

/** Returns the fields that identify the pair of a stored verdict. */
function describe({ normalizedPrompt, contextHash, normalizedHash }: SemanticQuery, candidate: SimilarMatchRow) {
  const cached = normalizeInSameContext(normalizedPrompt, candidate.prompt)
  return {
    context_hash: contextHash,
    asked_hash: normalizedHash,
    entry_hash: sha256(cached.normalized),
    until: candidate.expires_at,
    similarity: candidate.similarity,
    difference: mainDifferenceKind(normalizedPrompt.text, cached.text),
    source: 'judge',
    queued_id: null,
  }
}
