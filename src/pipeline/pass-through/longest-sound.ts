/**
 * How long the sound in a form may be at most. What a client writes in a file's head is believed only where a decoder must go by it, too:
 * the samples of plain WAV, and the bit rate of MP3. Other codecs hold an hour of silence in a few kilobytes, at any rate a frame names.
 */
import type { Form, FormPart } from '../../formats/read-form.ts'

/** A month: nobody is believed to have transcribed more in one request. */
export const MOST_SECONDS = 2_678_400

/** Null: it is no form, and may name its sound in any way. */
export function longestSound(form: Form | null): number {
  if (form === null) return MOST_SECONDS
  const { bytes, parts } = form
  const files = parts.filter(({ isFile }) => isFile)
  return files.reduce((sum, part) => sum + secondsOf(viewOf(bytes, part)), 0)
}

function viewOf(bytes: Uint8Array, { start, end }: FormPart): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + start, end - start)
}

function secondsOf(file: DataView): number {
  return Math.min(MOST_SECONDS, secondsOfWav(file) ?? secondsOfMp3(file) ?? MOST_SECONDS)
}

const nameAt = (file: DataView, at: number, length: number) =>
  at + length <= file.byteLength
    ? String.fromCharCode(...new Uint8Array(file.buffer, file.byteOffset + at, length))
    : ''

const PCM = 1
const FLOAT = 3
const EXTENSIBLE = 0xfffe
/** Of the format chunk: where the length of its head ends. */
const CHUNK_HEAD = 8

/** By its samples: the format must stand first, once, and be of plain samples; null otherwise. */
function secondsOfWav(file: DataView): number | null {
  if (nameAt(file, 0, 4) !== 'RIFF' || nameAt(file, 8, 8) !== 'WAVEfmt ' || file.byteLength < 36) return null
  const format = file.getUint16(20, true)
  const isPlain = format === PCM || format === FLOAT || (format === EXTENSIBLE && isPlainExtensible(file))
  const bytesASecond = file.getUint16(22, true) * file.getUint32(24, true) * Math.floor(file.getUint16(34, true) / 8)
  const next = 12 + CHUNK_HEAD + file.getUint32(16, true)
  if (!isPlain || bytesASecond === 0 || hasChunk(file, next, 'fmt ')) return null
  return file.byteLength / bytesASecond
}

function isPlainExtensible(file: DataView): boolean {
  return file.byteLength >= 46 && [PCM, FLOAT].includes(file.getUint16(44, true))
}

/** Up to the samples. */
function hasChunk(file: DataView, from: number, name: string): boolean {
  for (let at = from; at + CHUNK_HEAD <= file.byteLength; ) {
    const found = nameAt(file, at, 4)
    if (found === name) return true
    if (found === 'data') return false
    const length = file.getUint32(at + 4, true)
    at += CHUNK_HEAD + length + (length % 2)
  }
  return false
}

/** The lowest rate of MPEG audio: 8 kilobits a second. */
const LEAST_MP3_BYTES_A_SECOND = 1_000
const TAG_BYTES = 10

/** By its lowest rate, if the first frame follows at once, or after one tag. */
function secondsOfMp3(file: DataView): number | null {
  const at = nameAt(file, 0, 3) === 'ID3' && file.byteLength >= TAG_BYTES ? TAG_BYTES + syncSafe(file, 6) : 0
  if (at + 4 > file.byteLength) return null
  const head = file.getUint32(at)
  const isFrame = (head & 0xffe0_0000) >>> 0 === 0xffe0_0000
  const [version, layer, rate, frequency] = [
    (head >>> 19) & 3,
    (head >>> 17) & 3,
    (head >>> 12) & 15,
    (head >>> 10) & 3,
  ]
  const isReal = version !== 1 && layer !== 0 && rate !== 0 && rate !== 15 && frequency !== 3
  return isFrame && isReal ? file.byteLength / LEAST_MP3_BYTES_A_SECOND : null
}

/** Four bytes of seven bits. */
function syncSafe(file: DataView, at: number): number {
  return [0, 1, 2, 3].reduce((sum, n) => sum * 128 + (file.getUint8(at + n) & 127), 0)
}
