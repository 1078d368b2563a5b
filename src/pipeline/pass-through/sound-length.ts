/** How long the sound of a request is: the most that is reserved for, and the figure that is charged where its answer does not say it. */
import { Job, LONGEST_ON_LOOP, offLoop } from '../../event-loop/off-loop.ts'
import type { Form } from '../../formats/read-form.ts'
import { measureSound } from '../../formats/sound/measure-sound.ts'
import { LEAST_BYTES_A_SECOND, mostSecondsOfMp3 } from '../../formats/sound/mp3.ts'
import { secondsOfWav } from '../../formats/sound/wav.ts'

export interface SoundLength {
  /**
   * At most, with certainty: what a client writes in a file's head is believed only where a decoder must go by it, too, as by the samples
   * of plain WAV and the bit rate of MP3. Other codecs hold an hour of silence in a few kilobytes.
   */
  mostSeconds: number
  /** As far as its files can be read; null where one cannot. */
  seconds: number | null
  /** Of its files; null where the sound may be elsewhere. */
  bytes: number | null
}

/** A month: nobody is believed to have transcribed more in one request. */
export const MOST_SECONDS = 2_678_400

/** Named by its address, or in no field of a form: nothing is known of it. */
const ELSEWHERE: SoundLength = { mostSeconds: MOST_SECONDS, seconds: null, bytes: null }
/** Fields that name a sound, if they are no files. */
const NAMES_SOUND = /^file$|url$/i

const MEASURE = new Job<Uint8Array[], (number | null)[]>(new URL('../jobs.ts', import.meta.url), 'measureSounds')

/** `form` is null for JSON. */
export async function measureForm(form: Form | null, owner: number): Promise<SoundLength> {
  const parts = form?.parts ?? []
  const files = parts
    .filter(({ isFile }) => isFile)
    .map(({ start, end }) =>
      Buffer.from(form?.bytes.buffer ?? EMPTY, (form?.bytes.byteOffset ?? 0) + start, end - start),
    )
  if (files.length === 0 || parts.some(({ name, isFile }) => !isFile && NAMES_SOUND.test(name))) return ELSEWHERE
  const most = files.map(file => secondsOfWav(file) ?? mostSecondsOfMp3(file) ?? MOST_SECONDS)
  const bytes = sumOf(files.map(({ length }) => length))
  const each = bytes > LONGEST_ON_LOOP ? await measureAside(files, owner) : files.map(measureSound)
  const seconds = each.some(one => one === null) ? null : sumOf(each.map(one => one ?? 0))
  return { mostSeconds: Math.min(MOST_SECONDS, sumOf(most)), seconds, bytes }
}

const EMPTY = new ArrayBuffer(0)

/** What a worker has no time for is not known. */
async function measureAside(files: readonly Buffer[], owner: number): Promise<(number | null)[]> {
  const copies = files.map(file => new Uint8Array(file))
  const transfer = copies.map(({ buffer }) => buffer)
  return offLoop.run(MEASURE, copies, { owner, transfer }).catch(() => [null])
}

/** The largest file that OpenAI takes. */
const LARGEST_FILE_BYTES = 25 * 1_024 * 1_024

/** What is charged where nobody reports it. `toldSeconds`: what a transcript comes to. */
export function chargedSeconds({ mostSeconds, seconds, bytes }: SoundLength, toldSeconds = 0): number {
  // A file is no shorter than at the lowest usual bit rate; of one that was not seen, the transcript alone tells.
  const unseen = toldSeconds > 0 ? 0 : LARGEST_FILE_BYTES
  return Math.min(mostSeconds, seconds ?? Math.max(toldSeconds, (bytes ?? unseen) / LEAST_BYTES_A_SECOND))
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
