/**
 * Fake vendors, each as strict as its documentation: they reject another path, query, header or place of the key, and fields that they do not
 * have. Each writes responses in its own dialect. What a fake model says follows from the word after `do:` in the prompt.
 */
import { isDeepStrictEqual } from 'node:util'
import { startFakeAnthropic } from '../fake-anthropic/server.ts'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { asVendorError, type DocumentedVendor, type JsonObject, type Path, type Tokens } from './documented.ts'

export interface FakeVendor {
  /** Without a path. */
  origin: string
  requests: RecordedRequest[]
  stop(): Promise<void>
}

export const VALID_KEY = 'sk-valid-0123456789abcdef'
export const PROMPT_TOKENS = 12
export const CACHED_TOKENS = 4
export const REASONING_TOKENS = 3
export const THOUGHT = 'First the sky, then the sea.'
export const COMMAND = { command: 'ls' }

interface Turn {
  text: string
  hasReasoning?: boolean
  calls?: number
  isCut?: boolean
}

/** The fields of a chat request that every documentation lists. */
const CHAT_FIELDS = [
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
]
const LIMITS = ['max_tokens', 'max_completion_tokens']
const FIELDS: Record<Exclude<Path, 'messages'>, readonly string[]> = {
  chat: [...CHAT_FIELDS, 'parallel_tool_calls', 'reasoning_effort', 'seed', 'n'],
  completions: ['model', 'prompt', 'stream', 'max_tokens', 'stream_options', 'temperature', 'stop'],
  embeddings: ['model', 'input', 'encoding_format', 'dimensions', 'user'],
  responses: [
    'model',
    'input',
    'stream',
    'tools',
    'max_output_tokens',
    'text',
    'store',
    'instructions',
    'include',
    'reasoning',
  ],
}

export async function startFakeVendor(vendor: DocumentedVendor): Promise<FakeVendor> {
  if (vendor.name === 'anthropic') return startFakeClaude()
  const sent = new Map<string, JsonObject>()
  const fake = await startFakeProvider({ reject: request => reject(vendor, request, sent) })
  fake.script(request => respond(vendor, request, sent))
  return { origin: new URL(fake.baseUrl).origin, requests: fake.requests, stop: fake.stop }
}

function errorScenario(vendor: DocumentedVendor, status: number, message: string, code = 'error'): Scenario {
  const body = JSON.stringify(vendor.writeError({ status, message, code }))
  const limits = status === 429 ? { 'retry-after': '7', ...vendor.rateLimitHeaders } : {}
  return { kind: 'raw', status, headers: { 'content-type': 'application/json', ...limits }, parts: [body] }
}

/** The path of a documented base URL, whose varying parts are the same in each test. */
export function documentedPath({ baseUrl }: Pick<DocumentedVendor, 'baseUrl'>): string {
  return new URL(baseUrl.replaceAll(/<\w+>/g, 'ours')).pathname.replace(/\/$/, '')
}

function reject(vendor: DocumentedVendor, request: RecordedRequest, sent: Map<string, JsonObject>): Scenario | null {
  const fail = (status: number, message: string, code?: string) => errorScenario(vendor, status, message, code)
  const body = (request.body ?? {}) as JsonObject
  const { modelsPath = '/models' } = vendor
  const paths = Object.entries({ ...vendor.paths, ...(modelsPath !== null && { models: modelsPath }) }).map(
    ([path, template]) => {
      const filled = template.replace('<model>', encodeURIComponent(String(body.model)))
      return [path, `${documentedPath(vendor)}${filled}`] as const
    },
  )
  const path = paths.find(([, known]) => known === request.path)?.[0]
  if (path === undefined) return fail(404, `Unknown path ${request.path}`)
  const query = Object.fromEntries(new URLSearchParams(request.query))
  if (!isDeepStrictEqual(query, vendor.query)) return fail(404, `Unknown query ${request.query}`)
  const keyError = findKeyError(vendor, request)
  if (keyError !== null) return fail(401, keyError, 'invalid_api_key')
  const missing = Object.entries(vendor.headers).find(([name, value]) => request.headers[name] !== value)
  if (missing) return fail(400, `The header ${missing[0]} must be ${missing[1]}`)
  if (path === 'models') return writeList(vendor)
  const unknown = findUnknownField(vendor, path as Exclude<Path, 'messages'>, body)
  if (unknown !== null) return fail(vendor.streamOptions === 'rejects' ? 422 : 400, `Extra inputs: ${unknown}`)
  const lacked = path === 'chat' ? findLacked(vendor, body) : null
  if (lacked !== null) return fail(400, lacked)
  const changed = path === 'chat' ? findChanged(vendor, body, sent) : null
  return changed === null ? null : fail(400, changed)
}

