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

/** By Vorbis' first head: its longer blocks, of which each adds a half. Null when it is none. */
export function secondsOfVorbisPackets(head: Buffer): number | null {
  if (head.toString('latin1', 0, 7) !== '\x01vorbis' || head.length < 29) return null
  const frequency = head.readUInt32LE(12)
  return frequency > 0 ? 2 ** (head.readUInt8(28) >>> 4) / 2 / frequency : null
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
