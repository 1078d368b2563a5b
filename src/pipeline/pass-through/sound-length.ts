/** How long the audio of a request may be, and the estimate that is charged where its response does not report it. */
import { leastBytesASecond, MP3_BYTES_A_SECOND } from '../../formats/audio-rate.ts'
import type { Form } from '../../formats/read-form.ts'

export interface SoundLength {
  /** At most, whatever its files say of themselves. */
  mostSeconds: number
  /** Of its files; null where the audio may be elsewhere. */
  bytes: number | null
}

/** A month: nobody is believed to have transcribed more in one request. */
export const MOST_SECONDS = 2_678_400

/** Named by its address, or in no field of a form: nothing is known of it. */
const ELSEWHERE: SoundLength = { mostSeconds: MOST_SECONDS, bytes: null }
/** Fields that name audio, if they are no files. */
const NAMES_SOUND = /^file$|url$/i
/** The largest file that OpenAI accepts. */
const LARGEST_FILE_BYTES = 25 * 1_024 * 1_024

/** `form` is null for JSON. */
export function measureForm(form: Form | null): SoundLength {
  const { parts = [], bytes: body = new Uint8Array() } = form ?? {}
  const files = parts
    .filter(({ isFile }) => isFile)
    .map(({ start, end }) => Buffer.from(body.buffer, body.byteOffset + start, end - start))
  if (files.length === 0 || parts.some(({ name, isFile }) => !isFile && NAMES_SOUND.test(name))) return ELSEWHERE
  const seconds = files.reduce((sum, file) => sum + file.length / leastBytesASecond(file), 0)
  return { mostSeconds: Math.min(MOST_SECONDS, seconds), bytes: files.reduce((sum, { length }) => sum + length, 0) }
}

/** An estimate: as long as the transcript takes to say, or as the file at the lowest usual rate. */
export function chargedSeconds({ mostSeconds, bytes }: SoundLength, toldSeconds = 0): number {
  // Of a file that was not seen, the transcript alone says something.
  const unseen = toldSeconds > 0 ? 0 : LARGEST_FILE_BYTES
  return Math.min(mostSeconds, Math.max(toldSeconds, (bytes ?? unseen) / MP3_BYTES_A_SECOND))
}
