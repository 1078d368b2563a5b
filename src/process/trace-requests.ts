/** Creates tracing, if it is configured. */
import type { Config } from '../config/config.ts'
import type { Log } from '../telemetry/log.ts'
import type { Tracing } from '../telemetry/tracing/request-trace.ts'

/** Loads OpenTelemetry's libraries only if tracing is configured; returns null if it is not. */
export async function traceRequests({ tracing }: Config, log: Log): Promise<Tracing | null> {
  return tracing && (await import('../telemetry/tracing/create-tracing.ts')).createTracing(tracing, log)
}
