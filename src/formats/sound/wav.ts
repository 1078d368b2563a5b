/** How long the sound in a WAV file is. */

const PCM = 1
const FLOAT = 3
const EXTENSIBLE = 0xfffe
/** Of a chunk: where the length of its head ends. */
const CHUNK_HEAD = 8

/** By its samples: the format must stand first, once, and be of plain samples; null otherwise. No decoder finds more in it. */
export function secondsOfWav(file: Buffer): number | null {
  if (nameAt(file, 0, 4) !== 'RIFF' || nameAt(file, 8, 8) !== 'WAVEfmt ' || file.length < 36) return null
  const format = file.readUInt16LE(20)
  const isPlain = format === PCM || format === FLOAT || (format === EXTENSIBLE && isPlainExtensible(file))
  const bytesASecond = file.readUInt16LE(22) * file.readUInt32LE(24) * Math.floor(file.readUInt16LE(34) / 8)
  const next = 12 + CHUNK_HEAD + file.readUInt32LE(16)
  if (!isPlain || bytesASecond === 0 || hasChunk(file, next, 'fmt ')) return null
  return file.length / bytesASecond
}

function nameAt(file: Buffer, at: number, length: number): string {
  return file.toString('latin1', at, at + length)
}

function isPlainExtensible(file: Buffer): boolean {
  return file.length >= 46 && [PCM, FLOAT].includes(file.readUInt16LE(44))
}

/** Up to the samples. */
function hasChunk(file: Buffer, from: number, name: string): boolean {
  for (let at = from; at + CHUNK_HEAD <= file.length; ) {
    const found = nameAt(file, at, 4)
    if (found === name) return true
    if (found === 'data') return false
    const length = file.readUInt32LE(at + 4)
    at += CHUNK_HEAD + length + (length % 2)
  }
  return false
}
