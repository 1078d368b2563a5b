/** The fake provider's responses for images, audio, moderations, reranking, files and batches, in OpenAI's wire format. */

import { isObject } from './compose.ts'
import type { BilledTokens, RecordedRequest } from './recording.ts'
import type { AnswerScenario, JsonObject } from './scenario.ts'
import { advanceBatch, type FakeObjects, storeBatch, storeFile } from './stored-objects.ts'

export interface PassThroughAnswer {
  status: number
  contentType: string
  parts: (string | Uint8Array)[]
  /** The generated amount. All of it is billed once it is requested. */
  billed?: BilledTokens
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const IMAGE_USAGE = {
  total_tokens: 1_070,
  input_tokens: 14,
  input_tokens_details: { text_tokens: 14, image_tokens: 0 },
  output_tokens: 1_056,
}
const SOUND_PART_BYTES = 4_096

const json = (value: JsonObject, status = 200): PassThroughAnswer => ({
  status,
  contentType: 'application/json',
  parts: [JSON.stringify(value)],
})

const events = (...given: JsonObject[]): PassThroughAnswer => ({
  status: 200,
  contentType: 'text/event-stream; charset=utf-8',
  parts: given.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
})

const notFound = (message: string) =>
  json({ error: { message, type: 'invalid_request_error', param: 'id', code: null } }, 404)

type Form = Map<string, string | File>

/** Returns null for other operations. */
export async function writePassThrough(
  request: RecordedRequest,
  kept: FakeObjects,
  scenario: AnswerScenario,
): Promise<PassThroughAnswer | null> {
  const [, operation] =
    /\/v1\/((?:images|audio)\/\w+|moderations|rerank|responses\/compact|(?:files|batches).*)$/.exec(request.path) ?? []
  if (operation === undefined) return null
  const form = await readForm(request)
  const fields = isObject(request.body) ? request.body : Object.fromEntries(form ?? [])
  if (operation.startsWith('images/'))
    return {
      ...writeImages(operation, fields, scenario),
      billed: { input: IMAGE_USAGE.input_tokens, output: IMAGE_USAGE.output_tokens },
    }
  // Speech is billed per character.
  if (operation === 'audio/speech')
    return { ...writeSpeech(fields, scenario), billed: { input: String(fields.input).length, output: 0 } }
  if (operation.startsWith('audio/')) return writeTranscription(operation, fields)
  if (operation === 'moderations') return json({ ...writeModeration(fields), ...scenario.fields })
  if (operation === 'rerank') return json(writeRanking(fields))
  if (operation === 'responses/compact') return writeCompaction()
  const [collection, id, part] = operation.split('/')
  if (collection === 'files') return answerFiles(request, kept, { id, part, form })
  return answerBatches(request, kept, { id, part, fields })
}

async function readForm({ headers, bytes }: RecordedRequest): Promise<Form | null> {
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) return null
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
  const read: Form = new Map()
  form.forEach((value, name) => {
    read.set(name, value as string | File)
  })
  return read
}

function writeImages(operation: string, fields: JsonObject, scenario: AnswerScenario): PassThroughAnswer {
  const kind = operation === 'images/generations' ? 'image_generation' : 'image_edit'
  const about = {
    created_at: 1_760_000_000,
    size: '1024x1024',
    quality: 'high',
    background: 'opaque',
    output_format: 'png',
  }
  if (String(fields.stream) === 'true') {
    const partials = Array.from({ length: Number(fields.partial_images ?? 0) }, (_, partial_image_index) => {
      return { type: `${kind}.partial_image`, b64_json: PNG, partial_image_index, ...about }
    })
    return events(...partials, { type: `${kind}.completed`, b64_json: PNG, ...about, usage: IMAGE_USAGE })
  }
  const isNamed = String(fields.model ?? '').includes('gpt-image')
  const image =
    isNamed || fields.response_format === 'b64_json' ? { b64_json: PNG } : { url: 'https://images.invalid/1.png' }
  const data = Array.from({ length: Number(fields.n ?? 1) }, () => image)
  return json({ created: 1_760_000_000, data, ...(isNamed ? { usage: IMAGE_USAGE } : {}), ...scenario.fields })
}

/** Returns `contentChars` bytes of binary data in several parts. */
function writeSpeech(fields: JsonObject, { contentChars = 10_000 }: AnswerScenario): PassThroughAnswer {
  const sound = Buffer.alloc(contentChars)
  for (let at = 0; at < sound.length; at++) sound[at] = (at * 7) % 256
  const parts: Buffer[] = []
  for (let at = 0; at < sound.length; at += SOUND_PART_BYTES) parts.push(sound.subarray(at, at + SOUND_PART_BYTES))
  if (fields.stream_format !== 'sse') {
    return { status: 200, contentType: fields.response_format === 'wav' ? 'audio/wav' : 'audio/mpeg', parts }
  }
  const deltas = parts.map(part => ({ type: 'speech.audio.delta', audio: part.toString('base64') }))
  const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 }
  return events(...deltas, { type: 'speech.audio.done', usage })
}

