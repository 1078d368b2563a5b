/**
 * Strict vendors. Each rejects a conversation in which one of its messages or calls comes back without any field that it had. Each calls a
 * tool twice, one step after the other, and then responds with text.
 */
import { isDeepStrictEqual } from 'node:util'
import type { RecordedRequest } from './recording.ts'
import type { JsonObject, Scenario } from './scenario.ts'
import type { Script } from './server.ts'

export interface StrictVendor {
  name: string
  /** The model's name at an aggregator. */
  model: string
  /** Returns the assistant message of a step, as in a plain response. `id` is new for each call. */
  message(step: number, id: string): JsonObject
  /** Returns the deltas of the same message; by default reasoning in pieces, then text, then whole calls, then the rest. */
  deltas?(message: JsonObject): JsonObject[]
  /** Returns why the vendor rejects an assistant message of another model; null if it accepts the message. */
  rejectsForeign?(message: JsonObject): string | null
}

export const TOOL = 'look'
export const FINAL_TEXT = 'The sky is blue.'
const THOUGHTS = ['Where shall I look? First at the sky.', 'Ein zweiter Blick: 天空, and “more”.', 'Enough.']

const call = (id: string, more: JsonObject = {}): JsonObject => {
  return { id, type: 'function', function: { name: TOOL, arguments: '{"at":"sky"}' }, ...more }
}
const thought = (step: number): string => THOUGHTS[step] ?? ''
const assistantMessage = (step: number, calls: JsonObject[], more: JsonObject): JsonObject =>
  step < 2
    ? { role: 'assistant', content: null, ...more, tool_calls: calls }
    : { role: 'assistant', content: FINAL_TEXT, ...more }

