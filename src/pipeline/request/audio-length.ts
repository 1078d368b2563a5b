/** How long the audio of a request may be, and the estimate that is charged where its response does not report it. */
import { MIN_MP3_BYTES_PER_SECOND, minBytesPerSecondOf } from '../../formats/min-audio-rate.ts'
import type { MultipartForm } from '../../formats/multipart-form.ts'

export interface AudioLength {
  /** At most, whatever its files say of themselves. */
  maxSeconds: number
  /** Of its files; null where the audio may be elsewhere. */
  bytes: number | null
}

/** A month: nobody is believed to have transcribed more in one request. */
export const MAX_AUDIO_SECONDS = 2_678_400

/** Named by its address, or in no field of a form: nothing is known of it. */
const ELSEWHERE: AudioLength = { maxSeconds: MAX_AUDIO_SECONDS, bytes: null }
/** Fields that name audio, if they are no files. */
const NAMES_SOUND = /^file$|url$/i
/** The largest file that OpenAI accepts. */
const LARGEST_FILE_BYTES = 25 * 1_024 * 1_024

/** `form` is null for JSON. */
export function measureFormAudio(form: MultipartForm | null): AudioLength {
  const { parts = [], bytes: body = new Uint8Array() } = form ?? {}
  const files = parts
    .filter(({ isFile }) => isFile)
    .map(({ start, end }) => Buffer.from(body.buffer, body.byteOffset + start, end - start))
  if (files.length === 0 || parts.some(({ name, isFile }) => !isFile && NAMES_SOUND.test(name))) return ELSEWHERE
  const seconds = files.reduce((sum, file) => sum + file.length / minBytesPerSecondOf(file), 0)
  return { maxSeconds: Math.min(MAX_AUDIO_SECONDS, seconds), bytes: files.reduce((sum, { length }) => sum + length, 0) }
}

/** An estimate: as long as the transcript takes to say, or as the file at the lowest usual rate. */
export function estimateAudioSeconds({ maxSeconds, bytes }: AudioLength, toldSeconds = 0): number {
  // Of a file that was not seen, the transcript alone says something.
  const unseen = toldSeconds > 0 ? 0 : LARGEST_FILE_BYTES
  return Math.min(maxSeconds, Math.max(toldSeconds, (bytes ?? unseen) / MIN_MP3_BYTES_PER_SECOND))
}