function writeTranscription(operation: string, fields: JsonObject): PassThroughAnswer {
  const file = fields.file instanceof Blob ? fields.file : null
  const text = `Heard ${file?.size ?? 0} bytes.`
  const usage = {
    type: 'tokens',
    total_tokens: 45,
    input_tokens: 14,
    input_token_details: { text_tokens: 0, audio_tokens: 14 },
    output_tokens: 31,
  }
  if (String(fields.stream) === 'true') {
    const deltas = text.split(/(?<= )/).map(delta => ({ type: 'transcript.text.delta', delta }))
    return events(...deltas, { type: 'transcript.text.done', text, usage })
  }
  if (fields.response_format === 'verbose_json') {
    const task = operation === 'audio/translations' ? 'translate' : 'transcribe'
    const segments = [{ id: 0, seek: 0, start: 0, end: 2.5, text: ` ${text}`, tokens: [50364] }]
    const seconds = task === 'transcribe' && { usage: { type: 'duration', seconds: 3 } }
    return json({ task, language: 'english', duration: 2.5, text, segments, ...seconds })
  }
  if (fields.response_format === 'text')
    return { status: 200, contentType: 'text/plain; charset=utf-8', parts: [`${text}\n`] }
  if (operation === 'audio/translations') return json({ text })
  return json({ text, usage: fields.model === 'whisper-1' ? { type: 'duration', seconds: 3 } : usage })
}

/** The output has the maximum length of a response of gpt-4o-mini. */
function writeCompaction(): PassThroughAnswer {
  const [input, output] = [14, 16_384]
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  const packed = { id: 'cmp_1', type: 'compaction', encrypted_content: 'cGFja2Vk' }
  const compacted = {
    id: 'resp_compacted1',
    object: 'response.compaction',
    created_at: 1_760_000_000,
    output: [packed],
  }
  return { ...json({ ...compacted, usage }), billed: { input, output } }
}

function writeModeration({ input, model }: JsonObject): JsonObject {
  const inputs = Array.isArray(input) && input.every(text => typeof text === 'string') ? input : [input]
  const results = inputs.map(text => {
    const isBad = JSON.stringify(text).includes('kill')
    return {
      flagged: isBad,
      categories: { violence: isBad, hate: false },
      category_scores: { violence: isBad ? 0.98 : 0.0001, hate: 0.0001 },
      category_applied_input_types: { violence: ['text'], hate: ['text'] },
    }
  })
  return { id: `modr-${crypto.randomUUID()}`, model: model ?? 'omni-moderation-latest', results }
}

function writeRanking({ model, documents, top_n }: JsonObject): JsonObject {
  const given = Array.isArray(documents) ? documents : []
  const results = given.map((text, index) => ({ index, relevance_score: 1 / (index + 1), document: { text } }))
  return {
    id: 'gen-rerank-fake',
    model,
    provider: 'FakeProvider',
    results: results.slice(0, Number(top_n ?? given.length)),
    usage: { cost: 0.002, search_units: 1, total_tokens: 150 },
  }
}

async function answerFiles(
  { method }: RecordedRequest,
  kept: FakeObjects,
  { id, part, form }: { id: string | undefined; part: string | undefined; form: Form | null },
): Promise<PassThroughAnswer> {
  if (id === undefined) {
    if (method !== 'POST')
      return json({ object: 'list', data: [...kept.files.values()].map(({ object }) => object), has_more: false })
    const file = form?.get('file')
    if (!(file instanceof Blob)) return json({ error: { message: "'file' is a required property" } }, 400)
    const about = { filename: 'name' in file ? String(file.name) : 'file', purpose: String(form?.get('purpose')) }
    return json(storeFile(kept, about, await file.bytes()))
  }
  const found = kept.files.get(id)
  if (!found) return notFound(`No such File object: ${id}`)
  if (method === 'DELETE') return json({ id, object: 'file', deleted: kept.files.delete(id) })
  if (part === 'content') return { status: 200, contentType: 'application/octet-stream', parts: [found.content] }
  return json(found.object)
}

function answerBatches(
  { method }: RecordedRequest,
  kept: FakeObjects,
  { id, part, fields }: { id: string | undefined; part: string | undefined; fields: JsonObject },
): PassThroughAnswer {
  if (id === undefined) {
    return json(
      method === 'POST'
        ? storeBatch(kept, fields)
        : { object: 'list', data: [...kept.batches.values()], has_more: false },
    )
  }
  const batch = kept.batches.get(id)
  if (!batch) return notFound(`No batch found with id '${id}'.`)
  return json(part === 'cancel' ? Object.assign(batch, { status: 'cancelling' }) : advanceBatch(kept, batch))
}