export const STRICT_VENDORS: readonly StrictVendor[] = [
  {
    name: 'DeepSeek',
    model: 'deepseek/deepseek-v3.2',
    rejectsForeign: message =>
      typeof message.reasoning_content === 'string' ? null : 'Missing reasoning_content field in the assistant message',
    message: (step, id) => assistantMessage(step, [call(id)], { reasoning_content: thought(step) }),
  },
  {
    name: 'Kimi, which speaks before it calls, and numbers its calls',
    model: 'moonshotai/kimi-k2-thinking',
    message: (step, id) => ({
      ...assistantMessage(step, [call(`functions.${TOOL}:${id}`)], { reasoning_content: thought(step) }),
      content: step < 2 ? 'I look.' : FINAL_TEXT,
    }),
  },
  {
    name: 'Gemini 3, whose first call is signed',
    model: 'google/gemini-3-pro-preview',
    rejectsForeign: rejectUnsigned,
    message: (step, id) =>
      assistantMessage(
        step,
        [call(id, { extra_content: { google: { thought_signature: `c2ln${step}/+=` } } }), call(`${id}b`)],
        step < 2 ? {} : { extra_content: { google: { thought_signature: 'bGFzdA==' } } },
      ),
  },
  {
    name: 'Claude by an aggregator, signed after its text',
    model: 'anthropic/claude-sonnet-4.5',
    message: (step, id) =>
      assistantMessage(step, [call(id)], {
        reasoning: thought(step),
        reasoning_details: [
          {
            type: 'reasoning.text',
            text: thought(step),
            signature: `c2ln${step}`,
            format: 'anthropic-claude-v1',
            index: 0,
          },
        ],
      }),
  },
  {
    name: 'GPT by an aggregator, encrypted',
    model: 'openai/gpt-5-mini',
    message: (step, id) =>
      assistantMessage(step, [call(id)], {
        reasoning_details: [
          {
            type: 'reasoning.encrypted',
            data: `gAAAA${step}`,
            id: `rs_${step}`,
            format: 'openai-responses-v1',
            index: 0,
          },
        ],
      }),
  },
  {
    name: 'DeepSeek by an aggregator, without any signature',
    model: 'deepseek/deepseek-chat',
    message: (step, id) =>
      assistantMessage(step, [call(id)], {
        reasoning: thought(step),
        reasoning_details: [{ type: 'reasoning.text', text: thought(step), format: null, index: 0 }],
      }),
  },
  {
    name: 'a vendor of tomorrow, whose message, calls and functions carry something',
    model: 'tomorrow/one',
    message(step, id) {
      const within = { name: TOOL, arguments: '{"at":"sky"}', seal: `s${step}` }
      return assistantMessage(step, [{ ...call(id), function: within, trace: [step, { deep: true }] }], {
        reasoning: thought(step),
        ticket: { id: `t${step}`, hops: [1, 2, step] },
        weight: 0.5,
      })
    },
  },
  {
    name: 'Kimi, which numbers the calls of each conversation',
    model: 'moonshotai/kimi-k2.5',
    message: (step, id) =>
      assistantMessage(step, [call(`functions.${TOOL}:${step}`)], { reasoning_content: `${thought(step)} (${id})` }),
  },
  {
    name: 'Gemini 3, whose last call is signed',
    model: 'google/gemini-3-flash-preview',
    rejectsForeign: rejectUnsigned,
    message: (step, id) =>
      assistantMessage(
        step,
        [call(id), call(`${id}b`, { extra_content: { google: { thought_signature: `bGFzdA${step}` } } })],
        {},
      ),
  },
  {
    name: 'Gemini 3 by an aggregator, signed beside its calls',
    model: 'google/gemini-3.1-pro-preview',
    rejectsForeign: rejectUnsigned,
    message: (step, id) =>
      assistantMessage(step, [call(id), call(`${id}b`)], {
        reasoning_details: [
          { type: 'reasoning.encrypted', data: `Q2dz${step}`, id, format: 'google-gemini-v1', index: 0 },
        ],
      }),
  },
  {
    name: 'Claude by an aggregator, with a hidden thought',
    model: 'anthropic/claude-opus-4.5',
    message: (step, id) =>
      assistantMessage(step, [call(id)], {
        reasoning_details: [
          { type: 'reasoning.encrypted', data: `cmVk${step}`, format: 'anthropic-claude-v1', index: 0 },
        ],
      }),
  },
  {
    name: 'GLM, with parallel calls',
    model: 'z-ai/glm-4.7',
    message: (step, id) =>
      assistantMessage(step, [call(id), call(`${id}b`), call(`${id}c`)], { reasoning_content: thought(step) }),
  },
  {
    name: 'Qwen',
    model: 'qwen/qwen3-max-thinking',
    message: (step, id) => assistantMessage(step, [call(id)], { reasoning_content: `${thought(step)}\n` }),
  },
  {
    name: 'MiniMax, with several thoughts',
    model: 'minimax/minimax-m2',
    message: (step, id) =>
      assistantMessage(step, [call(id)], {
        reasoning_details: [0, 1].map(index => {
          return { type: 'reasoning.text', text: `${thought(step)} ${index}`, format: null, index }
        }),
      }),
  },
  {
    name: 'Grok, in text and encrypted',
    model: 'x-ai/grok-4.1-fast',
    message: (step, id) =>
      assistantMessage(step, [call(id)], {
        reasoning: thought(step),
        reasoning_details: [
          { type: 'reasoning.encrypted', data: `eGFp${step}`, id: `rs_${step}`, format: 'xai-responses-v1', index: 0 },
        ],
      }),
  },
  {
    name: 'gpt-oss, in text alone',
    model: 'openai/gpt-oss-120b',
    message: (step, id) => assistantMessage(step, [call(id)], { reasoning: thought(step) }),
  },
  {
    name: 'Mistral, which knows its own fields and ids alone',
    model: 'mistralai/mistral-medium-3.1',
    rejectsForeign: rejectUnknown,
    message: (step, id) => assistantMessage(step, [call(nineCharacters(id))], {}),
  },
  {
    name: 'a vendor that signs the function of each call',
    model: 'tomorrow/two',
    message: (step, id) =>
      assistantMessage(
        step,
        [id, `${id}b`].map(each => {
          const called = { name: TOOL, arguments: '{"at":"sky"}', proof: `${step}${each}` }
          return { ...call(each), function: called }
        }),
        {},
      ),
  },
]

