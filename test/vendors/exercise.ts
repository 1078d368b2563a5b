/**
 * One conformance suite for all vendors. `exercise` defines its cases for a vendor: each is sent through a real proxy, whose row of `vendors`
 * must fit the fake vendor, which is as strict as the vendor's documentation. A case that the vendor cannot pass is not skipped: the test
 * expects the error that says why.
 */
import { expect, test } from 'vitest'
import type { Vendor } from '../../src/config/vendors.ts'
import { createChatAssembler } from '../../src/formats/chat/assemble-chat.ts'
import { createMessageAssembler } from '../../src/formats/messages/assemble-message.ts'
import { get, post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { storeKey } from '../harness/direct-upstreams.ts'
import { parseJson, readEvents } from '../harness/outcomes/events.ts'
import type { Mode, Outcome } from '../harness/outcomes/outcome.ts'
import { readOutcome } from '../harness/outcomes/read-outcome.ts'
import { type FixedPathEndpoint, PATHS, writeRequest } from '../harness/provider-cases/requests.ts'
import type { TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { type CaseGroup, findReason } from './case-groups.ts'
import { asVendorError, type DocumentedVendor, type Feature, type JsonObject, type VendorError } from './documented.ts'
import {
  CACHED_TOKENS,
  COMMAND,
  countOutput,
  type FakeVendor,
  PROMPT_TOKENS,
  REASONING_TOKENS,
  THOUGHT,
  VALID_KEY,
} from './fake-vendor.ts'

/** A proxy that reaches the fake vendor by its row. */
export interface ExercisedVendor {
  documented: DocumentedVendor
  row: Pick<Vendor, 'name' | 'endpoints' | 'models_path'>
  fake: FakeVendor
  proxy: TestProxy
  /** The key of a project that has a valid key of the vendor. */
  key: string
}

interface Case {
  name: string
  group: CaseGroup
  run(vendor: ExercisedVendor): Promise<void>
}

const ENDPOINTS: readonly FixedPathEndpoint[] = ['chat', 'responses', 'messages']
const MODES: readonly Mode[] = ['plain', 'streamed']
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const CALL = ['run', JSON.stringify(COMMAND)]
const LONGEST_MS = 60_000

interface Sent extends Outcome {
  status: number
  headers: Headers
  body: string
}

interface Sending {
  endpoint: FixedPathEndpoint
  mode: Mode
  word: string
  tools?: boolean
  extra?: JsonObject
  key?: string
}

const CATALOGUED = ['openai', 'anthropic', 'groq']
const promptOf = (word: string) => `do:${word} ${crypto.randomUUID()}`
const modelOf = ({ documented: { name, model } }: ExercisedVendor) =>
  CATALOGUED.includes(name) ? model : `${name}/${model}`

async function send(
  vendor: ExercisedVendor,
  { endpoint, mode, word, tools = false, extra, key }: Sending,
): Promise<Sent> {
  const request = { endpoint, mode, model: modelOf(vendor), prompt: promptOf(word), tools, extra: extra ?? null }
  return sendBody(vendor, endpoint, mode, writeRequest(request), key)
}

async function sendBody(
  { proxy, key: usual }: ExercisedVendor,
  endpoint: FixedPathEndpoint,
  mode: Mode,
  body: JsonObject,
  key = usual,
): Promise<Sent> {
  const response = await post(proxy, key, PATHS[endpoint], body, { signal: AbortSignal.timeout(LONGEST_MS) })
  const { status, headers, text } = await readAnswer(response)
  const contentType = headers.get('content-type') ?? ''
  const outcome = readOutcome(endpoint, mode, { status, contentType, body: text, isCut: false })
  return { ...outcome, status, headers, body: text }
}

/** Expects the parts of a successful response. */
function expectOutcome(sent: Sent, expected: Partial<Outcome>): void {
  expect(sent.status, sent.body).toBe(200)
  expect({ ...sent, problems: sent.problems }, sent.body).toMatchObject({ problems: [], ...expected })
}

/** The reasoning that clients see. At its own Responses, the fake vendor shows none. */
function expectedReasoning({ documented, fake }: ExercisedVendor): string {
  const isHidden = documented.reasoning === null || documented.reasoning === 'signature'
  return isHidden || pathOfLast(fake).endsWith('/responses') ? '' : THOUGHT
}

/** The vendor's path to which the last request went. */
function pathOfLast({ requests }: FakeVendor): string {
  return requests.at(-1)?.path ?? ''
}

/** Defines a case for each endpoint and mode. */
function forEach(
  group: CaseGroup,
  name: string,
  run: (vendor: ExercisedVendor, endpoint: FixedPathEndpoint, mode: Mode) => Promise<void>,
  modes = MODES,
): Case[] {
  return ENDPOINTS.flatMap(endpoint =>
    modes.map(mode => ({
      name: `${name}, ${endpoint}, ${mode}`,
      group,
      run: (vendor: ExercisedVendor) => run(vendor, endpoint, mode),
    })),
  )
}

const IMAGE_CONTENT: Record<FixedPathEndpoint, (text: string) => JsonObject> = {
  chat: text => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
        ],
      },
    ],
  }),
  responses: text => ({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text },
          { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
        ],
      },
    ],
  }),
  messages: text => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
        ],
      },
    ],
  }),
}

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
}
const SCHEMA_FIELDS: Record<FixedPathEndpoint, JsonObject> = {
  chat: { response_format: { type: 'json_schema', json_schema: { name: 'person', schema: SCHEMA, strict: true } } },
  responses: { text: { format: { type: 'json_schema', name: 'person', schema: SCHEMA, strict: true } } },
  messages: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
}

