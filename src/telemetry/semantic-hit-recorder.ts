/** Records semantic hits and near misses in the background, soon enough for people to give feedback on them. */
import type { Database } from '../postgres/database.ts'
import { recordSemanticHits, type SemanticHit } from '../postgres/verdicts.ts'
import { createBackgroundWriter } from './background-writer.ts'
import type { Seal } from './content-recorder.ts'
import { describeCause } from './describe-cause.ts'
import type { Log } from './log.ts'

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
    write: hits => recordSemanticHits(database, hits),
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
