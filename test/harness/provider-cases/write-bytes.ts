/** Writes the bytes that providers send: chunks and bodies of chat, events of Messages and of Responses. */
import type { Expected, Project, ProviderCase, ProviderResponseBytes } from './case.ts'

type Fields = Record<string, unknown>

export const STREAM = 'text/event-stream; charset=utf-8'
export const JSON_TYPE = 'application/json'
export const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
/** The cost of USAGE at gpt-4o-mini's prices. */
export const COST = 0.00021

const HEAD = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'gpt-4o-mini' }

export function frame(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

export const DONE = frame('[DONE]')

export function chunk(delta: Fields, finish: string | null = null, more: Fields = {}, ofChoice: Fields = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish, ...ofChoice }]
  return frame({ ...HEAD, object: 'chat.completion.chunk', choices, ...more })
}

export const ROLE = chunk({ role: 'assistant', content: '' })

export function usageChunk(usage: unknown): string {
  return frame({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage })
}

export interface ChatContent {
  /** Each is one chunk of a stream. */
  deltas?: Fields[]
  message?: Fields
  finish?: string | null
  /** Undefined: no usage. */
  usage?: unknown
}

export function chatStream({ deltas = [{ content: 'Hi' }], finish = 'stop', usage = USAGE }: ChatContent): string {
  const chunks = deltas.map(delta => chunk(delta)).join('')
  return ROLE + chunks + chunk({}, finish) + (usage === 'none' ? '' : usageChunk(usage)) + DONE
}

export function chatBody({ message = { content: 'Hi' }, finish = 'stop', usage = USAGE }: ChatContent): string {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }]
  return JSON.stringify({ ...HEAD, object: 'chat.completion', choices, ...(usage === 'none' ? {} : { usage }) })
}

export function typedEvents(...events: ({ type: string } & Fields)[]): string {
  return events.map(event => `event: ${event.type}\n${frame(event)}`).join('')
}

export function messageStart(usage: unknown): string {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5', content: [] }
  return typedEvents({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } })
}

export const MESSAGE_TEXT = typedEvents(
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
)
export const MESSAGE_STOP = typedEvents({ type: 'message_stop' })

export function messageDelta(stop_reason: string | null, usage: unknown): string {
  return typedEvents({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage })
}

export function messageBody(content: Fields[], stop_reason: string | null, usage: unknown): string {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5' }
  return JSON.stringify({ ...head, content, stop_reason, stop_sequence: null, usage })
}

export const streamed = (body: string, contentType: string | null = STREAM): { streamed: ProviderResponseBytes } => {
  return { streamed: { status: 200, contentType, body } }
}
export const plain = (body: string, contentType: string | null = JSON_TYPE): { plain: ProviderResponseBytes } => {
  return { plain: { status: 200, contentType, body } }
}
/** The same response in both modes. */
export const inBothModes = (content: ChatContent) => ({ ...streamed(chatStream(content)), ...plain(chatBody(content)) })

export interface CaseOptions {
  project?: Project
  tools?: boolean
  extra?: Fields
}

export function siblingCase(
  id: string,
  what: string,
  upstream: ProviderCase['upstream'],
  expected: Expected | Record<string, Expected>,
  { project = 'agg', tools = false, extra }: CaseOptions = {},
): ProviderCase {
  const isByPlace = Object.keys(expected).some(name => /^(all|plain|streamed|.*\/.*)$/.test(name))
  const places = (isByPlace ? expected : { all: expected }) as ProviderCase['expected']
  return { id, what, project, tools, extra: extra ?? null, upstream, expected: places }
}