function writeList({ writeList: write, model }: DocumentedVendor): Scenario {
  const list = write?.([model, 'other-model']) ?? { object: 'list', data: [{ id: model }, { id: 'other-model' }] }
  return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [JSON.stringify(list)] }
}

function findKeyError({ key }: DocumentedVendor, { headers }: RecordedRequest): string | null {
  const given = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'].filter(name => name in headers)
  if (key === null) return given.length === 0 ? null : `This server needs no key: ${given.join()}`
  if (!isDeepStrictEqual(given, [key.header])) return `The key must be in ${key.header} alone: ${given.join()}`
  return headers[key.header] === `${key.prefix}${VALID_KEY}` ? null : 'Incorrect API key provided.'
}

function findUnknownField(vendor: DocumentedVendor, path: Exclude<Path, 'messages'>, body: JsonObject): string | null {
  const { kept, ignored = [] } = vendor.limits
  if (vendor.streamOptions === 'rejects' && 'stream_options' in body) return 'stream_options'
  if (path === 'embeddings') {
    const lacking = Object.keys(vendor.embeddingFields ?? {}).find(name => body[name] === undefined)
    if (lacking !== undefined) return `${lacking} is required`
  }
  const known = [
    ...FIELDS[path],
    ...(path === 'chat' ? [...kept, ...ignored] : []),
    ...(path === 'chat' && vendor.streamOptions === 'accepts' ? ['stream_options'] : []),
    ...(path === 'embeddings' ? Object.keys(vendor.embeddingFields ?? {}) : []),
  ]
  const rejected = vendor.rejectsUnknownFields ? Object.keys(body) : path === 'chat' ? LIMITS : []
  return rejected.find(name => name in body && !known.includes(name)) ?? null
}

function findLacked({ lacks }: DocumentedVendor, body: JsonObject): string | null {
  const format = body.response_format as JsonObject | undefined
  if (lacks.tools !== undefined && Array.isArray(body.tools) && body.tools.length > 0) return lacks.tools
  if (lacks.images !== undefined && hasImage(body)) return lacks.images
  return lacks.structured !== undefined && format?.type === 'json_schema' ? lacks.structured : null
}

function hasImage(body: JsonObject): boolean {
  return /"type":"(?:image_url|input_image|image)"/.test(JSON.stringify(body)) && JSON.stringify(body).includes('iVBOR')
}

/** Rejects calls that come back without what their message had, or with ids that the vendor did not write. */
function findChanged(
  { needsReasoning }: DocumentedVendor,
  body: JsonObject,
  sent: Map<string, JsonObject>,
): string | null {
  for (const message of callingMessages(body)) {
    const calls = message.tool_calls as JsonObject[]
    const original = sent.get(String(calls[0]?.id))
    if (!original) return `Unknown tool call ${String(calls[0]?.id)}`
    if (!needsReasoning) continue
    const { content: _, role: __, ...rest } = original
    const changed = Object.keys(rest).find(name => !isDeepStrictEqual(message[name], rest[name]))
    if (changed !== undefined) return `The ${changed} of an earlier message must be passed back to the API.`
  }
  return null
}

function callingMessages(body: JsonObject): JsonObject[] {
  const messages = (body.messages ?? []) as JsonObject[]
  return messages.filter(({ role, tool_calls: calls }) => role === 'assistant' && Array.isArray(calls))
}

/** The word after `do:` in the prompt, and the number of turns with calls before. */
function readDirective({ bodyText, body }: RecordedRequest): { word: string; step: number } {
  const word = /do:([\w-]+)/.exec(bodyText)?.[1] ?? ''
  const items = (body as JsonObject).input
  const results = Array.isArray(items) ? items.filter(item => item.type === 'function_call_output').length : 0
  return { word, step: callingMessages(body as JsonObject).length + results }
}

