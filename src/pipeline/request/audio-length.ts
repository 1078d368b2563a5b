/** Bounds the length of a request's audio, and estimates it if the response does not report it. */
import { MIN_MP3_BYTES_PER_SECOND, minBytesPerSecondOf } from '../../formats/min-audio-rate.ts'
import type { MultipartForm } from '../../formats/multipart-form.ts'

export interface AudioLength {
  /** Upper bound that does not trust the files' headers. */
  maxSeconds: number
  /** Size of the request's files; null if the request may refer to audio elsewhere. */
  bytes: number | null
}

/** Upper bound for one request: 31 days. */
export const MAX_AUDIO_SECONDS = 2_678_400

/** For audio that is given by its URL, or outside a form. */
const UNKNOWN_LENGTH: AudioLength = { maxSeconds: MAX_AUDIO_SECONDS, bytes: null }
/** Fields that refer to audio elsewhere if they are not files. */
const AUDIO_FIELD = /^file$|url$/i
/** The largest file that OpenAI accepts. */
const MAX_FILE_BYTES = 25 * 1_024 * 1_024

/** Measures the files of a form. `form` is null for a JSON body. */
export function measureFormAudio(form: MultipartForm | null): AudioLength {
  const { parts = [], bytes: body = new Uint8Array() } = form ?? {}
  const files = parts
    .filter(({ isFile }) => isFile)
    .map(({ start, end }) => Buffer.from(body.buffer, body.byteOffset + start, end - start))
  if (files.length === 0 || parts.some(({ name, isFile }) => !isFile && AUDIO_FIELD.test(name))) return UNKNOWN_LENGTH
  const seconds = files.reduce((sum, file) => sum + file.length / minBytesPerSecondOf(file), 0)
  return { maxSeconds: Math.min(MAX_AUDIO_SECONDS, seconds), bytes: files.reduce((sum, { length }) => sum + length, 0) }
}

/**
 * Returns the longer of how long the transcript takes to say and how long the files are at the lowest usual bit rate; at most
 * `maxSeconds`.
 */
export function estimateAudioSeconds({ maxSeconds, bytes }: AudioLength, transcriptSeconds = 0): number {
  // If the files are unknown, the estimate depends on the transcript alone.
  const unknownBytes = transcriptSeconds > 0 ? 0 : MAX_FILE_BYTES
  return Math.min(maxSeconds, Math.max(transcriptSeconds, (bytes ?? unknownBytes) / MIN_MP3_BYTES_PER_SECOND))
}
