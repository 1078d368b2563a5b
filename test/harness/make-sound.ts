/** Files of sound for tests, written by a muxer that is not ours: silence of any length, whose heads may say another. */
import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  MkvOutputFormat,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny'

export interface Muxed {
  codec: 'opus' | 'aac' | 'flac'
  format: () => OutputFormat
}

const webm = () => new WebMOutputFormat()
const mp4 = () => new Mp4OutputFormat()
export const MUXED: Record<string, Muxed> = {
  'Opus in Ogg': { codec: 'opus', format: () => new OggOutputFormat() },
  'Opus in WebM': { codec: 'opus', format: webm },
  'WebM as it is recorded': { codec: 'opus', format: () => new WebMOutputFormat({ appendOnly: true }) },
  'AAC in Matroska': { codec: 'aac', format: () => new MkvOutputFormat() },
  'FLAC in Matroska': { codec: 'flac', format: () => new MkvOutputFormat() },
  'AAC in M4A': { codec: 'aac', format: mp4 },
  'Opus in MP4': { codec: 'opus', format: mp4 },
  'FLAC in MP4': { codec: 'flac', format: mp4 },
  'MP4 in fragments': { codec: 'aac', format: () => new Mp4OutputFormat({ fastStart: 'fragmented' }) },
}

const FREQUENCY = 16_000
const BLOCK = 4_000
const STREAM_HEAD = Buffer.from('664c614380000022', 'hex')

/** 16,000 samples a second, 16 bits each, in blocks of a quarter of a second. `samples`: as it says itself. */
function flacHead(samples: number): Buffer {
  const info = Buffer.alloc(34)
  info.writeUInt16BE(BLOCK, 0)
  info.writeUInt16BE(BLOCK, 2)
  info.writeUIntBE(FREQUENCY << 4, 10, 3)
  info.writeUInt8(15 << 4, 13)
  info.writeUInt32BE(samples, 14)
  return Buffer.concat([STREAM_HEAD, info])
}

/** CRC-8 and CRC-16 of FLAC, by their polynomials. */
function checksum(bytes: Uint8Array, polynomial: number, width: number): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << (width - 8)
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & (1 << (width - 1)) ? polynomial : 0)) % 2 ** width
  }
  return crc
}

/** One value, BLOCK times. */
function flacFrame(number: number): Buffer {
  const head = Buffer.from([0xff, 0xf8, 0x75, 0x08, number & 0x7f, (BLOCK - 1) >> 8, (BLOCK - 1) & 255])
  const frame = Buffer.concat([head, Buffer.from([checksum(head, 0x07, 8), 0, 0, 0])])
  const crc = checksum(frame, 0x8005, 16)
  return Buffer.concat([frame, Buffer.from([crc >> 8, crc & 255])])
}

const CODECS = {
  opus: {
    each: 0.02,
    packet: () => Buffer.from('08010203', 'hex'),
    config: {
      codec: 'opus',
      numberOfChannels: 1,
      sampleRate: 48_000,
      description: Buffer.from('4f707573486561640101000080bb0000000000', 'hex'),
    },
  },
  aac: {
    each: 0.128,
    packet: () => Buffer.from('00c8000007', 'hex'),
    // Of 8,000 samples a second.
    config: {
      codec: 'mp4a.40.2',
      numberOfChannels: 1,
      sampleRate: 8_000,
      description: Buffer.from('1588', 'hex'),
    },
  },
  flac: {
    each: BLOCK / FREQUENCY,
    packet: flacFrame,
    config: { codec: 'flac', numberOfChannels: 1, sampleRate: FREQUENCY, description: flacHead(0) },
  },
} as const

/** `toldSeconds`: as its heads and its clock have it. */
export async function makeSound(
  { codec, format }: Muxed,
  seconds: number,
  toldSeconds = seconds,
): Promise<Buffer<ArrayBuffer>> {
  const { each, packet, config } = CODECS[codec]
  const target = new BufferTarget()
  const output = new Output({ format: format(), target })
  const source = new EncodedAudioPacketSource(codec)
  output.addAudioTrack(source)
  await output.start()
  const count = Math.round(seconds / each)
  const told = toldSeconds / count
  for (let n = 0; n < count; n++)
    await source.add(new EncodedPacket(packet(n), 'key', n * told, told), { decoderConfig: { ...config } })
  await output.finalize()
  const file = Buffer.from(target.buffer ?? new ArrayBuffer(0))
  setClock(file, toldSeconds / seconds)
  return file
}

/** Ogg's muxer goes by its packets, whatever it is told. */
function setClock(file: Buffer, factor: number): void {
  const isOgg = file.toString('latin1', 0, 4) === 'OggS'
  for (let at = 0; isOgg && at >= 0; at = file.indexOf('OggS', at + 1)) {
    const clock = Number(file.readBigInt64LE(at + 6))
    file.writeBigInt64LE(BigInt(Math.round(clock * factor)), at + 6)
  }
}

export function makeFlac(seconds: number, toldSeconds = seconds): Buffer<ArrayBuffer> {
  const frames = Array.from({ length: (seconds * FREQUENCY) / BLOCK }, (_, n) => flacFrame(n))
  return Buffer.concat([flacHead(toldSeconds * FREQUENCY), ...frames])
}

/** A page of Ogg with one packet. `flags`: 2 begins a stream. */
export function makePage(flags: number, clock: number, packet: Buffer): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(28)
  head.write('OggS')
  head.writeUInt8(flags, 5)
  head.writeBigInt64LE(BigInt(clock), 6)
  head.writeUInt8(1, 26)
  head.writeUInt8(packet.length, 27)
  return Buffer.concat([head, packet])
}

export function makeOggFlac(seconds: number, toldSeconds = seconds): Buffer<ArrayBuffer> {
  const head = Buffer.concat([Buffer.from('7f464c414301000001', 'hex'), flacHead(0)])
  const count = (seconds * FREQUENCY) / BLOCK
  const pages = Array.from({ length: count }, (_, n) =>
    makePage(0, Math.round(((n + 1) / count) * toldSeconds * FREQUENCY), flacFrame(n)),
  )
  return Buffer.concat([makePage(2, 0, head), ...pages])
}

const MP3_SECONDS = 1_152 / 44_100
const MP3_BYTES = 417

/** 128 kilobits a second. */
export function makeMp3(seconds: number): Buffer<ArrayBuffer> {
  const frame = Buffer.alloc(MP3_BYTES)
  frame.writeUInt32BE(0xfffb_9000)
  return Buffer.concat(Array.from({ length: Math.round(seconds / MP3_SECONDS) }, () => frame))
}

/** 16,000 samples a second, 16 bits each. */
export function makeWav(seconds: number): Buffer<ArrayBuffer> {
  const head = Buffer.from('524946460000000057415645666d74201000000001000100803e0000007d00000200100064617461', 'hex')
  return Buffer.concat([head, Buffer.alloc(seconds * FREQUENCY * 2 - head.length)])
}
