/** How long files of sound are: whatever their heads say, no shorter than what a decoder finds in them. */
import { describe, expect, test } from 'vitest'
import { measureSound } from '../../../src/formats/sound/measure-sound.ts'
import { MUXED, makeFlac, makeMp3, makeOggFlac, makePage, makeSound, makeWav } from '../../harness/make-sound.ts'

const secondsOf = (file: Buffer) => measureSound(file) ?? 0
const OGG = MUXED['Opus in Ogg'] as (typeof MUXED)[string]
const WEBM = MUXED['Opus in WebM'] as (typeof MUXED)[string]

describe.each(Object.entries(MUXED))('%s', (_, muxed) => {
  test('is as long as it says', async () => {
    expect(secondsOf(await makeSound(muxed, 96))).toBeCloseTo(96, 1)
  })

  test('is as long as its packets are, though its head says less', async () => {
    expect(secondsOf(await makeSound(muxed, 96, 1))).toBeCloseTo(96, 1)
  })

  test('is as long as its head says, if its packets are fewer', async () => {
    expect(secondsOf(await makeSound(muxed, 3.84, 96))).toBeGreaterThan(90)
  })

  test('that is cut is measured as far as it goes', async () => {
    const whole = await makeSound(muxed, 96)
    for (const length of [10, 60, 200, whole.length / 2, whole.length - 3].map(Math.floor)) {
      const seconds = measureSound(whole.subarray(0, length))
      expect(seconds ?? 0, `${length} bytes`).toBeLessThan(97)
    }
  })
})

test.each([
  ['WAV', makeWav],
  ['FLAC', makeFlac],
  ['MP3', makeMp3],
])('%s', (_, make) => {
  expect(secondsOf(make(600))).toBeCloseTo(600, 0)
})

test('what follows a tag', () => {
  const tag = Buffer.concat([Buffer.from('49443303000000000f00', 'hex'), Buffer.alloc(15 * 128)])
  expect(secondsOf(Buffer.concat([tag, makeMp3(60)]))).toBeCloseTo(60, 0)
  expect(secondsOf(Buffer.concat([tag, makeFlac(60)]))).toBeCloseTo(60, 0)
})

test.each([
  ['FLAC', makeFlac],
  ['FLAC in Ogg', makeOggFlac],
])('%s is as long as its frames, or as its head says', (_, make) => {
  expect(secondsOf(make(3_600, 1))).toBeCloseTo(3_600, 0)
  expect(secondsOf(make(1, 3_600))).toBeCloseTo(3_600, 0)
})

test('MP3 with little of it in frames is as long as at the lowest rate', () => {
  const few = Buffer.concat([makeMp3(1), Buffer.alloc(100_000)])
  expect(secondsOf(few)).toBeCloseTo(few.length / 1_000, 3)
})

test('Opus by the length and the number of the frames in each packet', async () => {
  const plain = await makeSound(OGG, 10, 1)
  const with120Ms = Buffer.from(plain.toString('latin1').replaceAll('\x08\x01\x02\x03', '\x1b\x02\x02\x03'), 'latin1')
  expect(secondsOf(with120Ms)).toBeCloseTo(60, 1)
})

test('files one after the other are as long as all together', async () => {
  const file = await makeSound(OGG, 30)
  expect(secondsOf(Buffer.concat([file, file]))).toBeCloseTo(60, 1)
})

test('what is broken is skipped, as decoders do', async () => {
  const [ogg, webm] = [await makeSound(OGG, 30, 1), await makeSound(WEBM, 30, 1)]
  const cluster = webm.indexOf('1f43b675', 0, 'hex')
  const broken = Buffer.concat([webm.subarray(0, cluster), Buffer.alloc(9), webm.subarray(cluster)])
  expect(secondsOf(broken)).toBeCloseTo(30, 1)
  const page = ogg.lastIndexOf('OggS')
  expect(secondsOf(Buffer.concat([ogg.subarray(0, page), Buffer.alloc(9), ogg.subarray(page)]))).toBeCloseTo(30, 1)
})

