/** Every place where a request can contain untrusted text: in bodies, forms, headers and URLs. */
import { readFileSync } from 'node:fs'
import { allowedMethodsOf, TARGETS_BY_PATH } from '../../src/http/paths.ts'
import type { RouteTarget } from '../../src/pipeline/request/request.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { traitsOf } from '../../src/providers/stored-object-collections.ts'
import { GEMINI_PATHS, geminiBodyOf } from './gemini-paths.ts'
import { COLLECTIONS } from './stored-object-paths.ts'
import { type Place, placesOf, readTypes } from './typed-places.ts'

/** An endpoint's request body: the vendor package and type that describe it, and an example that succeeds. */
interface BodyOfDoor {
  from: 'openai' | '@anthropic-ai/sdk' | '@google/genai' | null
  type: string
  /** The types of the body's fields, where the package has no type of the body. */
  fields?: Record<string, string>
  body: Record<string, unknown>
}

const says = (content: string) => [{ role: 'user', content }]
const CHAT = { model: 'claude-haiku-4-5', messages: says('Hello.') }
const MESSAGE = { model: 'openai/gpt-4o-mini', messages: says('Hello.'), max_tokens: 9 }
const GEMINI_FIELDS = {
  contents: 'Content',
  systemInstruction: 'Content',
  tools: 'Tool',
  toolConfig: 'ToolConfig',
  generationConfig: 'GenerationConfig',
  safetySettings: 'SafetySetting',
}
const GEMINI_LISTS: ReadonlySet<string> = new Set(['contents', 'tools', 'safetySettings'])

function geminiBody(path: string): BodyOfDoor {
  const from = '@google/genai'
  const body = geminiBodyOf(path)
  if (path.endsWith(':batchEmbedContents')) return { from: null, type: '', body }
  return { from, type: '', fields: path.endsWith(':embedContent') ? { content: 'Content' } : GEMINI_FIELDS, body }
}