/** Returns the request of the next turn, with the whole response of the last one and the results of its calls. */
function continueWith(endpoint: FixedPathEndpoint, request: JsonObject, mode: Mode, text: string): JsonObject {
  const body = mode === 'plain' ? parseJson(text) : assemble(endpoint, text)
  if (endpoint === 'responses') {
    const output = body.output as JsonObject[]
    const input = Array.isArray(request.input) ? request.input : [{ role: 'user', content: request.input }]
    const results = output
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'Blue.' }))
    return { ...request, input: [...input, ...output, ...results] }
  }
  const messages = request.messages as JsonObject[]
  if (endpoint === 'chat') {
    const [choice] = body.choices
    const results = (choice.message.tool_calls ?? []).map(({ id }: JsonObject) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'Blue.',
    }))
    return { ...request, messages: [...messages, choice.message, ...results] }
  }
  const results = (body.content as JsonObject[])
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Blue.' }))
  const turn = [
    { role: 'assistant', content: body.content },
    ...(results.length > 0 ? [{ role: 'user', content: results }] : []),
  ]
  return { ...request, messages: [...messages, ...turn] }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
function assemble(endpoint: FixedPathEndpoint, text: string): any {
  const events = readEvents(text).filter(({ data }) => data !== '[DONE]')
  if (endpoint === 'responses') return parseJson(events.at(-1)?.data ?? '').response
  const assembler = endpoint === 'chat' ? createChatAssembler() : createMessageAssembler()
  for (const { data } of events) assembler.push(data)
  return assembler.finish().body
}

/** Sends turns until one has no calls. Returns their outcomes. */
async function runLoop(
  vendor: ExercisedVendor,
  endpoint: FixedPathEndpoint,
  mode: Mode,
  word: string,
): Promise<Sent[]> {
  const model = modelOf(vendor)
  let request = writeRequest({ endpoint, mode, model, prompt: promptOf(word), tools: true })
  const turns: Sent[] = []
  for (let turn = 0; turn < 4; turn++) {
    const sent = await sendBody(vendor, endpoint, mode, request)
    turns.push(sent)
    if (sent.end !== 'tools') return turns
    request = continueWith(endpoint, request, mode, sent.body)
  }
  return turns
}

/** Runs a case if the vendor has the feature; otherwise expects the error in which the vendor says that it does not. */
async function expectFeature(
  vendor: ExercisedVendor,
  feature: Feature,
  sending: Sending,
  check: (sent: Sent) => void,
): Promise<void> {
  const reason = vendor.documented.lacks[feature]
  const sent = await send(vendor, sending)
  if (reason === undefined) return check(sent)
  expect([sent.status, sent.end], sent.body).toEqual([400, 'error'])
  expectErrorForm(vendor, sending.endpoint, sent)
  expect(sent.body).toContain(reason)
}

/** The vendor's own error is forwarded as it is; after a translation, it has the form that the client expects. */
function expectErrorForm(
  { documented, fake }: ExercisedVendor,
  endpoint: FixedPathEndpoint,
  sent: Sent,
  error?: VendorError,
): void {
  const isForwarded = pathOfLast(fake).endsWith(PATHS[endpoint])
  if (!isForwarded) expect(sent.problems, sent.body).toEqual([])
  else if (error && endpoint !== 'messages') expect(parseJson(sent.body)).toEqual(documented.writeError(error))
}