test('a file of thousands of tracks is not measured', async () => {
  const [webm, mp4] = [
    await makeSound(WEBM, 1),
    await makeSound(MUXED['MP4 in fragments'] as (typeof MUXED)[string], 2.56),
  ]
  const at = webm.indexOf('1f43b675', 0, 'hex')
  const tracks = Array.from({ length: 2_000 }, (_, n) => Buffer.from([0xae, 0x84, 0xd7, 0x82, n >> 8, n & 255]))
  expect(measureSound(Buffer.concat([webm.subarray(0, at), ...tracks, webm.subarray(at)]))).toBeNull()
  const box = Buffer.from('000000087472616b', 'hex')
  expect(measureSound(Buffer.concat([mp4, ...Array<Buffer>(2_000).fill(box)]))).toBeNull()
  const fragments = Array.from({ length: 2_000 }, (_, n) =>
    Buffer.from(`000000107466686400000000${n.toString(16).padStart(8, '0')}`, 'hex'),
  )
  expect(measureSound(Buffer.concat([mp4, ...fragments]))).toBeNull()
  const ogg = await makeSound(OGG, 1)
  expect(measureSound(Buffer.concat(Array<Buffer>(2_000).fill(ogg)))).toBeNull()
})

test('edits may play a sound again', async () => {
  const file = await makeSound(MUXED['AAC in M4A'] as (typeof MUXED)[string], 12.8)
  const edits = Buffer.alloc(16 + 3 * 12)
  edits.writeUInt32BE(edits.length)
  edits.write('elst', 4)
  edits.writeUInt32BE(3, 12)
  const at = file.indexOf('mdia', 0, 'latin1') - 4
  const scale = file.readUInt32BE(file.indexOf('mvhd', 0, 'latin1') + 16)
  for (let n = 0; n < 3; n++) edits.writeUInt32BE(20 * scale, 16 + n * 12)
  expect(secondsOf(Buffer.concat([file.subarray(0, at), edits, file.subarray(at)]))).toBeCloseTo(60, 3)
})

test('Vorbis is as long as its packets, by their modes, or as they can be', () => {
  const head = Buffer.alloc(30)
  head.write('\x01vorbis', 'latin1')
  head.writeUInt32LE(8_000, 12)
  // Blocks of 256 and of 2,048 samples.
  head.writeUInt8(0xb8, 28)
  const pages = [makePage(2, 0, head), ...Array.from({ length: 100 }, (_, n) => makePage(0, n, Buffer.from([0, n])))]
  expect(secondsOf(Buffer.concat(pages))).toBeCloseTo(12.8, 3)
  expect(secondsOf(Buffer.concat([...pages, makePage(4, 800_000, Buffer.from([0]))]))).toBeCloseTo(100, 3)
  // One mode of short blocks and one of long ones, and the bit that ends them.
  const mode = (isLong: string) => `${isLong}${'0'.repeat(32)}00000000`
  const bits = `${'0'.repeat(50)}100000${mode('0')}${mode('1')}1`
  const setup = Buffer.alloc(7 + Math.ceil(bits.length / 8))
  setup.write('\x05vorbis', 'latin1')
  for (const [n, bit] of [...bits].entries())
    setup[7 + (n >>> 3)] = (setup[7 + (n >>> 3)] ?? 0) | (Number(bit) << (n & 7))
  const audio = (byte: number) => makePage(0, 0, Buffer.from([byte, 1]))
  const known = [
    makePage(2, 0, head),
    makePage(0, 0, setup),
    ...Array.from({ length: 90 }, () => audio(0)),
    ...Array.from({ length: 10 }, () => audio(2)),
  ]
  expect(secondsOf(Buffer.concat(known))).toBeCloseTo(90 * 0.016 + 10 * 0.128, 6)
  const element = (id: string, ...data: Buffer[]) => {
    const all = Buffer.concat(data)
    return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x40 | (all.length >> 8), all.length & 255]), all])
  }
  const byte = (value: number) => Buffer.from([value])
  const track = element(
    'ae',
    element('d7', byte(1)),
    element('83', byte(2)),
    element('86', Buffer.from('A_VORBIS')),
    element('63a2', Buffer.from([2, head.length, 0]), head, setup),
  )
  const blocks = Array.from({ length: 100 }, (_, n) => element('a3', Buffer.from([0x81, 0, 0, 0, n < 90 ? 0 : 2, 1])))
  const webm = [element('1a45dfa3'), Buffer.from('1853806701ffffffffffffff', 'hex'), element('1654ae6b', track)]
  const cluster = Buffer.from('1f43b67501ffffffffffffff', 'hex')
  expect(secondsOf(Buffer.concat([...webm, cluster, ...blocks]))).toBeCloseTo(90 * 0.016 + 10 * 0.128, 6)
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('It is no sound.')],
  ['a WAV file of another codec', Buffer.concat([makeWav(1).fill(0x11, 20, 21)])],
  [
    'Ogg of an unknown codec',
    Buffer.concat([Buffer.from('OggS'), Buffer.alloc(22), Buffer.from([1, 8]), Buffer.from('Speex   ')]),
  ],
])('%s is of no known length', (_, file) => {
  expect(measureSound(file)).toBeNull()
})