const BODIES: Record<string, BodyOfDoor> = {
  ...Object.fromEntries(GEMINI_PATHS.map(path => [path.replace('/v1', ''), geminiBody(path)])),
  '/chat/completions': { from: 'openai', type: 'ChatCompletionCreateParamsBase', body: CHAT },
  '/completions': {
    from: 'openai',
    type: 'CompletionCreateParamsBase',
    body: { model: 'openai/gpt-3.5-turbo-instruct', prompt: 'Hello.' },
  },
  '/responses': {
    from: 'openai',
    type: 'ResponseCreateParamsBase',
    body: { model: 'claude-haiku-4-5', input: 'Hello.' },
  },
  '/responses/input_tokens': {
    from: 'openai',
    type: 'InputTokenCountParams',
    body: { model: 'claude-haiku-4-5', input: 'Hello.' },
  },
  '/responses/compact': {
    from: 'openai',
    type: 'ResponseCompactParams',
    body: { model: 'gpt-5-mini', input: 'Hello.' },
  },
  '/messages': { from: '@anthropic-ai/sdk', type: 'MessageCreateParamsBase', body: MESSAGE },
  '/messages/count_tokens': { from: '@anthropic-ai/sdk', type: 'MessageCountTokensParams', body: MESSAGE },
  '/embeddings': {
    from: 'openai',
    type: 'EmbeddingCreateParams',
    body: { model: 'openai/text-embedding-3-small', input: 'Hello.' },
  },
  '/images/generations': { from: 'openai', type: 'ImageGenerateParamsBase', body: { prompt: 'A hat.' } },
  '/images/edits': { from: 'openai', type: 'ImageEditParamsBase', body: { prompt: 'A hat.', image: 'x' } },
  '/images/variations': { from: 'openai', type: 'ImageCreateVariationParams', body: { image: 'x' } },
  '/audio/speech': {
    from: 'openai',
    type: 'SpeechCreateParams',
    body: { model: 'tts-1', voice: 'alloy', input: 'Hello.' },
  },
  '/audio/transcriptions': {
    from: 'openai',
    type: 'TranscriptionCreateParamsBase',
    body: { model: 'whisper-1', file: 'x' },
  },
  '/audio/translations': { from: 'openai', type: 'TranslationCreateParams', body: { model: 'whisper-1', file: 'x' } },
  '/moderations': { from: 'openai', type: 'ModerationCreateParams', body: { input: 'Hello.' } },
  '/rerank': { from: null, type: '', body: { model: 'cohere/rerank-v3.5', query: 'hat', documents: ['A hat.'] } },
  '/files': { from: 'openai', type: 'FileCreateParams', body: { purpose: 'batch', file: '{}' } },
  '/batches': {
    from: 'openai',
    type: 'BatchCreateParams',
    body: { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' },
  },
  '/messages/batches': {
    from: '@anthropic-ai/sdk',
    type: 'BatchCreateParams',
    body: { requests: [{ custom_id: 'a', params: { ...MESSAGE, model: 'claude-haiku-4-5' } }] },
  },
  '/conversations': { from: 'openai', type: 'ConversationCreateParams', body: { items: says('Hello.') } },
  '/vector_stores': { from: 'openai', type: 'VectorStoreCreateParams', body: { name: 'hats' } },
  '/containers': { from: 'openai', type: 'ContainerCreateParams', body: { name: 'hats' } },
  '/uploads': {
    from: 'openai',
    type: 'UploadCreateParams',
    body: { bytes: 9, filename: 'hats.txt', mime_type: 'text/plain', purpose: 'assistants' },
  },
  '/videos': { from: 'openai', type: 'VideoCreateParams', body: { prompt: 'A hat.' } },
  '/cache/feedback': { from: null, type: '', body: { request_id: 'x', verdict: 'wrong' } },
  '/cache/explain': { from: 'openai', type: 'ChatCompletionCreateParamsBase', body: CHAT },
}

/** Endpoints that accept a body, read from the routing tables. */
export const BODY_ENDPOINTS = [
  ...Object.keys(TARGETS_BY_PATH).filter(path =>
    allowedMethodsOf(TARGETS_BY_PATH[path] as RouteTarget).includes('POST'),
  ),
  ...GEMINI_PATHS,
  ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/v1/${operation}`),
  ...COLLECTIONS.flatMap(name => (traitsOf(name).actions['']?.POST ? [`/v1${traitsOf(name).path}`] : [])),
].map(path => path.replace('/v1', ''))

export const FORM_ENDPOINTS = [
  ...Object.entries(PASS_THROUGH_OPERATIONS).flatMap(([operation, { acceptsForms }]) =>
    acceptsForms ? [`/${operation}`] : [],
  ),
  traitsOf('files').path,
]

const types = new Map<string, ReturnType<typeof readTypes>>()

export function bodyPlacesOf(path: string): Place[] {
  const door = BODIES[path]
  if (!door) throw new Error(`${path} has no example body: add it to BODIES`)
  const { from, type, fields, body } = door
  const own = Object.keys(body).map((name): Place => ({ path: `.${name}`, write: text => ({ [name]: text }) }))
  const known = from && (types.get(from) ?? types.set(from, readTypes(from)).get(from))
  const places = known
    ? fields
      ? Object.entries(fields).flatMap(([name, each]) => placesOf(known, each).map(place => placeWithin(name, place)))
      : placesOf(known, type)
    : [{ path: '.{name}', write: (name: string) => ({ [name]: 'x' }) }, ...own]
  return places.map(place => ({ path: place.path, write: text => ({ ...body, ...pickWritten(place, text) }) }))
}

/** Returns the place within a field of a Gemini request. */
function placeWithin(name: string, { path, write }: Place): Place {
  const isList = GEMINI_LISTS.has(name)
  return { path: `.${name}${path}`, write: text => ({ [name]: isList ? [write(text)] : write(text) }) }
}

/** Returns only the field that contains the place. */
function pickWritten({ path, write }: Place, text: string): Record<string, unknown> {
  const [, field = ''] = /^\.(\{name\}|[^.[<]+)/.exec(path.replace(/^<[^>]*>/, '')) ?? []
  const name = field === '{name}' ? text : field
  const written = write(text) as Record<string, unknown>
  return { [name]: written[name] }
}

/** Places in a form: the names and values of fields, and the name, id and content of a file. */
export const FORM_PLACES: Record<string, (text: string) => FormData> = {
  'a field’s name': text => formOf(form => form.set(text, 'x')),
  'a field’s name in brackets': text => formOf(form => form.set(`mask[${text}`, 'x')),
  'a value': text => formOf(form => form.set('user', text)),
  'an id': text => formOf(form => form.set('file_id', text)),
  'a model': text => formOf(form => form.set('model', text)),
  'a purpose': text => formOf(form => form.set('purpose', text)),
  'a file’s name': text => formOf(form => form.set('file', new File(['{}'], text))),
  'a file’s content': text => formOf(form => form.set('file', new File([text], 'in.jsonl'))),
}

function formOf(change: (form: FormData) => void): FormData {
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('purpose', 'batch')
  form.set('file', new File(['{}'], 'in.jsonl'))
  change(form)
  return form
}

/** Headers that the source code reads by name. */
export const READ_HEADERS: readonly string[] = [
  ...new Set(
    [...new Bun.Glob('src/**/*.ts').scanSync()].flatMap(file =>
      [...readString(file).matchAll(/headers\.get\('([\w-]+)'\)/gi)].map(([, name = '']) => name.toLowerCase()),
    ),
  ),
  'x-proxy-tags',
  'x-proxy-cache-ttl',
  'x-proxy-cache-threshold',
  'x-proxy-cache-namespace',
  'x-proxy-cache-version',
]

function readString(file: string): string {
  return readFileSync(file, 'utf8')
}

/** URLs that contain the text as an id, a model, or the name or value of a query parameter. */
export const ADDRESSES: Record<string, (text: string) => string> = {
  'a path': text => `/${text}`,
  'a model': text => `/models/${text}`,
  'a file': text => `/files/${text}`,
  'a file’s content': text => `/files/${text}/content`,
  'a batch': text => `/messages/batches/${text}/results`,
  'a response': text => `/responses/${text}/input_items`,
  'a deployment': text => `/openai/deployments/${text}/chat/completions`,
  'one of Gemini’s': text => `/v1beta/models/${text}:generateContent`,
  'a query’s name': text => `/files?${text}=1`,
  'a query’s value': text => `/files?after=${text}`,
}
