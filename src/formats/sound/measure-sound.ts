/**
 * How long the sound in a file is: the larger of what its head says and what its frames or packets come to, because a decoder goes by these
 * and a head may say anything. Each reader takes time in proportion to the file, and reads a broken one as far as it can.
 */
import { secondsOfFlac } from './flac.ts'
import { secondsOfMp3 } from './mp3.ts'
import { secondsOfMp4 } from './mp4.ts'
import { secondsOfOgg } from './ogg.ts'
import { secondsOfWav } from './wav.ts'
import { secondsOfWebm } from './webm.ts'

const READERS = [secondsOfWav, secondsOfOgg, secondsOfWebm, secondsOfMp4, secondsOfFlac, secondsOfMp3]

/** Null for a container or codec that is not known, and for one that holds nothing. */
export function measureSound(file: Buffer): number | null {
  const seconds = READERS.reduce<number | null>((found, read) => found ?? read(file), null)
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null
}
