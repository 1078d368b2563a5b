/** The least bytes that a second of an audio file takes, whatever its head says: a file is no longer than its bytes at this rate. */

/** The lowest rate of MPEG audio: 8 kilobits a second. */
export const MIN_MP3_BYTES_PER_SECOND = 1_000
/** FLAC has eight seconds of silence in twelve bytes, and Opus in twice as many; what stands in a head binds no decoder. */
const ANY_BYTES_A_SECOND = 1
const [PCM, FLOAT, EXTENSIBLE] = [1, 3, 0xfffe]
/** Kilobits a second by MPEG version 1 and layer are higher; 0 and 15 are no rate. */
const NO_RATES = [0, 15]

export function minBytesPerSecondOf(file: Buffer): number {
  return bytesASecondOfWav(file) ?? (isMp3(file) ? MIN_MP3_BYTES_PER_SECOND : ANY_BYTES_A_SECOND)
}

/** Of plain samples, whose format must stand first, and once; null otherwise. */
function bytesASecondOfWav(file: Buffer): number | null {
  if (nameAt(file, 0, 4) !== 'RIFF' || nameAt(file, 8, 8) !== 'WAVEfmt ' || file.length < 46) return null
  const format = file.readUInt16LE(20)
  const isPlain = [PCM, FLOAT].includes(format === EXTENSIBLE ? file.readUInt16LE(44) : format)
  const bytesASecond = file.readUInt16LE(22) * file.readUInt32LE(24) * Math.floor(file.readUInt16LE(34) / 8)
  const next = 20 + file.readUInt32LE(16)
  return isPlain && bytesASecond > 0 && !hasSecondFormat(file, next) ? bytesASecond : null
}

function nameAt(file: Buffer, at: number, length: number): string {
  return file.toString('latin1', at, at + length)
}

/** Up to the samples. */
function hasSecondFormat(file: Buffer, from: number): boolean {
  for (let at = from; at + 8 <= file.length; ) {
    const found = nameAt(file, at, 4)
    if (found === 'fmt ' || found === 'data') return found === 'fmt '
    const length = file.readUInt32LE(at + 4)
    at += 8 + length + (length % 2)
  }
  return false
}

/** Whether its first frame follows at once, or after one tag. */
function isMp3(file: Buffer): boolean {
  const at = skipTag(file)
  if (at + 4 > file.length) return false
  const head = file.readUInt32BE(at)
  const [version, layer, rate, frequency] = [
    (head >>> 19) & 3,
    (head >>> 17) & 3,
    (head >>> 12) & 15,
    (head >>> 10) & 3,
  ]
  return head >>> 21 === 0x7ff && version !== 1 && layer !== 0 && !NO_RATES.includes(rate) && frequency !== 3
}

/** Where a file goes on behind the tag that it may begin with. */
function skipTag(file: Buffer): number {
  if (nameAt(file, 0, 3) !== 'ID3' || file.length < 10) return 0
  // Four bytes of seven bits.
  return 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (file.readUInt8(at) & 127), 0)
}