function chooseTurn(word: string, step: number): Turn {
  if (word === 'think') return { text: 'Four.', hasReasoning: true }
  if (word === 'tool' && step === 0) return { text: '', calls: 1 }
  if (word === 'parallel' && step === 0) return { text: '', calls: 2 }
  if (word === 'loop' && step < 2) return { text: '', calls: 1, hasReasoning: true }
  if (word === 'loop') return { text: 'The sky is blue.', hasReasoning: true }
  if (word === 'schema') return { text: '{"name":"Ada"}' }
  if (word === 'image') return { text: 'A white pixel.' }
  if (word === 'count') return { text: Array.from({ length: 40 }, (_, at) => `${at}`).join(' ') }
  return { text: 'Hello, Ada. How are you?' }
}

function limitTurn(turn: Turn, { limits }: DocumentedVendor, body: JsonObject): Turn {
  const limit = limits.kept.map(name => body[name]).find(value => typeof value === 'number')
  const words = turn.text.split(' ')
  return typeof limit === 'number' && words.length > limit
    ? { ...turn, text: words.slice(0, limit).join(' '), isCut: true }
    : turn
}

async function respond(
  vendor: DocumentedVendor,
  request: RecordedRequest,
  sent: Map<string, JsonObject>,
): Promise<Scenario | undefined> {
  const { word, step } = readDirective(request)
  const failure = asVendorError(vendor, word)
  if (failure) return errorScenario(vendor, failure.status, failure.message, failure.code)
  const body = request.body as JsonObject
  const isChat = request.path.endsWith('/chat/completions')
  if (word === 'image' && !hasImage(body)) return errorScenario(vendor, 400, 'There is no image')
  if (word === 'schema' && !JSON.stringify(body).includes('json_schema'))
    return errorScenario(vendor, 400, 'There is no schema')
  if (word === 'hang') return { kind: 'hang', after: isChat ? 3 : 5 }
  if (!isChat && !request.path.endsWith('/responses')) return undefined
  const turn = chooseTurn(word, step)
  return isChat ? writeChat(vendor, body, limitTurn(turn, vendor, body), sent) : writeResponses(turn)
}

/** The fake provider limits and streams the turn. */
function writeResponses({ text, calls = 0 }: Turn): Scenario {
  const toolCalls = Array.from({ length: calls }, () => ({ id: nextId(), name: 'run', arguments: COMMAND }))
  return { kind: 'answer', content: calls > 0 ? null : text, toolCalls }
}

let ids = 0
/** Nine letters, as Mistral requires. */
function nextId(): string {
  return (ids++)
    .toString(26)
    .padStart(9, 'a')
    .replaceAll(/\d/g, digit => String.fromCharCode(113 + Number(digit)))
}

/** The number of tokens that a turn costs. */
export function countOutput(text: string, calls: number): number {
  return text.split(' ').length + calls * 2
}