const nineCharacters = (id: string) =>
  id
    .replaceAll(/[^a-zA-Z0-9]/g, '')
    .slice(-9)
    .padStart(9, '0')

/** Mistral's rules. */
function rejectUnknown({ role, content, prefix, tool_calls: calls, ...unknown }: JsonObject): string | null {
  const extra = (calls as JsonObject[]).flatMap(({ id, type, function: called, index, ...more }) => Object.keys(more))
  const names = [...Object.keys(unknown), ...extra]
  if (names.length > 0) return `Extra inputs are not permitted: ${names.join(', ')}`
  const isValid = ({ id }: JsonObject) => /^[a-zA-Z0-9]{9}$/.test(String(id))
  return (calls as JsonObject[]).every(isValid) ? null : 'Tool call id must be a-z, A-Z, 0-9, with a length of 9.'
}

/** Google's rule for turns of other models: the first call has a signature. */
function rejectUnsigned(message: JsonObject): string | null {
  const [first] = message.tool_calls as JsonObject[]
  const { google } = (first?.extra_content ?? {}) as { google?: { thought_signature?: string } }
  return google?.thought_signature ? null : 'Function call is missing a thought_signature in functionCall parts.'
}

/**
 * Returns a script for a fake provider that responds as these vendors' models. Other models get the default response. `called` replaces the
 * tool, for a client with tools of its own.
 */
export function strictVendorScript(called?: { name: string; arguments: JsonObject }): Script {
  /** Sent messages, by the model, the conversation's first message and the ids of their calls. */
  const sent = new Map<string, JsonObject>()
  let serial = 0
  return request => {
    const body = request.body as JsonObject
    const vendor = STRICT_VENDORS.find(({ model }) => model === body?.model)
    if (!vendor || !request.path.endsWith('/chat/completions')) return undefined
    const messages = body.messages as JsonObject[]
    const own = messages.filter(({ role, tool_calls: calls }) => role === 'assistant' && Array.isArray(calls))
    const nameOf = (message: JsonObject) => `${vendor.model} ${JSON.stringify(question(messages))} ${idsOf(message)}`
    for (const message of own) {
      const known = sent.get(nameOf(message))
      const missing = lacks(message, known)
      const rejection = known ? null : (vendor.rejectsForeign?.(message) ?? null)
      if (rejection) return { kind: 'error', status: 400, message: rejection }
      if (missing.length === 0) continue
      const problem = `The ${missing.join(', ')} of an earlier message must be passed back to the API.`
      return { kind: 'error', status: 400, message: problem }
    }
    const message = vendor.message(own.length, `call_${++serial}x${crypto.randomUUID().slice(0, 8)}`)
    if (called) nameTool(message, called)
    const callIds = own.flatMap(({ tool_calls: calls }) => (calls as JsonObject[]).map(({ id }) => id))
    const unmatched = messages.filter(({ role, tool_call_id: id }) => role === 'tool' && !callIds.includes(id))
    if (unmatched.length > 0) return { kind: 'error', status: 400, message: 'A result belongs to no call.' }
    if (Array.isArray(message.tool_calls)) sent.set(nameOf(message), message)
    return answer(request, vendor, message)
  }
}

function nameTool(message: JsonObject, called: { name: string; arguments: JsonObject }): void {
  for (const each of (message.tool_calls ?? []) as JsonObject[]) {
    Object.assign(each.function as JsonObject, { name: called.name, arguments: JSON.stringify(called.arguments) })
  }
}

