/** The sandbox's pass-through operations: a grey pixel, a moment of silence, nothing flagged, documents by shared words. */
import { invalidRequest } from '../../errors.ts'
import { encodeTypedEvents, type TypedEvent } from '../../formats/sse/sse.ts'
import { isJsonObject } from '../../json/canonical.ts'
import { type Request, readInteger, readModel, readOptional, readText } from './fields.ts'
import { digestRequest } from './request-digest.ts'

export interface PassedAnswer {
  contentType: string
  body: string | Uint8Array
}

/** The smallest PNG that every reader accepts. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='
const MOST_PICTURES = 10
const MOST_SPOKEN_CHARS = 4_096
const MOST_MODERATED = 2_048
const MOST_DOCUMENTS = 1_000
/** Vendors cut documents and queries at some 4,096 tokens, too. */
const LONGEST_RANKED_CHARS = 16_384

const ANSWERS: Record<string, (fields: Request) => PassedAnswer> = {
  '/images/generations': fields => draw(fields, 'image_generation', true),
  '/images/edits': fields => draw(fields, 'image_edit', true),
  '/images/variations': fields => draw(fields, 'image_edit', false),
  '/audio/speech': speak,
  '/moderations': fields => asJson(moderate(fields)),
  '/rerank': fields => asJson(rank(fields)),
}

/** Paths that the sandbox answers. */
export const SANDBOX_PASSES: readonly string[] = Object.keys(ANSWERS)

/** Undefined for an operation that the sandbox lacks. Throws a 400 for what the vendor would refuse. */
export function answerPassed(path: string, fields: Request): PassedAnswer | undefined {
  return ANSWERS[path]?.(fields)
}

function asJson(value: unknown): PassedAnswer {
  return { contentType: 'application/json', body: JSON.stringify(value) }
}

function asEvents(events: TypedEvent[]): PassedAnswer {
  return { contentType: 'text/event-stream', body: encodeTypedEvents(events) }
}

/** `event` names a stream's events. In a form, numbers and booleans are text. */
function draw(fields: Request, event: string, needsPrompt: boolean): PassedAnswer {
  if (needsPrompt && !readText(fields, 'prompt'))
    throw invalidRequest("Missing required parameter: 'prompt'.", 'prompt')
  const n = typeof fields.n === 'string' ? Number(fields.n) : fields.n
  const count = readInteger({ n }, 'n', { min: 1, max: MOST_PICTURES }) ?? 1
  const input = { input_tokens: 1, input_tokens_details: { text_tokens: 1, image_tokens: 0 } }
  const usage = { total_tokens: 2, ...input, output_tokens: 1 }
  const created = Math.floor(Date.now() / 1000)
  if (String(fields.stream) === 'true') {
    const about = { size: '1024x1024', quality: 'low', background: 'opaque', output_format: 'png' }
    return asEvents([{ type: `${event}.completed`, b64_json: PIXEL, created_at: created, ...about, usage }])
  }
  const { model, response_format: format } = fields
  // DALL·E returns addresses by default; later models never do.
  const isUrl = format === 'url' || (format !== 'b64_json' && !String(model ?? '').includes('gpt-image'))
  const picture = isUrl ? { url: `data:image/png;base64,${PIXEL}` } : { b64_json: PIXEL }
  return asJson({ created, data: Array(count).fill(picture), usage })
}

/** Of 4,800 bytes of the same sound. */
const WAV_HEAD = 'UklGRuQSAABXQVZFZm10IBAAAAABAAEAwF0AAIC7AAACABAAZGF0YcASAAA='
/** A tenth of a second of silence, in the formats that need no encoder. */
const SILENCE: Record<string, () => Uint8Array> = {
  // Four frames of MPEG 1, layer III, 128 kbit/s, 44.1 kHz: a header each, then zeros.
  mp3: () => Buffer.concat(Array(4).fill(Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc4]), Buffer.alloc(413)]))),
  // 16 bits, mono, 24 kHz.
  pcm: () => Buffer.alloc(4_800),
  wav: () => Buffer.concat([Buffer.from(WAV_HEAD, 'base64'), Buffer.alloc(4_800)]),
}
const SOUND_TYPES: Record<string, string> = { mp3: 'audio/mpeg', pcm: 'audio/pcm', wav: 'audio/wav' }

