/** Records semantic hits and near misses in the background, soon enough for people to give feedback on them. */
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { createBackgroundWriter } from './background-writer.ts'
import type { Seal } from './content-recorder.ts'
import { describeCause } from './describe-cause.ts'
import type { Log } from './log.ts'

/** A semantic hit, a hit in shadow mode, or a near miss. */
interface SemanticHit {
  projectId: number
  requestId: string
  /** Hex SHA-256 of the normalized question. */
  askedHash: string
  /** `request_hash` of the entry, in hex. */
  entryHash: string
  reason: string
  /** For a near miss: the kind of difference that prevented a match. */
  difference: string | null
  /** The question, encrypted, in hex; null when the project stores none. */
  sealedWording: string | null
  similarity: number
  /** Whether the match was recorded but not served. */
  isShadow: boolean
  promptTokens: number
  completionTokens: number
  savedUsd: number
}

export interface NewSemanticHit extends Omit<SemanticHit, 'sealedWording'> {
  /** The question's text; null when the project stores none. */
  wording: string | null
}

export interface SemanticHitRecorder {
  /** A hit that cannot be written is lost: it can then get no feedback. */
  record(hit: NewSemanticHit): void
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createSemanticHitRecorder(database: Database, seal: Seal, log: Log): SemanticHitRecorder {
  const { add, drain } = createBackgroundWriter<SemanticHit>({
    what: 'a semantic hit',
    write: hits =>
      call(database, 'record_semantic_hits', {
        project_ids: hits.map(hit => hit.projectId),
        request_ids: hits.map(hit => hit.requestId),
        asked_hashes: hits.map(hit => hit.askedHash),
        entry_hashes: hits.map(hit => hit.entryHash),
        reasons: hits.map(hit => hit.reason),
        similarities: hits.map(hit => hit.similarity),
        are_shadows: hits.map(hit => hit.isShadow),
        prompt_tokens: hits.map(hit => hit.promptTokens),
        completion_tokens: hits.map(hit => hit.completionTokens),
        saved_usd: hits.map(hit => hit.savedUsd),
        differences: hits.map(hit => hit.difference),
        sealed_wordings: hits.map(hit => hit.sealedWording),
      }),
    maxRows: 500,
    timeLimitMs: 5_000,
    log,
  })

  /** A wording that cannot be encrypted is not stored. */
  async function sealWording({ wording, ...hit }: NewSemanticHit): Promise<SemanticHit> {
    if (wording === null) return { ...hit, sealedWording: null }
    const sealedWording = await seal(wording, hit.projectId).catch(error => {
      log.warn({ id: hit.requestId, cause: describeCause(error) }, 'a wording could not be sealed')
      return null
    })
    return { ...hit, sealedWording }
  }

  return { record: hit => void add(sealWording(hit), { id: hit.requestId }), drain }
}
