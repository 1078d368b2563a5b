/** Returns a lower bound on the bytes per second of an audio file, from which an upper bound on its duration follows. */

/** The lowest rate of MPEG audio is 8 kilobits per second. */
export const MIN_MP3_BYTES_PER_SECOND = 1_000
/** The bound for other formats. FLAC encodes eight seconds of silence in twelve bytes, and headers do not bind decoders. */
const MIN_BYTES_PER_SECOND = 1
const [PCM, FLOAT, EXTENSIBLE] = [1, 3, 0xfffe]
/** Bit rate indexes of MPEG audio that stand for no rate. */
const INVALID_RATE_INDEXES = [0, 15]

export function minBytesPerSecondOf(file: Buffer): number {
  return wavBytesPerSecond(file) ?? (isMp3(file) ? MIN_MP3_BYTES_PER_SECOND : MIN_BYTES_PER_SECOND)
}

/** Returns the rate of a WAV file with uncompressed samples and exactly one `fmt` chunk, which comes first; else null. */
function wavBytesPerSecond(file: Buffer): number | null {
  if (nameAt(file, 0, 4) !== 'RIFF' || nameAt(file, 8, 8) !== 'WAVEfmt ' || file.length < 46) return null
  const format = file.readUInt16LE(20)
  const isPlain = [PCM, FLOAT].includes(format === EXTENSIBLE ? file.readUInt16LE(44) : format)
  const bytesPerSecond = file.readUInt16LE(22) * file.readUInt32LE(24) * Math.floor(file.readUInt16LE(34) / 8)
  const next = 20 + file.readUInt32LE(16)
  return isPlain && bytesPerSecond > 0 && !hasSecondFormat(file, next) ? bytesPerSecond : null
}

function nameAt(file: Buffer, at: number, length: number): string {
  return file.toString('latin1', at, at + length)
}

/** Whether another `fmt` chunk occurs before the samples. */
function hasSecondFormat(file: Buffer, from: number): boolean {
  for (let at = from; at + 8 <= file.length; ) {
    const found = nameAt(file, at, 4)
    if (found === 'fmt ' || found === 'data') return found === 'fmt '
    const length = file.readUInt32LE(at + 4)
    at += 8 + length + (length % 2)
  }
  return false
}

/** Whether the file begins with an MPEG audio frame, possibly after one ID3 tag. */
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
  return (
    head >>> 21 === 0x7ff && version !== 1 && layer !== 0 && !INVALID_RATE_INDEXES.includes(rate) && frequency !== 3
  )
}

/** Returns the position after the ID3 tag; 0 without a tag. */
function skipTag(file: Buffer): number {
  if (nameAt(file, 0, 3) !== 'ID3' || file.length < 10) return 0
  // The length consists of four bytes with seven bits each.
  return 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (file.readUInt8(at) & 127), 0)
}
