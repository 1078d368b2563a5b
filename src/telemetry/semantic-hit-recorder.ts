/** Records semantic hits and near misses in the background, soon enough for people to give feedback on them. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { recordSemanticHits, type SemanticHit } from '../postgres/verdicts.ts'
import { describeCause } from './describe-cause.ts'
import type { Log } from './log.ts'

const MAX_BATCH = 500
const TIME_LIMIT_MS = 5_000

export interface NewSemanticHit extends Omit<SemanticHit, 'sealedWording'> {
  /** The question's text; null when the project stores none. */
  wording: string | null
}

/** Encrypts a project's wording. */
export type SealWording = (wording: string, projectId: number) => Promise<Uint8Array>

export interface SemanticHitRecorder {
  /** A hit that cannot be written is lost: it can then get no feedback. */
  record(hit: NewSemanticHit): void
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createSemanticHitRecorder(database: Database, seal: SealWording, log: Log): SemanticHitRecorder {
  const underWay = new BackgroundWork()
  const write = createBatcher<SemanticHit, undefined>({
    async run(hits) {
      await recordSemanticHits(database, hits)
      return hits.map(() => undefined)
    },
    maxItems: MAX_BATCH,
    timeLimitMs: TIME_LIMIT_MS,
    timeLimitError: () => new Error('A semantic hit was not written in time'),
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

  async function sealAndWrite(hit: NewSemanticHit): Promise<void> {
    await write(await sealWording(hit))
  }

  return {
    record(hit) {
      const writing = sealAndWrite(hit).catch(error => {
        log.warn({ id: hit.requestId, cause: describeCause(error) }, 'a semantic hit could not be written')
      })
      void underWay.add(writing)
    },
    async drain(timeLimitMs) {
      await withinTimeLimit(timeLimitMs, underWay.settled()).catch(() => {})
    },
  }
}