let projects = 0

/** Creates a project for an error, which may affect its later requests. */
async function createProject({ proxy, row }: ExercisedVendor, secret = VALID_KEY): Promise<string> {
  const project = `${row.name}-${++projects}`
  const key = await proxy.createKey({ project, type: 'project', settings: { semantic_mode: 'off' } })
  await storeKey(proxy.stores, project, row.name, secret)
  return key
}

/** Anthropic's type of an error. */
const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
}

async function expectError(vendor: ExercisedVendor, endpoint: FixedPathEndpoint, status: number): Promise<void> {
  const key = await createProject(vendor)
  const sent = await send(vendor, { endpoint, mode: 'plain', word: `error-${status}`, key })
  expect([sent.status, sent.end], sent.body).toEqual([status, 'error'])
  expectErrorForm(vendor, endpoint, sent, asVendorError(vendor.documented, `error-${status}`) ?? undefined)
  expect(sent.body).toContain(`The request failed: error-${status}.`)
  if (endpoint === 'messages') expect(parseJson(sent.body).error.type).toBe(TYPES[status])
  if (status !== 429) return
  expect(sent.headers.get('retry-after')).toBe('7')
  for (const [name, value] of Object.entries(vendor.documented.rateLimitHeaders))
    if (name.startsWith('x-ratelimit-') && !OUR_LIMITS.test(name)) expect(sent.headers.get(name)).toBe(value)
}

/** A server without keys does not even get a wrong one. */
async function expectWrongKey(vendor: ExercisedVendor, endpoint: FixedPathEndpoint): Promise<void> {
  const key = await createProject(vendor, 'sk-wrong-0123456789abcdef')
  const sent = await send(vendor, { endpoint, mode: 'plain', word: 'text', key })
  if (vendor.documented.key === null) return expectOutcome(sent, { end: 'stop' })
  expect([sent.status, sent.end], sent.body).toEqual([401, 'error'])
  expectErrorForm(vendor, endpoint, sent)
  if (endpoint === 'messages') expect(parseJson(sent.body).error.type).toBe(TYPES[401])
}

/** Limits of the proxy's own have these names. */
const OUR_LIMITS = /^x-ratelimit-(?:limit|remaining|reset)-(?:requests|tokens)$/

async function expectFullContext(vendor: ExercisedVendor, endpoint: FixedPathEndpoint): Promise<void> {
  const key = await createProject(vendor)
  const sent = await send(vendor, { endpoint, mode: 'plain', word: 'context', key })
  expect([sent.status, sent.end, sent.problems], sent.body).toEqual([400, 'error', []])
  const { error } = parseJson(sent.body)
  if (endpoint === 'messages') expect(error.message).toMatch(/^(?:prompt is too long|input length and `max_tokens`)/)
  else expect(error.code).toBe('context_length_exceeded')
}

interface UsageRow {
  p: number
  cp: number
  c: number
  estimated: string | null
}

async function expectUsage(
  vendor: ExercisedVendor,
  endpoint: FixedPathEndpoint,
  mode: Mode,
  extra?: JsonObject,
): Promise<void> {
  const { documented, proxy, fake } = vendor
  const sent = await send(vendor, { endpoint, mode, word: 'think', ...(extra && { extra }) })
  expectOutcome(sent, { text: 'Four.' })
  const path = pathOfLast(fake)
  await proxy.settle()
  const id = sent.headers.get('x-request-id')
  const [record] = await proxy.query<UsageRow>(
    `select prompt_tokens as p, cached_prompt_tokens as cp, completion_tokens as c, cost_estimated as estimated
     from usage_records where request_id = '${id}'`,
  )
  if (path.endsWith('/responses')) {
    const { usage } = mode === 'plain' ? parseJson(sent.body) : assemble(endpoint, sent.body)
    return expect(record).toMatchObject({ p: usage.input_tokens, c: usage.output_tokens })
  }
  const reasoning = documented.reasoning === null ? 0 : REASONING_TOKENS
  const tokens = { prompt: PROMPT_TOKENS, output: countOutput('Four.', 0), reasoning }
  const write = (cached: number) => JSON.stringify(documented.writeUsage?.({ ...tokens, cached }) ?? cached)
  const cp = write(CACHED_TOKENS) === write(0) ? 0 : CACHED_TOKENS
  expect(record).toMatchObject({ p: PROMPT_TOKENS, cp, c: tokens.output + reasoning })
}

