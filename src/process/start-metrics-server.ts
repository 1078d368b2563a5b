/** Starts the server for metrics, if it is configured. */
import { type Config, ConfigError, DEFAULT_METRICS_PORT } from '../config/config.ts'
import { serveMetrics } from '../http/metrics-server.ts'
import type { Database } from '../postgres/database.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'
import { readBudgetMetrics } from '../telemetry/gauges.ts'
import type { Log } from '../telemetry/log.ts'
import type { MetricsSnapshot } from '../telemetry/metrics.ts'

/**
 * Starts the server. Throws ConfigError if a configured port is not available. If the default port is taken, for example by a second proxy on
 * the machine, the process continues without metrics.
 */
export function startMetricsServer(
  { host, metrics }: Config,
  database: Database,
  read: () => MetricsSnapshot,
  log: Log,
): void {
  if (metrics.port === 0) return
  try {
    serveMetrics({ host, ...metrics }, async () => [...read(), ...(await readBudgetMetrics(database))])
  } catch (error) {
    if (metrics.port !== DEFAULT_METRICS_PORT) {
      throw new ConfigError([
        `METRICS_PORT must be free on ${host}, and ${metrics.port} is not: ${errorMessageOf(error)}. Example: METRICS_PORT=9465; 0 for none`,
      ])
    }
    log.warn(
      { port: metrics.port },
      'the port for metrics is taken, so none are served; set METRICS_PORT to another port',
    )
  }
}
