/** How long MP4 is (ISO 14496-12), M4A too: of its longest sound, the largest of its heads, its edits and its frames. */
import { asFarAsItGoes } from './as-far-as-it-goes.ts'
import { secondsOfFrames, USUAL_FREQUENCY } from './flac.ts'
import { MOST_TRACKS, secondsOfAacFrames, secondsOfOpus } from './packets.ts'

/** What may stand first. */
const FIRST = new Set(['ftyp', 'moov', 'mdat', 'free', 'wide', 'skip', 'styp'])
/** Boxes of boxes: these are read on from their own beginning. */
const BOXES = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'edts', 'mvex', 'moof', 'traf'])

interface Track {
  id: number
  isSound: boolean
  /** Its own units a second. */
  scale: number
  /** In its own units: by its head, and by its table. */
  duration: number
  tabled: number
  /** In the movie's units. */
  edited: number
  frames: number
  /** Of a frame; null for a codec that is not known, 0 for one whose frames say it themselves. */
  frameSeconds: number | null
}

/** What the fragments of a track come to. */
interface Fragments {
  frames: number
  /** In the track's units. */
  duration: number
  /** Of a frame, where nothing else says it: in all fragments, and in this one. */
  usual: number
  current: number
}

class Movie {
  scale = 0
  duration = 0
  readonly tracks: Track[] = []
  readonly #fragments = new Map<number, Fragments>()
  #fragment = NO_FRAGMENTS

  take(name: string, box: Buffer): void {
    const track = this.tracks.at(-1)
    if (name === 'mvhd') [this.scale, this.duration] = readClock(box)
    else if (name === 'trak') this.#begin()
    else if (name === 'trex') this.#fragmentsOf(box).usual = box.readUInt32BE(12)
    else if (name === 'tfhd') {
      this.#fragment = this.#fragmentsOf(box)
      this.#fragment.current = readFragmentHead(box) ?? this.#fragment.usual
    } else if (name === 'trun') takeRun(this.#fragment, box)
    else if (track) takeOfTrack(track, name, box)
  }

  #begin(): void {
    if (this.tracks.length <= MOST_TRACKS) this.tracks.push({ ...NO_TRACK })
  }

  #fragmentsOf(box: Buffer): Fragments {
    const id = box.readUInt32BE(4)
    const fragments = this.#fragments.get(id) ?? { ...NO_FRAGMENTS }
    if (this.#fragments.size <= MOST_TRACKS) this.#fragments.set(id, fragments)
    return fragments
  }

  /** Heads of FLAC's frames are found wherever they are. */
  get hasFlac(): boolean {
    return this.tracks.some(({ frameSeconds }) => frameSeconds === 0)
  }

