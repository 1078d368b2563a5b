/** How long MPEG audio is: MP3, and the layers before it. */

/** The lowest rate of MPEG audio: 8 kilobits a second. */
export const LEAST_BYTES_A_SECOND = 1_000
const TAG_BYTES = 10
/** In kilobits a second: by version 1 and layer, then of the later versions' layer I, and II and III. */
const RATES = {
  first: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  second: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  third: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  lowFirst: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  low: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const FREQUENCIES = [44_100, 48_000, 32_000]
/** As the head has them. */
const VERSION_1 = 3
const VERSION_2 = 2
const LAYER_1 = 3
const LAYER_2 = 2
const LAYER_3 = 1
/** A file of frames has this much of its bytes in them. */
const LEAST_SHARE = 0.9

interface Frame {
  bytes: number
  seconds: number
}

/** At its lowest rate, which no decoder can exceed; null if its first frame does not follow at once, or after one tag. */
export function mostSecondsOfMp3(file: Buffer): number | null {
  return readFrame(file, skipTag(file)) ? file.length / LEAST_BYTES_A_SECOND : null
}

/** By its frames; where there is too much between them, at its lowest rate. */
export function secondsOfMp3(file: Buffer): number | null {
  const most = mostSecondsOfMp3(file)
  const begin = skipTag(file)
  let seconds = 0
  let inFrames = begin
  for (let at = begin; most !== null && at + 4 <= file.length; ) {
    const frame = readFrame(file, at)
    if (frame) {
      seconds += frame.seconds
      inFrames += frame.bytes
    }
    at = frame ? at + frame.bytes : nextSync(file, at)
  }
  return most !== null && inFrames >= file.length * LEAST_SHARE ? Math.min(most, seconds) : most
}

function nextSync(file: Buffer, at: number): number {
  const next = file.indexOf(0xff, at + 1)
  return next < 0 ? file.length : next
}

function readFrame(file: Buffer, at: number): Frame | null {
  if (at + 4 > file.length) return null
  const head = file.readUInt32BE(at)
  if ((head & 0xffe0_0000) >>> 0 !== 0xffe0_0000) return null
  const [version, layer] = [(head >>> 19) & 3, (head >>> 17) & 3]
  const bitsASecond = (ratesOf(version, layer)[(head >>> 12) & 15] ?? 0) * 1_000
  const frequency = (FREQUENCIES[(head >>> 10) & 3] ?? 0) / (version === VERSION_1 ? 1 : version === VERSION_2 ? 2 : 4)
  if (version === 1 || layer === 0 || bitsASecond === 0 || frequency === 0) return null
  const samples = layer === LAYER_1 ? 384 : layer === LAYER_3 && version !== VERSION_1 ? 576 : 1_152
  const seconds = samples / frequency
  // Padding is a slot: four bytes in layer I.
  const slotBytes = layer === LAYER_1 ? 4 : 1
  const slots = Math.floor((seconds * bitsASecond) / 8 / slotBytes) + ((head >>> 9) & 1)
  return { bytes: slots * slotBytes, seconds }
}

function ratesOf(version: number, layer: number): readonly number[] {
  if (version !== VERSION_1) return layer === LAYER_1 ? RATES.lowFirst : RATES.low
  return layer === LAYER_1 ? RATES.first : layer === LAYER_2 ? RATES.second : RATES.third
}

/** Where a file goes on behind the tag that it may begin with. */
export function skipTag(file: Buffer): number {
  if (file.toString('latin1', 0, 3) !== 'ID3' || file.length < TAG_BYTES) return 0
  // Four bytes of seven bits.
  return TAG_BYTES + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (file.readUInt8(at) & 127), 0)
}
