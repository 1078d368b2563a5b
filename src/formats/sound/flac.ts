/** How long FLAC is (RFC 9639). An hour of silence takes a few kilobytes. */
import { skipTag } from './mp3.ts'

const SYNC = 0xff
/** By the code in a frame's head: samples in it. 6 and 7: they follow, in one byte or two. */
const BLOCKS = [0, 192, 576, 1_152, 2_304, 4_608, 0, 0, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768]
/** Samples a second; 0: the stream's own. 12, 13 and 14: they follow, in thousands, ones and tens. */
const FREQUENCIES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000]

/** Of frames that do not say it, where nothing else does. */
export const USUAL_FREQUENCY = 44_100
/** Where its first head ends. */
const HEAD_BYTES = 42

/** Null when it is none. It may stand behind a tag. */
export function secondsOfFlac(tagged: Buffer): number | null {
  const file = tagged.subarray(skipTag(tagged))
  if (file.length < HEAD_BYTES || file.toString('latin1', 0, 4) !== 'fLaC') return null
  const frequency = file.readUIntBE(18, 3) >>> 4
  const samples = (file.readUInt8(21) & 15) * 2 ** 32 + file.readUInt32BE(22)
  return Math.max(frequency > 0 ? samples / frequency : 0, secondsOfFrames(file, frequency))
}

/** Every head that a decoder would take for one counts, wherever it is. */
export function secondsOfFrames(file: Buffer, frequency: number): number {
  let seconds = 0
  for (let at = file.indexOf(SYNC); at >= 0; at = file.indexOf(SYNC, at + 1))
    seconds += secondsOfFrame(file, at, frequency)
  return seconds
}

function secondsOfFrame(file: Buffer, at: number, frequency: number): number {
  const [sync = 0, codes = 0, form = 1] = [file[at + 1], file[at + 2], file[at + 3]]
  const [block, rate] = [codes >>> 4, codes & 15]
  const isHead = (sync & 0xfe) === 0xf8 && block !== 0 && rate !== 15 && form >>> 4 <= 10 && (form & 1) === 0
  if (!isHead || ((form >>> 1) & 7) === 3) return 0
  const blockAt = at + 4 + bytesOfNumber(file[at + 4] ?? 0)
  const rateAt = blockAt + (block === 6 ? 1 : block === 7 ? 2 : 0)
  const end = rateAt + (rate === 12 ? 1 : rate >= 13 ? 2 : 0)
  if (end >= file.length || checksum(file, at, end) !== file[end]) return 0
  const samples = rateAt > blockAt ? file.readUIntBE(blockAt, rateAt - blockAt) + 1 : (BLOCKS[block] ?? 0)
  const own = end > rateAt ? file.readUIntBE(rateAt, end - rateAt) * (rate === 12 ? 1_000 : rate === 14 ? 10 : 1) : 0
  const samplesASecond = own || FREQUENCIES[rate] || frequency
  return samplesASecond > 0 ? samples / samplesASecond : 0
}

/** Of a number in the manner of UTF-8, by its first byte. */
function bytesOfNumber(first: number): number {
  const ones = Math.clz32(~(first << 24))
  return Math.max(1, ones)
}

/** CRC-8 with the polynomial x⁸ + x² + x + 1. */
function checksum(file: Buffer, from: number, end: number): number {
  let crc = 0
  for (let at = from; at < end; at++) {
    crc ^= file[at] ?? 0
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1
  }
  return crc
}
