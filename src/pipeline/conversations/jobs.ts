/** Worker jobs for long conversations. */
import type { JobResult } from '../../event-loop/worker-pool.ts'
import { type ResponseRewrite, writeEchoedFields } from '../../formats/responses/echoed-fields.ts'
import {
  type RequestToResolve,
  type ResolvedRequest,
  readStoredResponse,
  resolveRequestReferences,
  type StoredResponseDetails,
} from '../../formats/responses/resolve-references.ts'

/** Rewrites a request with the content of the responses and items that it refers to. */
export function expandConversationJob(input: RequestToResolve): JobResult<ResolvedRequest> {
  const output = resolveRequestReferences(input)
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Reads the details of a response that are stored with it. */
export function readStoredResponseJob(response: string): JobResult<StoredResponseDetails | null> {
  return { output: readStoredResponse(response) }
}

/** Writes the request's fields that a response repeats. */
export function writeEchoedFieldsJob(input: ResponseRewrite): JobResult<Uint8Array> {
  return { output: writeEchoedFields(input) }
}