function writeChat(vendor: DocumentedVendor, body: JsonObject, turn: Turn, sent: Map<string, JsonObject>): Scenario {
  const message = writeMessage(vendor, turn)
  const calls = (message.tool_calls ?? []) as JsonObject[]
  if (calls[0]) sent.set(String(calls[0].id), message)
  const tokens = {
    prompt: PROMPT_TOKENS,
    cached: CACHED_TOKENS,
    output: countOutput(turn.text, turn.calls ?? 0),
    reasoning: turn.hasReasoning && vendor.reasoning !== null ? REASONING_TOKENS : 0,
  }
  const usage = (vendor.writeUsage ?? writeUsage)(tokens)
  const finish_reason = calls.length > 0 ? 'tool_calls' : turn.isCut ? 'length' : 'stop'
  const head = { id: `gen-${crypto.randomUUID()}`, created: 1_760_000_000, model: body.model }
  if (body.stream !== true) {
    const choices = [{ index: 0, message, finish_reason }]
    const plain = JSON.stringify({ ...head, object: 'chat.completion', choices, usage })
    return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [plain] }
  }
  const chunks = writeChunks(vendor, message, finish_reason, usage, isUsageRequested(body))
  const events = [...(vendor.opening ?? []), ...chunks].map(
    chunk => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`,
  )
  return { kind: 'raw', parts: [...events, ...(vendor.endsWithDone ? ['data: [DONE]\n\n'] : [])] }
}

function isUsageRequested({ stream_options: options }: JsonObject): boolean {
  return (options as JsonObject | undefined)?.include_usage === true
}

const writeUsage = ({ prompt, cached, output, reasoning }: Tokens): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: output + reasoning,
  total_tokens: prompt + output + reasoning,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

function writeMessage({ reasoning }: DocumentedVendor, { text, hasReasoning = false, calls = 0 }: Turn): JsonObject {
  const toolCalls = Array.from(
    { length: calls },
    (_, at): JsonObject => ({
      id: nextId(),
      type: 'function',
      function: { name: 'run', arguments: JSON.stringify(COMMAND) },
      ...(reasoning === 'signature' &&
        at === 0 && { extra_content: { google: { thought_signature: `c2ln${ids}/+=` } } }),
    }),
  )
  const shown = text === '' ? null : text
  const isParts = reasoning === 'parts' && hasReasoning
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: THOUGHT }] }
  return {
    role: 'assistant',
    content: isParts ? [thinking, ...(shown === null ? [] : [{ type: 'text', text: shown }])] : shown,
    ...(hasReasoning && (reasoning === 'reasoning' || reasoning === 'reasoning_content') && { [reasoning]: THOUGHT }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  }
}

function writeChunks(
  { streamedUsage }: DocumentedVendor,
  message: JsonObject,
  finish_reason: string,
  usage: JsonObject,
  isRequested: boolean,
): JsonObject[] {
  const { role, content, tool_calls: calls = [], ...rest } = message
  const texts = Array.isArray(content) ? content.map(part => [part]) : (String(content ?? '').match(/\S+\s*/g) ?? [])
  const deltas: JsonObject[] = [
    { role, content: '' },
    ...Object.entries(rest).flatMap(([name, value]) =>
      (String(value).match(/\S+\s*/g) ?? []).map(text => ({ [name]: text })),
    ),
    ...texts.map(piece => ({ content: piece })),
    ...(calls as JsonObject[]).flatMap((call, index) => {
      const { arguments: text, ...named } = call.function as JsonObject
      const pieces = String(text).match(/.{1,6}/gs) ?? []
      return [
        { tool_calls: [{ ...call, index, function: { ...named, arguments: '' } }] },
        ...pieces.map(piece => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]
    }),
  ]
  const each = streamedUsage === 'each' ? { usage } : {}
  const last = { index: 0, delta: {}, finish_reason, ...(streamedUsage === 'choice' && { usage }) }
  return [
    ...deltas.map(delta => ({ choices: [{ index: 0, delta, finish_reason: null }], ...each })),
    { choices: [last], ...each, ...(streamedUsage === 'last' && { usage }) },
    ...(streamedUsage === 'requested' && isRequested ? [{ choices: [], usage }] : []),
  ]
}

/** Anthropic's own fake, which is as strict as its documentation, with the same model. */
async function startFakeClaude(): Promise<FakeVendor> {
  const fake = await startFakeAnthropic({ apiKey: VALID_KEY })
  fake.script(({ body, bodyText }) => {
    const word = /do:([\w-]+)/.exec(bodyText)?.[1] ?? ''
    const status = Number(/^error-(\d+)$/.exec(word)?.[1])
    if (status || word === 'context') return claudeError(word === 'context' ? 400 : status, word)
    if (word === 'hang') return { kind: 'hang', after: 3 }
    const request = body as JsonObject
    const step = (request.messages as JsonObject[]).filter(({ role }) => role === 'assistant').length
    const { text, calls = 0 } = chooseTurn(word, step)
    const words = text.split(' ')
    const isCut = words.length > Number(request.max_tokens)
    const shown = words.slice(0, Number(request.max_tokens)).join(' ')
    const uses = Array.from({ length: calls }, () => ({
      type: 'tool_use',
      id: `toolu_${nextId()}`,
      name: 'run',
      input: COMMAND,
    }))
    const content = [...(shown === '' ? [] : [{ type: 'text', text: shown, citations: null }]), ...uses]
    const usage = {
      input_tokens: PROMPT_TOKENS - CACHED_TOKENS,
      cache_read_input_tokens: CACHED_TOKENS,
      output_tokens: countOutput(shown, calls),
    }
    return {
      kind: 'answer',
      content: content as never,
      stopReason: calls > 0 ? 'tool_use' : isCut ? 'max_tokens' : 'end_turn',
      usage,
    }
  })
  return { origin: fake.baseUrl, requests: fake.requests, stop: fake.stop }
}

const CLAUDE_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
}

function claudeError(status: number, word: string) {
  const message =
    word === 'context' ? 'prompt is too long: 250000 tokens > 200000 maximum' : `The request failed: ${word}.`
  const headers = status === 429 ? { 'retry-after': '7' } : {}
  return { kind: 'error', status, type: CLAUDE_TYPES[status] ?? 'api_error', message, headers } as const
}
