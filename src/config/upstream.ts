/** Settings of calls to providers: timeouts, size limits, retries and circuit breakers. */
import type { SettingsReader } from './settings-reader.ts'

export interface UpstreamConfig {
  connectTimeoutMs: number
  firstByteTimeoutMs: number
  idleTimeoutMs: number
  /** The upper bound on one event of a stream: the size from one blank line to the next. */
  maxEventBytes: number
  /** The upper bound on a response that is not a stream. */
  maxResponseBytes: number
  /** The largest number of retries. A request is retried only before the first byte of its response. */
  maxRetries: number
  /** The failures that open a circuit, in a row or as most of the recent outcomes. */
  circuitFailures: number
  /** Milliseconds that a circuit stays open at first. Half of it is how long failures must have lasted. */
  circuitOpenMs: number
}

export function readUpstreamConfig(read: SettingsReader): UpstreamConfig {
  return {
    connectTimeoutMs: read.integer('UPSTREAM_CONNECT_TIMEOUT_MS', 5_000, 1, 600_000),
    firstByteTimeoutMs: read.integer('UPSTREAM_FIRST_BYTE_TIMEOUT_MS', 600_000, 1, 3_600_000),
    idleTimeoutMs: read.integer('UPSTREAM_IDLE_TIMEOUT_MS', 300_000, 1, 3_600_000),
    maxEventBytes: read.integer('UPSTREAM_MAX_EVENT_BYTES', 16_777_216, 1_024, 1_073_741_824),
    maxResponseBytes: read.integer('UPSTREAM_MAX_ANSWER_BYTES', 67_108_864, 1_024, 1_073_741_824),
    maxRetries: read.integer('UPSTREAM_MAX_RETRIES', 2, 0, 10),
    circuitFailures: read.integer('UPSTREAM_CIRCUIT_FAILURES', 10, 1, 1_000_000),
    circuitOpenMs: read.integer('UPSTREAM_CIRCUIT_OPEN_MS', 5_000, 1, 60_000),
  }
}
