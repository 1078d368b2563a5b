/** Queues pairs of questions for the judge: those that proof could not decide, and a sample of semantic hits. */
import { recordedUserOf } from '../../formats/end-user.ts'
import type { Account } from '../../postgres/admit.ts'
import { call } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { SimilarAnswer } from '../../postgres/find-answer.ts'
import { byteaText } from '../../postgres/wire-format.ts'
import type { AnswerSeal } from '../../stores/answer-seal.ts'
import { createBackgroundWriter } from '../../telemetry/background-writer.ts'
import type { Log } from '../../telemetry/log.ts'
import { takeAskedText } from '../asked-text.ts'
import type { CacheQuery } from '../cache-query.ts'
import type { SemanticMatch } from '../entry.ts'
import { MAX_JUDGED_CHARS } from './judge-prompt.ts'

export interface JudgeQueue {
  /** Queues the pair if the project learns from undecided candidates. */
  noteUndecided(query: CacheQuery, candidate: SimilarAnswer): void
  /** Queues the pair if the project has a sample of its semantic hits reviewed. */
  noteServed(query: CacheQuery, match: SemanticMatch): void
  /** Resolves when everything noted has been written. */
  flush(): Promise<void>
}

export interface JudgeQueueOptions {
  database: Database
  seal: AnswerSeal
  log: Log
  /** Called after pairs were queued. */
  onQueued(): void
  /** Returns a number from 0 to 1, like Math.random. */
  random?: () => number
}

/** What is known of a row of judge_queue, whose comments say what its columns are. */
interface PairToQueue {
  project_id: number
  context_hash: string
  asked_hash: string
  entry_hash: string
  is_review: boolean
  context: string
  asked: string
  end_user: string | null
  similarity: number
}

type Compared = Pick<SemanticMatch, 'entryHash' | 'similarity'>

export function createJudgeQueue({
  database,
  seal,
  log,
  onQueued,
  random = Math.random,
}: JudgeQueueOptions): JudgeQueue {
  // A lost pair is queued again with the next question like it.
  const writer = createBackgroundWriter<PairToQueue>({
    failure: 'judge',
    what: 'a pair for the judge',
    async write(pairs) {
      await call(database, 'queue_judgements', { pairs })
      onQueued()
    },
    maxRows: 100,
    timeLimitMs: 5_000,
    log,
  })

  function queue(query: CacheQuery, compared: Compared, isReview: boolean): void {
    const pair = describePair(query, compared, { isReview, seal })
    if (pair) void writer.add(Promise.resolve(pair))
  }

  return {
    noteUndecided(query, { request_hash, similarity }) {
      const { semantic_judge, semantic_policy } = query.account
      if (semantic_judge !== 'learn' || semantic_policy !== 'judged' || !hasJudge(query.account)) return
      queue(query, { entryHash: request_hash, similarity }, false)
    },

    noteServed(query, match) {
      const { semantic_verify_ratio: ratio } = query.account
      if (ratio === 0 || !hasJudge(query.account) || random() >= ratio) return
      queue(query, match, true)
    },

    flush: writer.settled,
  }
}

/** Test keys have no judge: they reach the sandbox only, which judges nothing. */
function hasJudge({ semantic_judge_model, key_type }: Account): boolean {
  return semantic_judge_model !== '' && key_type !== 'test'
}

/** Returns null for a request that may not be stored, and for a pair too long to be judged. */
function describePair(
  query: CacheQuery,
  compared: Compared,
  { isReview, seal }: { isReview: boolean; seal: AnswerSeal },
): PairToQueue | null {
  const { account, control, identity } = query
  if (!control.store || identity.canonicalBody.length > MAX_JUDGED_CHARS) return null
  const semantic = query.semantic()
  const taken = takeAskedText(identity.endpoint, identity.body)
  if (typeof semantic === 'string' || !taken) return null
  const context = seal.sealText(JSON.stringify(taken.contextBody), account)
  const asked = seal.sealText(taken.text, account)
  if (context === null || asked === null) return null
  return {
    project_id: account.project_id,
    context_hash: byteaText(semantic.contextHash),
    asked_hash: byteaText(semantic.normalizedHash),
    entry_hash: byteaText(compared.entryHash),
    is_review: isReview,
    context,
    asked,
    end_user: recordedUserOf(identity.body),
    similarity: compared.similarity,
  }
}
