/** Decides what the cache may do with a Responses request. */

import { isJsonObject, type JsonObject } from '../json/json-object.ts'

export type ResponsesPlan =
  /** The response depends on stored state, or acts: it is neither looked up nor stored. `field` is the reason. */
  | { isCacheable: false; field: string }
  | {
      isCacheable: true
      /**
       * The response only works with the provider key it was made with: its id can be chained on, or it has reasoning encrypted for that
       * account. The key's version is then part of the cache key.
       */
      isBoundToKey: boolean
      /** Part of the cache key, because `store` decides whether the response's id can be used. */
      isStored: boolean
    }

/** Fields that refer to a provider's stored state, or store the response there. */
const STATEFUL_FIELDS = ['previous_response_id', 'conversation', 'prompt']
/** Tools that the client runs: a response that calls them can be repeated. */
const OWN_TOOLS = new Set(['function', 'custom', 'namespace', 'apply_patch', 'local_shell'])
/** Items that contain their part of a conversation in full. */
const PLAIN_ITEMS = new Set([
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'reasoning',
  'compaction',
  // Earlier results of hosted tools, in full.
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
])

export function planResponses(body: JsonObject): ResponsesPlan {
  const stateful = STATEFUL_FIELDS.find(field => isGiven(body[field]))
  if (stateful !== undefined) return { isCacheable: false, field: stateful }
  if (body.background === true) return { isCacheable: false, field: 'background' }
  const field = findActing(body) ?? findReference(body.input)
  if (field !== null) return { isCacheable: false, field }
  const isStored = body.store !== false
  return { isCacheable: true, isBoundToKey: isStored || holdsSealed(body), isStored }
}

/** Hosted tools fetch changing data, or act; a shell is the client's only if it says so. */
function findActing({ tools }: JsonObject): string | null {
  if (!Array.isArray(tools)) return null
  const at = tools.findIndex(tool => !isOwnTool(tool))
  return at < 0 ? null : `tools[${at}].type`
}

function isOwnTool(tool: unknown): boolean {
  if (!isJsonObject(tool)) return false
  if (tool.type === 'shell') return isJsonObject(tool.environment) && tool.environment.type === 'local'
  return OWN_TOOLS.has(String(tool.type))
}

function findReference(input: unknown): string | null {
  if (!Array.isArray(input)) return null
  const at = input.findIndex(item => !PLAIN_ITEMS.has(String((isJsonObject(item) ? item.type : null) ?? 'message')))
  return at < 0 ? null : `input[${at}].type`
}

/** Whether encrypted reasoning is in the input, or asked for. */
function holdsSealed({ input, include, context_management: management }: JsonObject): boolean {
  if (isGiven(management)) return true
  if (Array.isArray(include) && include.includes('reasoning.encrypted_content')) return true
  return Array.isArray(input) && input.some(item => isJsonObject(item) && isGiven(item.encrypted_content))
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Stands in place of the text; an object, because no content is one. */
const TAKEN = { taken: true }

/**
 * The text by which a request may be matched semantically: the last item's, if it is a user's message. `contextBody` is the body without
 * it. Null when the request can only be matched exactly.
 */
export function takeResponsesText(body: JsonObject): { text: string; contextBody: JsonObject } | null {
  const { input } = body
  if (typeof input === 'string') return { text: input, contextBody: { ...body, input: TAKEN } }
  const last: unknown = Array.isArray(input) ? input.at(-1) : null
  if (!isJsonObject(last) || last.role !== 'user' || (last.type ?? 'message') !== 'message') return null
  const taken = takeContent(last.content)
  if (!taken || !Array.isArray(input)) return null
  const rest = { ...last, content: taken.rest }
  return { text: taken.text, contextBody: { ...body, input: [...input.slice(0, -1), rest] } }
}

function takeContent(content: unknown): { text: string; rest: unknown } | null {
  if (typeof content === 'string') return { text: content, rest: TAKEN }
  if (!Array.isArray(content)) return null
  const texts: string[] = []
  const rest = content.map(part => {
    if (!isJsonObject(part) || part.type !== 'input_text' || typeof part.text !== 'string') return part
    texts.push(part.text)
    return { ...part, text: TAKEN }
  })
  return texts.length > 0 ? { text: texts.join('\n'), rest } : null
}
