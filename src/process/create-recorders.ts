/** Creates the recorders, which write in the background what requests leave behind, and flushes them when the process stops. */
import { createBudgets } from '../admission/budgets.ts'
import { createTokenRateLimiter } from '../admission/token-rate-limiter.ts'
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { workerPool } from '../event-loop/worker-pool.ts'
import { createUsageReconciler } from '../pipeline/accounting/usage-reconciler.ts'
import type { Database } from '../postgres/database.ts'
import { createQuestionVault } from '../providers/keys/question-vault.ts'
import { openVault } from '../providers/keys/vault.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import { findSimilarNames } from '../providers/similar-names.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createContentRecorder } from '../telemetry/content-recorder.ts'
import type { Log } from '../telemetry/log.ts'
import { createSemanticHitRecorder } from '../telemetry/semantic-hit-recorder.ts'
import { createUsageRecorder } from '../telemetry/usage-recorder.ts'

interface RecorderOptions {
  config: Config
  database: Database
  store: FastStore
  log: Log
  /** The interval of requests to providers for usage that was estimated; a few seconds by default. */
  reconcileEveryMs?: number | undefined
  /** The longest time a request waits for reservations of other requests to end; five seconds by default. */
  reservationWaitMs?: number | undefined
}

/** Creates the recorders of usage, semantic hits, contents, spending and token windows. */
export function createRecorders(options: RecorderOptions, modelRouter: ModelRouter, catalogue: Catalogue) {
  const { config, database, store, log, reconcileEveryMs, reservationWaitMs } = options
  const { seal } = createQuestionVault(openVault(config))
  const budgets = createBudgets(database, undefined, {
    maxWaitMs: reservationWaitMs,
    findSimilarModels(model) {
      const listed = [AGGREGATOR, ...catalogue.vendors.names].flatMap(provider => catalogue.modelsOf(provider))
      // Another provider may have a price for the model under a similar name.
      const names = listed.map(each => each.model).filter(name => name !== model && !name.endsWith(`/${model}`))
      return findSimilarNames(model, names)
    },
  })
  return {
    recorder: createUsageRecorder(database, log, budgets.onRecordsWritten),
    semanticHits: createSemanticHitRecorder(database, seal, log),
    contents: createContentRecorder(database, seal, log),
    budgets,
    tokenWindows: createTokenRateLimiter(store),
    reconciler: createUsageReconciler({ database, modelRouter, catalogue, log, pollEveryMs: reconcileEveryMs }),
  }
}

interface Recorder {
  drain(timeLimitMs: number): Promise<void>
}

/** Waits for pending work for half of the time. Draining the recorders gets the other half, because they record that work. */
export async function flushAll(
  unlimited: readonly (() => Promise<void>)[],
  recorders: readonly Recorder[],
  timeLimitMs: number,
): Promise<void> {
  await withTimeout(timeLimitMs / 2, workerPool.whenIdle()).catch(() => {})
  const flushed = unlimited.map(flush => withTimeout(timeLimitMs / 2, flush()).catch(() => {}))
  await Promise.all([...flushed, ...recorders.map(recorder => recorder.drain(timeLimitMs / 2))])
}
