/** Queues pairs of prompts for the judge: those that the verifier left undecided, and a sample of semantic hits. */
import { recordedEndUserOf } from '../../formats/end-user.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { SimilarMatchRow } from '../../postgres/search-cache.ts'
import { formatBytea } from '../../postgres/wire-format.ts'
import type { ContentSeal } from '../../stores/content-seal.ts'
import { createBackgroundWriter } from '../../telemetry/background-writer.ts'
import type { Log } from '../../telemetry/log.ts'
import type { CacheQuery } from '../cache-query.ts'
import type { SemanticMatch } from '../entry.ts'
import { extractPromptText } from '../prompt-text.ts'
import { MAX_JUDGED_CHARS } from './judge-prompt.ts'

export interface JudgeQueue {
  /** Queues the pair if the project learns from undecided candidates. */
  enqueueUndecided(query: CacheQuery, candidate: SimilarMatchRow): void
  /** Queues the pair if it is in the project's review sample of semantic hits. */
  sampleServed(query: CacheQuery, match: SemanticMatch): void
  /** Resolves when all queued pairs are written. */
  flush(): Promise<void>
}

export interface JudgeQueueOptions {
  database: Database
  seal: ContentSeal
  log: Log
  /** Called after pairs were queued. */
  onQueued(): void
  /** Returns a number from 0 to 1, like Math.random. */
  random?: () => number
}

/** A row for judge_queue. Its columns are described in the SQL comments. */
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

type MatchedEntry = Pick<SemanticMatch, 'entryHash' | 'similarity'>

export function createJudgeQueue({
  database,
  seal,
  log,
  onQueued,
  random = Math.random,
}: JudgeQueueOptions): JudgeQueue {
  // A lost pair is queued again by the next similar prompt.
  const writer = createBackgroundWriter<PairToQueue>({
    failure: 'judge',
    rowName: 'a pair for the judge',
    async write(pairs) {
      await callFunction(database, 'queue_judgements', { pairs })
      onQueued()
    },
    maxRows: 100,
    timeLimitMs: 5_000,
    log,
  })

  function queue(query: CacheQuery, matched: MatchedEntry, isReview: boolean): void {
    const pair = describePair(query, matched, { isReview, seal })
    if (pair) void writer.add(Promise.resolve(pair))
  }

  return {
    enqueueUndecided(query, { request_hash, similarity }) {
      const { semantic_judge, semantic_policy } = query.resolvedKey
      if (semantic_judge !== 'learn' || semantic_policy !== 'judged' || !hasJudge(query.resolvedKey)) return
      queue(query, { entryHash: request_hash, similarity }, false)
    },

    sampleServed(query, match) {
      const { semantic_verify_ratio: ratio } = query.resolvedKey
      if (ratio === 0 || !hasJudge(query.resolvedKey) || random() >= ratio) return
      queue(query, match, true)
    },

    flush: writer.settled,
  }
}

/** Returns whether the key has a judge. Test keys have none, because they reach only the sandbox. */
function hasJudge({ semantic_judge_model, key_type }: ResolvedKey): boolean {
  return semantic_judge_model !== '' && key_type !== 'test'
}

/** Returns the row. Null for a request that must not be stored, or a pair that is too long. */
function describePair(
  query: CacheQuery,
  matched: MatchedEntry,
  { isReview, seal }: { isReview: boolean; seal: ContentSeal },
): PairToQueue | null {
  const { resolvedKey, control, identity } = query
  if (!control.store || identity.canonicalBody.length > MAX_JUDGED_CHARS) return null
  const semantic = query.semantic()
  const prompt = extractPromptText(identity.endpoint, identity.body)
  if (typeof semantic === 'string' || !prompt) return null
  const context = seal.sealText(JSON.stringify(prompt.contextBody), resolvedKey)
  const asked = seal.sealText(prompt.text, resolvedKey)
  if (context === null || asked === null) return null
  return {
    project_id: resolvedKey.project_id,
    context_hash: formatBytea(semantic.contextHash),
    asked_hash: formatBytea(semantic.normalizedHash),
    entry_hash: formatBytea(matched.entryHash),
    is_review: isReview,
    context,
    asked,
    end_user: recordedEndUserOf(identity.body),
    similarity: matched.similarity,
  }
}