function speak(fields: Request): PassedAnswer {
  readModel(fields)
  const input = readText(fields, 'input')
  if (!input) throw invalidRequest("Missing required parameter: 'input'.", 'input')
  if (input.length > MOST_SPOKEN_CHARS) {
    throw invalidRequest(`Invalid 'input': at most ${MOST_SPOKEN_CHARS} characters are allowed.`, 'input')
  }
  if (readOptional(fields, 'voice') === undefined) throw invalidRequest("Missing required parameter: 'voice'.", 'voice')
  const format = String(readOptional(fields, 'response_format') ?? 'mp3')
  const sound = Object.hasOwn(SILENCE, format) ? SILENCE[format]?.() : undefined
  if (!sound) throw invalidRequest('The sandbox speaks mp3, wav and pcm.', 'response_format')
  if (fields.stream_format !== 'sse') return { contentType: SOUND_TYPES[format] as string, body: sound }
  return asEvents([
    { type: 'speech.audio.delta', audio: Buffer.from(sound).toString('base64') },
    { type: 'speech.audio.done', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
  ])
}

const CATEGORIES =
  'harassment harassment/threatening hate hate/threatening illicit illicit/violent self-harm self-harm/instructions self-harm/intent sexual sexual/minors violence violence/graphic'.split(
    ' ',
  )
const ofAll = <T>(value: T) => Object.fromEntries(CATEGORIES.map(category => [category, value]))
const UNFLAGGED = {
  flagged: false,
  categories: ofAll(false),
  category_scores: ofAll(0),
  category_applied_input_types: ofAll(['text']),
}

/** One result for each text; one for all parts of an input with images. */
function moderate(fields: Request): Record<string, unknown> {
  const { input, model } = fields
  const inputs = Array.isArray(input) ? input : [input]
  const isText = inputs.every(text => typeof text === 'string')
  if (inputs.length === 0 || !(isText || inputs.every(isJsonObject))) {
    throw invalidRequest('input must be a string, an array of strings, or an array of parts.', 'input')
  }
  if (inputs.length > MOST_MODERATED)
    throw invalidRequest(`Invalid 'input': at most ${MOST_MODERATED} inputs are allowed.`, 'input')
  return {
    id: `modr-sandbox-${digestRequest('moderations', fields).slice(0, 24)}`,
    model: model ?? 'omni-moderation-latest',
    results: isText ? inputs.map(() => UNFLAGGED) : [UNFLAGGED],
  }
}

function rank(fields: Request): Record<string, unknown> {
  const model = readModel(fields)
  const { documents } = fields
  const query = readText(fields, 'query')
  if (!query) throw invalidRequest("Missing required parameter: 'query'.", 'query')
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > MOST_DOCUMENTS) {
    throw invalidRequest(`documents must be an array of 1 to ${MOST_DOCUMENTS} texts.`, 'documents')
  }
  const most = readInteger(fields, 'top_n', { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? documents.length
  const asked = [...wordsOf(query)]
  const results = documents.map((document: unknown, index) => {
    const text = isJsonObject(document) ? document.text : document
    if (typeof text !== 'string') throw invalidRequest(`documents[${index}] must be a text.`, `documents[${index}]`)
    const held = wordsOf(text)
    const score = asked.filter(word => held.has(word)).length / Math.max(1, asked.length)
    return { index, relevance_score: score, document: { text } }
  })
  return {
    id: `rerank-sandbox-${digestRequest('rerank', fields).slice(0, 24)}`,
    model,
    provider: 'sandbox',
    results: results.toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index).slice(0, most),
    usage: { search_units: 1, total_tokens: 0, cost: 0 },
  }
}

function wordsOf(text: string): Set<string> {
  return new Set(
    text
      .slice(0, LONGEST_RANKED_CHARS)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  )
}
