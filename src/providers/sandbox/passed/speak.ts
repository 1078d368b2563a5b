/** The sandbox's speech: a tenth of a second of silence, in the formats that need no encoder. */
import { invalidRequest } from '../../../errors.ts'
import { encodeTypedEvents } from '../../../formats/sse/sse.ts'
import { readModel, readOptional } from '../fields.ts'
import type { SandboxAnswer } from './sandbox-answer.ts'

const SAMPLES_PER_SECOND = 24_000
const SAMPLES = SAMPLES_PER_SECOND / 10
const BYTES_PER_SAMPLE = 2
const MOST_INPUT_CHARACTERS = 4_096

const FORMATS: Record<string, { contentType: string; write(): Uint8Array }> = {
  mp3: { contentType: 'audio/mpeg', write: writeMp3 },
  wav: { contentType: 'audio/wav', write: writeWav },
  pcm: { contentType: 'audio/pcm', write: () => Buffer.alloc(SAMPLES * BYTES_PER_SAMPLE) },
}

export function speak(fields: Record<string, unknown>): SandboxAnswer {
  readModel(fields)
  const { input } = fields
  if (typeof input !== 'string' || input === '') throw invalidRequest("Missing required parameter: 'input'.", 'input')
  if (input.length > MOST_INPUT_CHARACTERS) {
    throw invalidRequest(`Invalid 'input': at most ${MOST_INPUT_CHARACTERS} characters are allowed.`, 'input')
  }
  if (readOptional(fields, 'voice') === undefined) throw invalidRequest("Missing required parameter: 'voice'.", 'voice')
  const format = FORMATS[String(readOptional(fields, 'response_format') ?? 'mp3')]
  if (!format) throw invalidRequest('The sandbox speaks mp3, wav and pcm.', 'response_format')
  const sound = format.write()
  if (fields.stream_format !== 'sse') return { contentType: format.contentType, body: sound }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const events = [
    { type: 'speech.audio.delta', audio: Buffer.from(sound).toString('base64') },
    { type: 'speech.audio.done', usage },
  ]
  return { contentType: 'text/event-stream', body: encodeTypedEvents(events) }
}

/** PCM after a RIFF header, mono. */
function writeWav(): Uint8Array {
  const size = SAMPLES * BYTES_PER_SAMPLE
  const wav = Buffer.alloc(44 + size)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(36 + size, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(SAMPLES_PER_SECOND, 24)
  wav.writeUInt32LE(SAMPLES_PER_SECOND * BYTES_PER_SAMPLE, 28)
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32)
  wav.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(size, 40)
  return wav
}

/** Four frames of MPEG 1, layer III, 128 kbit/s, 44.1 kHz: a header each, then zeros, which are silence. */
function writeMp3(): Uint8Array {
  const frameBytes = Math.floor((144 * 128_000) / 44_100)
  const frame = Buffer.alloc(frameBytes)
  frame.set([0xff, 0xfb, 0x90, 0xc4])
  return Buffer.concat(Array(4).fill(frame))
}
