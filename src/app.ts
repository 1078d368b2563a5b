/** Wires the stages together; no logic of its own, so that tests boot the real application. */
import { createAdmission } from './admission/admission.ts'
import { createReservations } from './admission/reservations.ts'
import { createCache } from './cache/cache.ts'
import { createPromptVectors } from './cache/prompt-vectors.ts'
import type { Config } from './config.ts'
import { createEmbedder } from './embedders/create-embedder.ts'
import { checkHealth } from './http/health.ts'
import { createHttp } from './http/routes.ts'
import { startMaintenance } from './maintenance.ts'
import { createLedgers } from './pipeline/ledger.ts'
import { createPipeline } from './pipeline/pipeline.ts'
import { createRemoteFlights } from './pipeline/remote-flights.ts'
import type { Database } from './postgres/database.ts'
import { loadCatalogue } from './pricing/catalogue.ts'
import { createRoutes } from './providers/routes.ts'
import { createSandboxProvider } from './providers/sandbox-provider.ts'
import type { FastStore } from './redis/fast-store.ts'
import type { FlightRadio } from './redis/flight-radio.ts'
import type { Log } from './telemetry/log.ts'
import { createUsageRecorder } from './telemetry/usage-recorder.ts'

export interface AppOptions {
  config: Config
  /** Migrated. */
  database: Database
  store: FastStore
  /** To share upstream calls with other processes; null where there is only this one. */
  radio?: FlightRadio | null
  log: Log
}

export interface App {
  http: ReturnType<typeof createHttp>
  /** Writes what is not yet written: usage records and refunds. */
  drain(timeLimitMs: number): Promise<void>
}

export async function createApp({ config, database, store, radio = null, log }: AppOptions): Promise<App> {
  const catalogue = await loadCatalogue(database)
  const vectors = await createPromptVectors(database, createEmbedder(config.embedder), log)
  const recorder = createUsageRecorder(database, log)
  const reservations = createReservations(database)
  const pipeline = createPipeline({
    admission: createAdmission(store, reservations),
    cache: createCache({ database, store, vectors, log }),
    catalogue,
    routes: createRoutes({ config, catalogue, sandbox: createSandboxProvider() }),
    openLedger: createLedgers(recorder, catalogue, log),
    remoteFlights: createRemoteFlights(radio),
  })
  const maintenance = await startMaintenance(database, log)
  return {
    http: createHttp({ config, pipeline, checkHealth: () => checkHealth(database, store), log }),
    async drain(timeLimitMs) {
      maintenance.stop()
      catalogue.close()
      await Promise.all([recorder.drain(timeLimitMs), reservations.drain(timeLimitMs)])
    },
  }
}
