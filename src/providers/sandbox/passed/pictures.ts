/** The sandbox's images: a grey pixel in PNG, as many times as asked for. */
import { crc32, deflateSync } from 'node:zlib'
import { invalidRequest } from '../../../errors.ts'
import { encodeTypedEvents } from '../../../formats/sse/sse.ts'
import { readInteger, readText } from '../fields.ts'
import type { SandboxAnswer } from './sandbox-answer.ts'

const MOST_PICTURES = 10
const POINT = writePng().toString('base64')

/** `event` is the name of a stream's events. In a form, numbers and booleans are text. */
export function makePictures(
  given: Record<string, unknown>,
  event: 'image_generation' | 'image_edit',
  needsPrompt: boolean,
): SandboxAnswer {
  const fields: Record<string, unknown> = { ...given, n: typeof given.n === 'string' ? Number(given.n) : given.n }
  if (needsPrompt && !readText(fields, 'prompt'))
    throw invalidRequest("Missing required parameter: 'prompt'.", 'prompt')
  const count = readInteger(fields, 'n', { min: 1, max: MOST_PICTURES }) ?? 1
  const usage = {
    total_tokens: 2,
    input_tokens: 1,
    input_tokens_details: { text_tokens: 1, image_tokens: 0 },
    output_tokens: 1,
  }
  const created = Math.floor(Date.now() / 1000)
  if (String(fields.stream) === 'true') {
    const about = { created_at: created, size: '1024x1024', quality: 'low', background: 'opaque', output_format: 'png' }
    const done = { type: `${event}.completed`, b64_json: POINT, ...about, usage }
    return { contentType: 'text/event-stream', body: encodeTypedEvents([done]) }
  }
  const picture = wantsUrl(fields) ? { url: `data:image/png;base64,${POINT}` } : { b64_json: POINT }
  const body = JSON.stringify({ created, data: Array.from({ length: count }, () => picture), usage })
  return { contentType: 'application/json', body }
}

/** DALL·E returns addresses by default; later models never do. */
function wantsUrl({ model, response_format }: Record<string, unknown>): boolean {
  return response_format === 'url' || (response_format !== 'b64_json' && !String(model ?? '').includes('gpt-image'))
}

/** One grey pixel of eight bits: the smallest image that every reader accepts. */
function writePng(): Buffer {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const rows = deflateSync(Buffer.from([0, 0x80]))
  return Buffer.concat([
    signature,
    writeChunk('IHDR', header),
    writeChunk('IDAT', rows),
    writeChunk('IEND', Buffer.alloc(0)),
  ])
}

function writeChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8 + named.length)
  frame.writeUInt32BE(data.length, 0)
  named.copy(frame, 4)
  frame.writeUInt32BE(crc32(named), 4 + named.length)
  return frame
}