  get seconds(): number | null {
    if (Math.max(this.tracks.length, this.#fragments.size) > MOST_TRACKS) return null
    const sounds = this.tracks.filter(({ isSound }) => isSound)
    const each = sounds.map(track => this.#secondsOf(track))
    return each.includes(null) ? null : each.reduce<number>((longest, seconds) => Math.max(longest, seconds ?? 0), 0)
  }

  #secondsOf({ id, scale, duration, tabled, edited, frames, frameSeconds }: Track): number | null {
    if (frameSeconds === null) return null
    const fragments = this.#fragments.get(id) ?? NO_FRAGMENTS
    const inUnits = (units: number, perSecond: number) => (perSecond > 0 ? units / perSecond : 0)
    return Math.max(
      inUnits(Math.max(duration, tabled + fragments.duration), scale),
      inUnits(Math.max(this.duration, edited), this.scale),
      (frames + fragments.frames) * frameSeconds,
    )
  }
}

const NO_FRAGMENTS: Fragments = { frames: 0, duration: 0, usual: 0, current: 0 }
const NO_TRACK: Track = {
  id: 0,
  isSound: false,
  scale: 0,
  duration: 0,
  tabled: 0,
  edited: 0,
  frames: 0,
  frameSeconds: null,
}

/** Null when it is none, or its sound is of a codec that is not known. */
export function secondsOfMp4(file: Buffer): number | null {
  if (!FIRST.has(file.toString('latin1', 4, 8))) return null
  const movie = new Movie()
  for (let at = 0; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at + 4, at + 8)
    const short = file.readUInt32BE(at)
    const isLong = short === 1 && at + 16 <= file.length
    const head = isLong ? 16 : 8
    const length = isLong ? Number(file.readBigUInt64BE(at + 8)) : short === 0 ? file.length - at : short
    asFarAsItGoes(() => movie.take(name, file.subarray(at + head, at + length)))
    at += BOXES.has(name) ? head : Math.max(head, length)
  }
  const { seconds, hasFlac } = movie
  return seconds !== null && hasFlac ? Math.max(seconds, secondsOfFrames(file, USUAL_FREQUENCY)) : seconds
}

/** Flags in a fragment's head, and in a run's: fields of so many bytes, in this order. */
const HEAD_FIELDS = [
  [0x1, 8],
  [0x2, 4],
] as const
const HEAD_DURATION = 0x8
const RUN_FIELDS = [
  [0x1, 4],
  [0x4, 4],
] as const
const RUN_DURATION = 0x100
const FRAME_FIELDS = [0x100, 0x200, 0x400, 0x800]

/** The length of its frames; null where it says none. */
function readFragmentHead(box: Buffer): number | null {
  const flags = box.readUIntBE(1, 3)
  const at = HEAD_FIELDS.reduce((sum, [flag, bytes]) => sum + (flags & flag ? bytes : 0), 8)
  return flags & HEAD_DURATION ? box.readUInt32BE(at) : null
}

function takeRun(fragments: Fragments, box: Buffer): void {
  const flags = box.readUIntBE(1, 3)
  const frames = box.readUInt32BE(4)
  fragments.frames += frames
  const each = FRAME_FIELDS.filter(flag => flags & flag).length * 4
  if (!(flags & RUN_DURATION)) fragments.duration += frames * fragments.current
  else {
    const first = RUN_FIELDS.reduce((sum, [flag, bytes]) => sum + (flags & flag ? bytes : 0), 8)
    for (let at = first; at + each <= box.length; at += each) fragments.duration += box.readUInt32BE(at)
  }
}

function takeOfTrack(track: Track, name: string, box: Buffer): void {
  if (name === 'tkhd') track.id = box.readUInt32BE(box.readUInt8(0) === 1 ? 20 : 12)
  else if (name === 'mdhd') [track.scale, track.duration] = readClock(box)
  else if (name === 'hdlr') track.isSound ||= box.toString('latin1', 8, 12) === 'soun'
  else if (name === 'elst') track.edited = Math.max(track.edited, readEdits(box))
  else if (name === 'stts') track.tabled = Math.max(track.tabled, readTable(box))
  else if (name === 'stsz' || name === 'stz2') track.frames = Math.max(track.frames, box.readUInt32BE(8))
  else if (name === 'stsd') track.frameSeconds = readCodec(box)
}

/** Units a second, and how many it lasts; all bits set: it does not say. */
function readClock(box: Buffer): [number, number] {
  const isLong = box.readUInt8(0) === 1
  const duration = isLong ? Number(box.readBigUInt64BE(24)) : box.readUInt32BE(16)
  const isUnknown = duration >= (isLong ? 2 ** 63 : 2 ** 32 - 1)
  return [box.readUInt32BE(isLong ? 20 : 12), isUnknown ? 0 : duration]
}

function readEdits(box: Buffer): number {
  const isLong = box.readUInt8(0) === 1
  const bytes = isLong ? 20 : 12
  let sum = 0
  for (let at = 8; at + bytes <= box.length; at += bytes)
    sum += isLong ? Number(box.readBigUInt64BE(at)) : box.readUInt32BE(at)
  return sum
}

/** Runs of frames of one length. */
function readTable(box: Buffer): number {
  let sum = 0
  for (let at = 8; at + 8 <= box.length; at += 8) sum += box.readUInt32BE(at) * box.readUInt32BE(at + 4)
  return sum
}

/** Without a head of its own, ALAC's frames have this many samples. */
const ALAC_SAMPLES = 4_096
/** The usual packet of Opus, by its head: 20 ms in a frame. */
const USUAL_OPUS = Buffer.from([0x08])

function readCodec(box: Buffer): number | null {
  const codec = box.toString('latin1', 12, 16)
  const frequency = box.readUInt16BE(40)
  if (codec === 'Opus') return secondsOfOpus(USUAL_OPUS)
  if (codec === 'fLaC') return 0
  if (codec === 'alac') return frequency > 0 ? ALAC_SAMPLES / frequency : null
  return codec === 'mp4a' ? readAac(box) : null
}

/** Tags of descriptors (ISO 14496-1): of a stream, of how it is decoded, of the decoder's own head. */
const STREAM = 3
const DECODER = 4
const OWN_HEAD = 5
const DECODER_BYTES = 13

function readAac(box: Buffer): number | null {
  const named = box.indexOf('esds', 0, 'latin1')
  if (named < 0) return null
  for (let at = named + 8; at < box.length; ) {
    const tag = box.readUInt8(at++)
    let length = 0
    for (let byte = 128; byte >= 128; ) {
      byte = box.readUInt8(at++)
      length = length * 128 + (byte & 127)
    }
    if (tag === OWN_HEAD) return secondsOfAacFrames(box.subarray(at, at + length))
    at += tag === STREAM ? bytesOfStream(box.readUInt8(at + 2), box, at) : tag === DECODER ? DECODER_BYTES : length
  }
  return null
}

/** Its id and flags, and what these announce. */
function bytesOfStream(flags: number, box: Buffer, at: number): number {
  const address = at + 3 + (flags & 0x80 ? 2 : 0)
  const addressBytes = flags & 0x40 ? 1 + box.readUInt8(address) : 0
  return address - at + addressBytes + (flags & 0x20 ? 2 : 0)
}