function question(messages: JsonObject[]): unknown {
  const content = messages.find(({ role }) => role === 'user')?.content
  return Array.isArray(content) ? content.map(({ text }) => text).join('') : content
}

function idsOf({ tool_calls: calls }: JsonObject): string {
  return (calls as JsonObject[])
    .map(({ id }) => id)
    .sort()
    .join()
}

/** Returns the fields that were sent and came back changed or not at all. Messages of other models are ignored. */
function lacks(message: JsonObject, sent: JsonObject | undefined): string[] {
  if (!sent) return []
  const [given, expected] = [withSortedCalls(message), withSortedCalls(sent)]
  return Object.keys(sent).filter(name => name !== 'content' && !isDeepStrictEqual(given[name], expected[name]))
}

/** Vendors accept calls in any order, and arguments that were written again. */
function withSortedCalls(message: JsonObject): JsonObject {
  const calls = (message.tool_calls ?? []) as { id: string; function: JsonObject }[]
  const read = calls.map(each => {
    return { ...each, function: { ...each.function, arguments: JSON.parse(String(each.function.arguments)) } }
  })
  return { ...message, ...(calls.length > 0 && { tool_calls: read.sort((a, b) => (a.id < b.id ? -1 : 1)) }) }
}

function answer({ body }: RecordedRequest, vendor: StrictVendor, message: JsonObject): Scenario {
  const { stream, model } = body as JsonObject
  const head = { id: `gen-${crypto.randomUUID()}`, created: 1_760_000_000, model }
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop'
  const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 }
  if (stream !== true) {
    const choices = [{ index: 0, message, finish_reason }]
    const plain = JSON.stringify({ ...head, object: 'chat.completion', choices, usage })
    return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [plain] }
  }
  const chunk = (fields: JsonObject) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], ...fields })}\n\n`
  const deltas = vendor.deltas?.(message) ?? splitByDefault(message)
  const chunks = deltas.map(delta => chunk({ choices: [{ index: 0, delta, finish_reason: null }] }))
  chunks.push(chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }), chunk({ usage }), 'data: [DONE]\n\n')
  return { kind: 'raw', headers: { 'content-type': 'text/event-stream' }, parts: chunks }
}

function splitByDefault(message: JsonObject): JsonObject[] {
  const { role, content, tool_calls: calls, ...rest } = message
  const texts = Object.entries(rest).filter(([, value]) => typeof value === 'string')
  const details = Array.isArray(rest.reasoning_details) ? (rest.reasoning_details as JsonObject[]) : []
  const others = Object.entries(rest).filter(
    ([name, value]) => typeof value !== 'string' && name !== 'reasoning_details',
  )
  return [
    { role, content: '' },
    ...texts.flatMap(([name, value]) => pieces(String(value)).map(piece => ({ [name]: piece }))),
    ...details.flatMap(splitDetail),
    ...(typeof content === 'string' ? pieces(content).map(piece => ({ content: piece })) : []),
    ...((calls ?? []) as JsonObject[]).flatMap(splitCall),
    ...others.map(([name, value]) => ({ [name]: value })),
  ]
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,9}/gu) ?? []
}

function splitDetail({ text, signature, ...rest }: JsonObject): JsonObject[] {
  const piece = (fields: JsonObject) => ({ reasoning_details: [{ ...rest, ...fields }] })
  const texts = typeof text === 'string' ? pieces(text).map(part => piece({ text: part })) : [piece({})]
  return signature === undefined ? texts : [...texts, piece({ signature })]
}

function splitCall(call: JsonObject, index: number): JsonObject[] {
  const { arguments: text, ...called } = call.function as JsonObject
  const opening = { ...call, index, function: { ...called, arguments: '' } }
  const rest = pieces(String(text)).map(part => ({ index, function: { arguments: part } }))
  return [opening, ...rest].map(part => ({ tool_calls: [part] }))
}
