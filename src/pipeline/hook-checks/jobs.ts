/** Worker jobs for long hook payloads. */
import type { JobResult } from '../../event-loop/worker-pool.ts'
import { encodeHookPayload } from './hook-payload.ts'

/** Encodes the payload for the hook. */
export function encodeHookPayloadJob(input: Parameters<typeof encodeHookPayload>[0]): JobResult<Uint8Array> {
  return { output: encodeHookPayload(input) }
}