async function expectCancel(vendor: ExercisedVendor, endpoint: FixedPathEndpoint): Promise<void> {
  const { proxy, key, fake } = vendor
  const prompt = promptOf('hang')
  const abort = new AbortController()
  const body = writeRequest({ endpoint, mode: 'streamed', model: modelOf(vendor), prompt })
  const response = await post(proxy, key, PATHS[endpoint], body, { signal: abort.signal })
  expect(response.status).toBe(200)
  const find = () => fake.requests.find(({ bodyText }) => bodyText.includes(prompt))
  const reader = response.body?.getReader()
  await reader?.read()
  abort.abort()
  await reader?.read().catch(() => {})
  await waitUntil('the vendor’s connection is closed', () => find()?.abortedAtMs != null)
}

async function expectEmbeddings(vendor: ExercisedVendor, input: string | string[]): Promise<void> {
  const { proxy, key, documented } = vendor
  const body = { model: modelOf(vendor), input, ...documented.embeddingFields }
  const { status, json, text } = await readAnswer(await post(proxy, key, '/embeddings', body))
  if (findReason(documented, vendor.row, 'embeddings') !== null) return expectUnsupported(status, json, 'embeddings')
  expect(status, text).toBe(200)
  expect(json.data).toHaveLength([input].flat().length)
  expect(json.data[0].embedding.length).toBeGreaterThan(0)
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
function expectUnsupported(status: number, json: any, endpoint: string): void {
  expect(status).toBe(404)
  expect(json.error.message).toContain(endpoint)
}

async function expectCompletion(vendor: ExercisedVendor, stream: boolean): Promise<void> {
  const { proxy, key } = vendor
  const body = { model: modelOf(vendor), prompt: promptOf('text'), stream }
  const answer = await readAnswer(await post(proxy, key, '/completions', body))
  if (findReason(vendor.documented, vendor.row, 'completions') !== null)
    return expectUnsupported(answer.status, answer.json, 'completions')
  expect(answer.status, answer.text).toBe(200)
  const chunks = stream
    ? readEvents(answer.text).flatMap(({ data }) => (data === '[DONE]' ? [] : parseJson(data)))
    : [answer.json]
  const text = chunks.flatMap(({ choices }) => choices.map((choice: JsonObject) => choice.text ?? '')).join('')
  expect(text.length).toBeGreaterThan(0)
}

/** Vendors with models in the catalogue list these in place of their own. A server without keys is listed once an operator sets it. */
async function expectList(vendor: ExercisedVendor): Promise<void> {
  const { proxy, documented, row } = vendor
  const { status, json } = await readAnswer(await get(proxy, '/models', await createProject(vendor)))
  expect(status).toBe(200)
  const isRead = findReason(documented, row, 'list of models') === null
  const names: string[] = json.data.map(({ id }: JsonObject) => id)
  // A native name that no other vendor has is listed as it is.
  const isListed = names.some(name => name === documented.model || name === modelOf(vendor))
  expect(isListed).toBe(isRead || CATALOGUED.includes(row.name))
}

const LIMIT_FIELDS: [FixedPathEndpoint, string][] = [
  ['chat', 'max_tokens'],
  ['chat', 'max_completion_tokens'],
  ['responses', 'max_output_tokens'],
  ['messages', 'max_tokens'],
]
const LIMIT = 20

export const CASES: readonly Case[] = [
  ...forEach('text', 'text', async (vendor, endpoint, mode) => {
    const sent = await send(vendor, { endpoint, mode, word: 'text' })
    expectOutcome(sent, { text: 'Hello, Ada. How are you?', end: 'stop', calls: [] })
    expect(sent.headers.get('x-proxy-provider')).toBe(vendor.row.name)
  }),
  ...forEach('reasoning', 'reasoning', async (vendor, endpoint, mode) => {
    const sent = await send(vendor, { endpoint, mode, word: 'think' })
    expectOutcome(sent, { text: 'Four.', reasoning: expectedReasoning(vendor), end: 'stop' })
  }),
  ...forEach(
    'tools',
    'a tool',
    async (vendor, endpoint, mode) => {
      await expectFeature(vendor, 'tools', { endpoint, mode, word: 'tool', tools: true }, sent =>
        expectOutcome(sent, { calls: [CALL] as Outcome['calls'], end: 'tools' }),
      )
    },
    ['plain'],
  ),
  ...forEach(
    'tools',
    'parallel tools',
    async (vendor, endpoint, mode) => {
      if (vendor.documented.lacks.tools !== undefined)
        return expectFeature(vendor, 'tools', { endpoint, mode, word: 'parallel', tools: true }, () => {})
      const turns = await runLoop(vendor, endpoint, mode, 'parallel')
      expect(
        turns.map(({ status, calls }) => [status, calls]),
        turns.at(-1)?.body,
      ).toEqual([
        [200, [CALL, CALL]],
        [200, []],
      ])
    },
    ['streamed'],
  ),
  ...forEach('tools', 'a loop of two steps', async (vendor, endpoint, mode) => {
    if (vendor.documented.lacks.tools !== undefined)
      return expectFeature(vendor, 'tools', { endpoint, mode, word: 'loop', tools: true }, () => {})
    const turns = await runLoop(vendor, endpoint, mode, 'loop')
    expect(
      turns.map(({ status, calls, problems }) => [status, calls.length, problems]),
      turns.at(-1)?.body,
    ).toEqual([
      [200, 1, []],
      [200, 1, []],
      [200, 0, []],
    ])
    expect(turns.at(-1)?.text).toBe('The sky is blue.')
  }),
  ...forEach(
    'images',
    'an image',
    async (vendor, endpoint, mode) => {
      const extra = IMAGE_CONTENT[endpoint](promptOf('image'))
      await expectFeature(vendor, 'images', { endpoint, mode, word: 'image', extra }, sent =>
        expectOutcome(sent, { text: 'A white pixel.' }),
      )
    },
    ['plain'],
  ),
  ...forEach(
    'structured output',
    'structured output',
    async (vendor, endpoint, mode) => {
      await expectFeature(
        vendor,
        'structured',
        { endpoint, mode, word: 'schema', extra: SCHEMA_FIELDS[endpoint] },
        sent => expectOutcome(sent, { text: '{"name":"Ada"}' }),
      )
    },
    ['plain'],
  ),
  ...LIMIT_FIELDS.map(
    ([endpoint, field]): Case => ({
      name: `a limit in ${field}, ${endpoint}`,
      group: 'limits',
      async run(vendor) {
        const sent = await send(vendor, { endpoint, mode: 'plain', word: 'count', extra: { [field]: LIMIT } })
        expectOutcome(sent, { end: 'length' })
        expect(sent.text.split(' ')).toHaveLength(LIMIT)
      },
    }),
  ),
  ...forEach('usage', 'usage', expectUsage),
  {
    name: 'usage that the client requests, chat, streamed',
    group: 'usage',
    run: vendor => expectUsage(vendor, 'chat', 'streamed', { stream_options: { include_usage: true } }),
  },
  ...[400, 404, 429, 500].flatMap(status =>
    forEach('errors', `status ${status}`, (vendor, endpoint) => expectError(vendor, endpoint, status), ['plain']),
  ),
  ...forEach('errors', 'a wrong key', expectWrongKey, ['plain']),
  ...forEach('errors', 'full context', (vendor, endpoint) => expectFullContext(vendor, endpoint), ['plain']),
  ...forEach('cancel', 'cancel', (vendor, endpoint) => expectCancel(vendor, endpoint), ['streamed']),
  { name: 'a vector', group: 'embeddings', run: vendor => expectEmbeddings(vendor, `one ${crypto.randomUUID()}`) },
  {
    name: 'several vectors',
    group: 'embeddings',
    run: vendor =>
      expectEmbeddings(
        vendor,
        ['a', 'b', 'c'].map(text => `${text} ${crypto.randomUUID()}`),
      ),
  },
  { name: 'is part of the proxy’s', group: 'list of models', run: expectList },
  { name: 'plain', group: 'completions', run: vendor => expectCompletion(vendor, false) },
  { name: 'streamed', group: 'completions', run: vendor => expectCompletion(vendor, true) },
]

/** Defines the tests of one vendor; at full depth all of `CASES`. */
export function exercise(connect: () => ExercisedVendor): void {
  test.each(draw(CASES))('$group: $name', async ({ run }) => run(connect()))
}

/** Creates the project with which a vendor is exercised. */
export async function connectVendor(parts: Omit<ExercisedVendor, 'key'>): Promise<ExercisedVendor> {
  const vendor = { ...parts, key: '' }
  return { ...vendor, key: await createProject(vendor) }
}
