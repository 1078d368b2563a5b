/** How long WebM is, and Matroska (RFC 9559): of its longest sound, the largest of its head, its clock and its packets. */
import { asFarAsItGoes } from './as-far-as-it-goes.ts'
import { secondsOfFrames, USUAL_FREQUENCY } from './flac.ts'
import {
  LONGEST_OPUS_SECONDS,
  MOST_TRACKS,
  secondsOfAacFrames,
  secondsOfOpus,
  secondsOfVorbisHeads,
} from './packets.ts'

const EBML = 0x1a45dfa3
const CLUSTER = 0x1f43b675
const CLUSTER_BYTES = Buffer.from('1f43b675', 'hex')
const [SCALE, DURATION, TIME] = [0x2ad7b1, 0x4489, 0xe7]
const [TRACK, NUMBER, TYPE, CODEC, CODEC_HEAD] = [0xae, 0xd7, 0x83, 0x86, 0x63a2]
const [SIMPLE_BLOCK, BLOCK] = [0xa3, 0xa1]
/** Elements of elements, which are read on from their own beginning: Segment, Info, Tracks, TrackEntry, Cluster, BlockGroup. */
const OUTER = new Set([0x18538067, 0x1549a966, 0x1654ae6b, TRACK, CLUSTER, 0xa0])
const SOUND = 2
const NANOSECONDS = 1e9

const FLAC = 'A_FLAC'
const EMPTY = Buffer.alloc(0)

interface Track {
  type: number
  codec: string
  head: Buffer
  /** Made of its codec and head with its first packet. */
  ofPacket: OfPacket | null
  /** Of its packets. */
  seconds: number
}

class Recording {
  /** Nanoseconds a unit. */
  scale = 1_000_000
  /** In units. */
  duration = 0
  #time = 0
  #last = 0
  #track: Track | null = null
  readonly #tracks = new Map<number, Track>()

  take(id: number, data: Buffer): void {
    const track = this.#track
    if (id === SCALE) this.scale = readNumber(data)
    else if (id === DURATION) this.duration = data.length === 8 ? data.readDoubleBE(0) : data.readFloatBE(0)
    else if (id === TIME) this.#time = readNumber(data)
    else if (id === TRACK) this.#track = { type: 0, codec: '', head: EMPTY, ofPacket: null, seconds: 0 }
    else if (id === SIMPLE_BLOCK || id === BLOCK) this.#takeBlock(data)
    else if (track && id === NUMBER && this.#tracks.size <= MOST_TRACKS) this.#tracks.set(readNumber(data), track)
    else if (track && id === TYPE) track.type = readNumber(data)
    else if (track && id === CODEC) track.codec = data.toString('latin1')
    else if (track && id === CODEC_HEAD) track.head = data
  }

  #takeBlock(block: Buffer): void {
    const [number, at] = readVint(block, 0)
    const time = this.#time + block.readInt16BE(at)
    this.#last = Math.max(this.#last, time)
    const isLaced = (block.readUInt8(at + 2) & 6) !== 0
    const track = this.#tracks.get(number)
    if (track?.type !== SOUND) return
    const packets = isLaced ? block.readUInt8(at + 3) + 1 : 1
    track.ofPacket ??= ofPackets(track)
    track.seconds += packets * (track.ofPacket?.(isLaced ? null : block.subarray(at + 3)) ?? Number.NaN)
  }

  /** Not a number where there is a codec that is not known, or too much. `inFrames`: of FLAC, whose heads are found wherever they are. */
  secondsWith(inFrames: () => number): number {
    if (this.#tracks.size > MOST_TRACKS) return Number.NaN
    const clock = Math.max(this.duration, this.#last) * (this.scale / NANOSECONDS)
    const tracks = [...this.#tracks.values()]
    const flac = tracks.some(({ codec }) => codec === FLAC) ? inFrames() : 0
    return tracks.reduce((longest, { seconds }) => Math.max(longest, seconds), Math.max(clock, flac))
  }
}

type OfPacket = (packet: Buffer | null) => number

/** `packet`: null where it stands between others. Null for an unknown codec. */
function ofPackets({ codec, head }: Track): OfPacket | null {
  if (codec === 'A_OPUS') return packet => (packet === null ? LONGEST_OPUS_SECONDS : secondsOfOpus(packet))
  if (codec === FLAC) return () => 0
  if (codec === 'A_AAC') {
    const each = secondsOfAacFrames(head)
    return each === null ? null : () => each
  }
  const vorbis = codec === 'A_VORBIS' ? secondsOfVorbisHeads(head) : null
  return vorbis && (packet => vorbis(packet ?? LONG_PACKET))
}

/** As long as any: of a mode that there is not. */
const LONG_PACKET = Buffer.from([0xfe])

/** Null when it is none, or its sound is of a codec that is not known. */
export function secondsOfWebm(file: Buffer): number | null {
  if (file.length < 4 || file.readUInt32BE(0) !== EBML) return null
  const recording = new Recording()
  for (let at = 0; at >= 0 && at < file.length; ) {
    const from = at
    const element = asFarAsItGoes(() => readElement(file, from))
    if (element) asFarAsItGoes(() => recording.take(element.id, file.subarray(element.start, element.end)))
    // What is broken is skipped, as decoders do.
    if (element) at = OUTER.has(element.id) ? element.start : element.end
    else at = file.indexOf(CLUSTER_BYTES, at + 1)
  }
  const seconds = recording.secondsWith(() => secondsOfFrames(file, USUAL_FREQUENCY))
  return Number.isNaN(seconds) ? null : seconds
}

/** Null for what cannot be one, or is cut. */
function readElement(file: Buffer, at: number): { id: number; start: number; end: number } | null {
  const idBytes = Math.clz32(file.readUInt8(at)) - 23
  if (idBytes > 4 || at + idBytes >= file.length) return null
  const id = file.readUIntBE(at, idBytes)
  const [length, start] = readVint(file, at + idBytes)
  if (OUTER.has(id)) return { id, start, end: file.length }
  const end = start + length
  return end <= file.length ? { id, start, end } : null
}

/** A number of variable length, and where it ends. All bits set: not known, which no number reaches. */
function readVint(file: Buffer, at: number): [number, number] {
  const first = file.readUInt8(at)
  const bytes = Math.clz32(first) - 23
  if (bytes > 8) return [Number.POSITIVE_INFINITY, at + 1]
  let value = first & (0xff >>> bytes)
  for (let next = at + 1; next < at + bytes; next++) value = value * 256 + file.readUInt8(next)
  return [value, at + bytes]
}

function readNumber(data: Buffer): number {
  return data.reduce((sum, byte) => sum * 256 + byte, 0)
}
