/** What the pipeline needs to know about a pass-through operation's JSON response. */
import { isJsonObject, parseJson } from '../../../formats/json/canonical.ts'
import type { Transcript } from '../../spending/pass-through-usage.ts'
import { readTranscript, writeTranscript } from './transcript.ts'

export interface ExpectedPassThroughResponse {
  /** What a request whose answers are stored asks about: each gets a result. */
  expectedResults: number
  isTranscript: boolean
  /** In which format a transcript in verbose JSON is to be written; null: it stays as it is. */
  transcriptFormat: string | null
}

export interface PassThroughResponse {
  bytes: Uint8Array
  /** Of a transcript that was written in another format; null for what stayed as it is. */
  contentType: string | null
  isJson: boolean
  /** As the response reports it. */
  usage: unknown
  /** Null for what is none. */
  transcript: Transcript | null
  /** Whether it is a complete response of an operation whose responses are stored. */
  hasResults: boolean
  /** Whether it reports a failure: aggregators do so inside a 200. */
  hasFailed: boolean
}

export function readPassThroughResponse(bytes: Uint8Array, wanted: ExpectedPassThroughResponse): PassThroughResponse {
  // Not every response is an object: a transcription may be just its text.
  const text = new TextDecoder().decode(bytes)
  const body = parseJson(text)
  const { usage, results, error } = isJsonObject(body) ? body : {}
  const hasResults = Array.isArray(results) && results.length >= wanted.expectedResults && !isJsonObject(error)
  const transcript = wanted.isTranscript ? readTranscript(body ?? text) : null
  const written = wanted.transcriptFormat === null ? null : writeTranscript(body, wanted.transcriptFormat)
  return {
    bytes: written ? new TextEncoder().encode(written.text) : bytes,
    contentType: written?.contentType ?? null,
    isJson: written ? wanted.transcriptFormat === 'json' : body !== undefined,
    usage,
    transcript,
    hasResults,
    hasFailed: isJsonObject(error),
  }
}
