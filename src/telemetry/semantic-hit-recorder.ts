/** Records semantic hits and near misses in the background, within seconds, so that people can give feedback on them. */
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { formatBytea } from '../postgres/wire-format.ts'
import { createBackgroundWriter } from './background-writer.ts'
import type { TextSealer } from './content-recorder.ts'
import type { Log } from './log.ts'

/** A semantic hit, a hit in shadow mode, or a near miss. */
export interface NewSemanticHit {
  projectId: number
  keyId: number
  requestId: string
  /** The end user as in usage records; null when the request names none. */
  endUser: string | null
  /** The result of `hashScope`: the callers who may give a verdict; null for none. */
  scopeHash: string | null
  /** The SHA-256 of the normalized question, in hex. */
  askedHash: string
  /** The `request_hash` of the cache entry, in hex. */
  entryHash: string
  reason: string
  /** The kind of difference that prevented a match; null unless this is a near miss. */
  difference: string | null
  /** The question's text; null when the project stores none. */
  wording: string | null
  similarity: number
  /** Whether the match was recorded but not served. */
  isShadow: boolean
  promptTokens: number
  completionTokens: number
  savedUsd: number
}

/** A request that missed the cache because its context works on the wording of the question. */
interface ContextMiss {
  request: { id: string }
  resolvedKey: { project_id: number }
}

export interface SemanticHitRecorder {
  /** Queues the hit for writing. A hit that cannot be written is lost, and can get no feedback. */
  record(hit: NewSemanticHit): void
  /** Queues a miss because of the context for counting. */
  recordContext(instructionsHash: string, miss: ContextMiss): void
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createSemanticHitRecorder(database: Database, seal: TextSealer, log: Log): SemanticHitRecorder {
  const { add, drain } = createBackgroundWriter<Awaited<ReturnType<typeof createRow>>>({
    failure: 'request_detail',
    rowName: 'a semantic hit',
    write: hits => callFunction(database, 'record_semantic_hits', { hits }),
    maxRows: 500,
    timeLimitMs: 5_000,
    log,
  })

  const contexts = createBackgroundWriter<ReturnType<typeof createContextRow>>({
    failure: 'request_detail',
    rowName: 'a context',
    write: contexts => callFunction(database, 'record_contexts', { contexts }),
    maxRows: 500,
    timeLimitMs: 5_000,
    log,
  })

  /** Returns the row of the table semantic_hits. */
  async function createRow(hit: NewSemanticHit) {
    return {
      project_id: hit.projectId,
      key_id: hit.keyId,
      end_user: hit.endUser,
      scope_hash: formatBytea(hit.scopeHash ?? ''),
      request_id: hit.requestId,
      asked_hash: formatBytea(hit.askedHash),
      entry_hash: formatBytea(hit.entryHash),
      reason: hit.reason,
      similarity: hit.similarity,
      is_shadow: hit.isShadow,
      prompt_tokens: hit.promptTokens,
      completion_tokens: hit.completionTokens,
      saved_usd: hit.savedUsd,
      difference: hit.difference,
      sealed_wording: await sealWording(hit),
    }
  }

  /** A wording that cannot be encrypted is not stored. */
  function sealWording({ wording, projectId, requestId }: NewSemanticHit): Promise<string | null> | null {
    if (wording === null) return null
    return seal(wording, projectId).then(formatBytea, error => {
      log.failures.report('request_detail', error, 'a wording could not be sealed', { fields: { id: requestId } })
      return null
    })
  }

  return {
    record: hit => void add(createRow(hit), { id: hit.requestId }),
    recordContext: (hash, miss) => void contexts.add(Promise.resolve(createContextRow(hash, miss))),
    async drain(timeLimitMs) {
      await Promise.all([drain(timeLimitMs), contexts.drain(timeLimitMs)])
    },
  }
}

/** Returns the row for record_contexts(). */
function createContextRow(instructions_hash: string, { request, resolvedKey }: ContextMiss) {
  return { project_id: resolvedKey.project_id, instructions_hash, last_request_id: request.id }
}
