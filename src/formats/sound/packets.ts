/** How long a packet of a codec lasts at most, by what its decoder goes by. */

/** A file of more is not measured: each takes memory. */
export const MOST_TRACKS = 1_000

/** By the first byte of an Opus packet (RFC 6716, 3.1): its frames' length in milliseconds. */
function opusFrameMs(config: number): number {
  if (config < 12) return [10, 20, 40, 60][config & 3] ?? 0
  return config < 16 ? ((config & 1) + 1) * 10 : 2.5 * 2 ** (config & 3)
}

export const LONGEST_OPUS_SECONDS = 0.12

export function secondsOfOpus(packet: Buffer): number {
  const [first = 0, second = 0] = packet
  const frames = [1, 2, 2, second & 63][first & 3] ?? 0
  return packet.length === 0 ? 0 : Math.min(LONGEST_OPUS_SECONDS, (opusFrameMs(first >>> 3) * frames) / 1_000)
}

const VORBIS_HEAD = '\x01vorbis'
const VORBIS_SETUP = '\x05vorbis'
/** Of a mode in Vorbis' last head: whether its blocks are long, fields of zeros, and a mapping. */
const MODE_BITS = 41
const ZEROS = 32
const COUNT_BITS = 6

/**
 * By Vorbis' heads, of which the last one may be unknown: of each packet, half of its block, which is a long one where nothing is known. Null
 * when they are none. The first bit of heads is set, and they last no time.
 */
export function secondsOfVorbis(head: Buffer, setup: Buffer | null): ((packet: Buffer) => number) | null {
  if (head.toString('latin1', 0, VORBIS_HEAD.length) !== VORBIS_HEAD || head.length < 29) return null
  const [frequency, blocks] = [head.readUInt32LE(12), head.readUInt8(28)]
  if (frequency === 0) return null
  const [short, long] = [2 ** (blocks & 15) / 2 / frequency, 2 ** (blocks >>> 4) / 2 / frequency]
  const areLong = setup ? readModes(setup) : []
  const mask = areLong.length > 1 ? 2 ** (32 - Math.clz32(areLong.length - 1)) - 1 : 0
  return ([first = 1]) => {
    if ((first & 1) !== 0) return 0
    return (areLong[(first >>> 1) & mask] ?? true) ? long : short
  }
}

/** From the end, because what stands before them is long. Empty: not found. */
function readModes(setup: Buffer): boolean[] {
  const bit = (at: number) => ((setup[at >>> 3] ?? 0) >>> (at & 7)) & 1
  const numberAt = (at: number, bits: number) => {
    let number = 0
    for (let n = 0; n < bits; n++) number += bit(at + n) * 2 ** n
    return number
  }
  let end = setup.length * 8 - 1
  while (end > 0 && bit(end) === 0) end--
  let found = 0
  for (let count = 1; count <= 2 ** COUNT_BITS && end - count * MODE_BITS > COUNT_BITS; count++) {
    const at = end - count * MODE_BITS
    if (numberAt(at + 1, ZEROS) !== 0) break
    if (numberAt(at - COUNT_BITS, COUNT_BITS) === count - 1) found = count
  }
  return Array.from({ length: found }, (_, n) => bit(end - (found - n) * MODE_BITS) === 1)
}

/** The same of heads in one, as they stand beside each other. */
export function secondsOfVorbisHeads(heads: Buffer): ((packet: Buffer) => number) | null {
  const [first, last] = [VORBIS_HEAD, VORBIS_SETUP].map(name => heads.indexOf(name, 0, 'latin1'))
  if (first === undefined || first < 0) return null
  return secondsOfVorbis(heads.subarray(first), last === undefined || last < 0 ? null : heads.subarray(last))
}

export function isVorbisSetup(packet: Buffer): boolean {
  return packet[0] === 5 && packet.toString('latin1', 0, VORBIS_SETUP.length) === VORBIS_SETUP
}

const AAC_FREQUENCIES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
]
const AAC_SAMPLES = 1_024
const ESCAPED = 15

/** By AAC’s head (ISO 14496-3, AudioSpecificConfig): the frequency of its core, whatever it is made to. Null when it names none. */
export function secondsOfAacFrames(head: Buffer): number | null {
  if (head.length < 2) return null
  const bits = head.readUInt16BE(0)
  // A type of 31 goes on in six more bits, and nobody has one.
  const index = (bits >>> 7) & 15
  const isEscaped = index === ESCAPED && head.length >= 5
  const frequency = isEscaped
    ? ((head.readUInt32BE(1) >>> 7) | ((bits & 127) << 17)) & 0xff_ffff
    : AAC_FREQUENCIES[index]
  return frequency ? AAC_SAMPLES / frequency : null
}
