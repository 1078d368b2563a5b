/** Valid JSON with a wrong value in one field. */
import { chat, type HostileRequest, MARKER, MODEL, write } from './hostile-request.ts'

/** Values of types that a field may not have. */
const NUMBER = 42
const TEXT = MARKER
const TRUE = true
const LIST: unknown[] = []
const OBJECT = { [MARKER]: MARKER }
const MESSAGE = { role: 'user', content: MARKER }

/** Values that the proxy itself rejects, by field. The error's `param` is the field. */
const REFUSED_BY_PROXY: Record<string, Record<string, unknown>[]> = {
  model: [undefined, null, NUMBER, TRUE, LIST, [MODEL], OBJECT, '', 'm'.repeat(257)].map(model => chat({ model })),
  messages: [undefined, null, NUMBER, TEXT, TRUE, LIST, OBJECT].map(messages => chat({ messages })),
  'messages[0]': [null, NUMBER, TEXT, TRUE, LIST, [MESSAGE]].map(message => chat({ messages: [message] })),
  'messages[1]': [null, TEXT].map(message => chat({ messages: [MESSAGE, message, MESSAGE] })),
  'messages[0].role': [undefined, null, NUMBER, TRUE, LIST, OBJECT].map(role =>
    chat({ messages: [{ role, content: MARKER }] }),
  ),
  'messages[0].content': [NUMBER, TRUE, OBJECT].map(content => chat({ messages: [{ role: 'user', content }] })),
  stream: [NUMBER, 0, TEXT, 'true', LIST, OBJECT].map(stream => chat({ stream })),
}

/** Values that providers reject, and the sandbox too. The proxy forwards them. */
const REFUSED_BY_VENDORS: Record<string, unknown[]> = {
  temperature: [TEXT, TRUE, LIST, OBJECT, -1, 2.1, 1e308],
  top_p: [TEXT, LIST, -0.1, 1.1],
  presence_penalty: [TEXT, -3, 3],
  frequency_penalty: [OBJECT, -3, 3],
  seed: [TEXT, 1.5, TRUE],
  n: [TEXT, 0, -1, 1.5, 129, 1e9],
  max_tokens: [TEXT, 0, -5, 0.5, OBJECT],
  max_completion_tokens: [TEXT, -5, LIST],
  stop: [NUMBER, TRUE, '', [''], [NUMBER], OBJECT, ['a', 'b', 'c', 'd', 'e']],
  logprobs: [TEXT, NUMBER],
  tools: [TEXT, OBJECT, [null], [TEXT], [{}], [{ type: 'function' }]],
  functions: [TEXT, OBJECT, [null], [{ name: 'bad name!' }]],
  tool_choice: [TEXT, NUMBER, 'required', OBJECT],
  response_format: [TEXT, NUMBER, LIST, OBJECT, { type: TEXT }, { type: 'json_schema' }],
}

const BAD_TOOLS: Record<string, unknown> = {
  'a name with a line break': { name: 'a\nb' },
  'a name of 65 letters': { name: 'n'.repeat(65) },
  'parameters that are text': { name: 'f', parameters: MARKER },
  'a schema without an instance': { name: 'f', parameters: { type: 'string', minLength: 3, maxLength: 1 } },
  'a schema of an unknown type': { name: 'f', parameters: { type: MARKER } },
  'a reference to nowhere': { name: 'f', parameters: { $ref: `#/${MARKER}` } },
  'a pattern that is no pattern': { name: 'f', parameters: { type: 'string', pattern: '(' } },
  'an array of a billion': { name: 'f', parameters: { type: 'array', minItems: 1e9, items: {} } },
  'a string of a billion letters': { name: 'f', parameters: { type: 'string', minLength: 1e9 } },
}

const refused = (name: string, body: object, path?: string): Omit<HostileRequest, 'error'> => ({
  name,
  send: write({ body, ...(path === undefined ? {} : { path }) }),
  statuses: [400],
})

function describe(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').replaceAll(MARKER, '…').slice(0, 40)
}

function byVendors(path: string, base: Record<string, unknown>, fields: Record<string, unknown[]>): HostileRequest[] {
  return Object.entries(fields).flatMap(([field, values]) =>
    values.map(value => ({
      ...refused(`${path} ${field}: ${describe(value)}`, { ...base, [field]: value }, path),
      upstreamStatuses: null,
    })),
  )
}

export const WRONG_TYPES: HostileRequest[] = [
  ...Object.entries(REFUSED_BY_PROXY).flatMap(([param, bodies]) =>
    bodies.map((body, i) => ({
      ...refused(`${param} of a wrong type, ${i + 1}`, body),
      error: { code: 'invalid_request_error', param },
    })),
  ),
  ...[undefined, null, NUMBER, TRUE, OBJECT].map(prompt => ({
    ...refused(`prompt: ${describe(prompt)}`, { model: MODEL, prompt }, '/v1/completions'),
    error: { param: 'prompt' },
  })),
  ...[undefined, null, NUMBER, TRUE, OBJECT, '', LIST].map(input => ({
    ...refused(`input: ${describe(input)}`, { model: 'openai/text-embedding-3-small', input }, '/v1/embeddings'),
    error: { param: 'input' },
  })),
  ...byVendors('/v1/chat/completions', chat(), REFUSED_BY_VENDORS),
  ...byVendors('/v1/completions', { model: MODEL, prompt: MARKER }, { n: [0, TEXT], echo: [TEXT] }),
  ...byVendors(
    '/v1/embeddings',
    { model: 'openai/text-embedding-3-small', input: MARKER },
    { input: [[''], [null], [MARKER, NUMBER], [LIST]], dimensions: [0, 1e9, TEXT], encoding_format: [TEXT] },
  ),
  ...Object.entries(BAD_TOOLS).map(([name, offered]) => ({
    ...refused(`a tool with ${name}`, chat({ tools: [{ type: 'function', function: offered }] })),
    upstreamStatuses: null,
  })),
]
