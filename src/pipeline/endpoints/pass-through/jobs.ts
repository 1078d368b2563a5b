/** Reads the JSON response of a pass-through operation: its usage, results and transcript. A worker reads long ones. */
import type { JobResult } from '../../../event-loop/worker-pool.ts'
import { isJsonObject, parseJson } from '../../../formats/json/canonical.ts'
import { concatBytes } from '../../../formats/sse/split-events.ts'
import type { Transcript } from '../../spending/pass-through-usage.ts'
import { readTranscript, writeTranscript } from './transcript.ts'

/** Joins and reads a pass-through operation's response. */
export function readPassThroughResponseJob({
  parts,
  ...expected
}: ExpectedPassThroughResponse & { parts: readonly Uint8Array[] }): JobResult<PassThroughResponse> {
  const bytes = concatBytes(parts)
  return { output: readPassThroughResponse(bytes, expected), transfer: [bytes.buffer as ArrayBuffer] }
}

export interface ExpectedPassThroughResponse {
  /** The number of results in a complete response. */
  expectedResults: number
  isTranscript: boolean
  /** The format into which a transcript in verbose JSON is converted; null if it is not converted. */
  transcriptFormat: string | null
}

export interface PassThroughResponse {
  bytes: Uint8Array
  /** The content type of a converted transcript; null if the response is unchanged. */
  contentType: string | null
  isJson: boolean
  /** The usage as the response reports it. */
  usage: unknown
  /** The transcript; null if the response is not one. */
  transcript: Transcript | null
  /** Whether the response has all expected results, and can be stored. */
  hasResults: boolean
  /** Whether the response reports a failure: aggregators do so with status 200. */
  hasFailed: boolean
}

export function readPassThroughResponse(bytes: Uint8Array, expected: ExpectedPassThroughResponse): PassThroughResponse {
  // Not every response is an object: a transcription may be just its text.
  const text = new TextDecoder().decode(bytes)
  const body = parseJson(text)
  const { usage, results, error } = isJsonObject(body) ? body : {}
  const hasResults = Array.isArray(results) && results.length >= expected.expectedResults && !isJsonObject(error)
  const transcript = expected.isTranscript ? readTranscript(body ?? text) : null
  const converted = expected.transcriptFormat === null ? null : writeTranscript(body, expected.transcriptFormat)
  return {
    bytes: converted ? new TextEncoder().encode(converted.text) : bytes,
    contentType: converted?.contentType ?? null,
    isJson: converted ? expected.transcriptFormat === 'json' : body !== undefined,
    usage,
    transcript,
    hasResults,
    hasFailed: isJsonObject(error),
  }
}
