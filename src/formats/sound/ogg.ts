/** How long Ogg is (RFC 3533): of each of its streams, the larger of its clock and its packets. */
import { secondsOfFrames } from './flac.ts'
import { isVorbisSetup, MOST_TRACKS, secondsOfOpus, secondsOfVorbis } from './packets.ts'

const PAGE_HEAD = 27
const CONTINUES = 1
const BEGINS = 2
/** A stream's own clock, which counts samples. */
const OPUS_FREQUENCY = 48_000

interface Stream {
  /** Null for what is no sound. */
  secondsOf: ((packet: Buffer) => number) | null
  /** Vorbis' first packet, until its last head is read. */
  head: Buffer | null
  frequency: number
  seconds: number
  /** Where its last page ends by its clock. */
  end: number
  /** Its last packet goes on. */
  isOpen: boolean
}

/** Null when it is none, or holds a sound that is not known. */
export function secondsOfOgg(file: Buffer): number | null {
  if (file.toString('latin1', 0, 4) !== 'OggS') return null
  const streams: Stream[] = []
  const open = new Map<number, Stream>()
  for (let at = 0; at >= 0 && at + PAGE_HEAD <= file.length; ) {
    const page = readPage(file, at)
    if (page.flags & BEGINS) {
      const stream = openStream(page.packets[0])
      if (stream === null || streams.length === MOST_TRACKS) return null
      streams.push(stream)
      open.set(page.serial, stream)
    }
    const stream = open.get(page.serial)
    if (stream) takePage(stream, page)
    at = file.indexOf('OggS', page.end, 'latin1')
  }
  // Heads of FLAC's frames are found wherever they are.
  const flac = streams.find(({ secondsOf }) => secondsOf === OF_FLAC)
  if (flac) flac.seconds = secondsOfFrames(file, flac.frequency)
  return streams.reduce((sum, { seconds, end }) => sum + Math.max(seconds, end), 0)
}

interface Page {
  flags: number
  serial: number
  /** -1 where no packet ends. */
  clock: number
  packets: Buffer[]
  /** Its last packet goes on. */
  isOpen: boolean
  end: number
}

function readPage(file: Buffer, at: number): Page {
  const lacing = file.subarray(at + PAGE_HEAD, at + PAGE_HEAD + file.readUInt8(at + 26))
  const packets: Buffer[] = []
  let start = at + PAGE_HEAD + lacing.length
  let end = start
  for (const [index, lace] of lacing.entries()) {
    end += lace
    if (lace === 255 && index < lacing.length - 1) continue
    packets.push(file.subarray(start, end))
    start = end
  }
  const clock = Number(file.readBigInt64LE(at + 6))
  return {
    flags: file.readUInt8(at + 5),
    serial: file.readUInt32LE(at + 14),
    clock,
    packets,
    isOpen: lacing.at(-1) === 255,
    end,
  }
}

/** By its first packet; null: of an unknown codec. */
function openStream(head: Buffer | undefined): Stream | null {
  const stream = { head: null, seconds: 0, end: 0, isOpen: false }
  const begins = (name: string) => head?.toString('latin1', 0, name.length) === name
  if (!head || begins('\x80theora') || begins('fishead')) return { ...stream, secondsOf: null, frequency: 0 }
  if (begins('OpusHead')) return { ...stream, secondsOf: secondsOfOpus, frequency: OPUS_FREQUENCY }
  const vorbis = secondsOfVorbis(head, null)
  if (vorbis) return { ...stream, head, secondsOf: vorbis, frequency: head.readUInt32LE(12) }
  if (!begins('\x7fFLAC') || head.length < 30) return null
  return { ...stream, secondsOf: OF_FLAC, frequency: head.readUIntBE(27, 3) >>> 4 }
}

const OF_FLAC = () => 0

function takePage(stream: Stream, { flags, clock, packets, isOpen }: Page): void {
  const { frequency } = stream
  if (stream.secondsOf === null) return
  const own = flags & CONTINUES && stream.isOpen ? packets.slice(1) : packets
  for (const packet of own) {
    if (stream.head && isVorbisSetup(packet)) {
      stream.secondsOf = secondsOfVorbis(stream.head, packet) ?? stream.secondsOf
      stream.head = null
    } else if (!isHead(packet)) stream.seconds += stream.secondsOf(packet)
  }
  stream.isOpen = isOpen
  if (frequency > 0) stream.end = Math.max(stream.end, clock / frequency)
}

/** In ASCII. */
const OPUS = 0x4f707573

/** Opus’ two, which precede its packets. */
function isHead(packet: Buffer): boolean {
  return packet.length >= 4 && packet.readUInt32BE(0) === OPUS
}
