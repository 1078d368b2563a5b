/** Decides what the cache may do with a Responses request. */

import { isJsonObject, type JsonObject } from '../json/json-object.ts'

export type ResponsesPlan =
  /** The answer depends on what is kept elsewhere, or acts: it is neither looked up nor stored. `field`: why. */
  | { isCacheable: false; field: string }
  | {
      isCacheable: true
      /**
       * The answer is of use with the very provider key alone that it was made with: its id can be chained on, or it
       * holds thoughts sealed for that account. The key's version is part of the cache key then.
       */
      isBoundToKey: boolean
      /** Part of the cache key, for `store` decides whether the answer's id leads anywhere. */
      isStored: boolean
    }

/** Fields that refer to what a provider keeps, or leave the answer with it. */
const STATEFUL_FIELDS = ['previous_response_id', 'conversation', 'prompt']
/** Tools that the client runs: an answer that calls them says the same every time. */
const OWN_TOOLS = new Set(['function', 'custom', 'namespace', 'apply_patch', 'local_shell'])
/** Items by which a conversation is told whole. */
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
  // What hosted tools came to earlier, told whole.
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

/** Hosted tools fetch what changes, or do something; a shell is the client's only where it says so. */
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

/** Sealed thoughts come in, or are asked for. */
function holdsSealed({ input, include, context_management: management }: JsonObject): boolean {
  if (isGiven(management)) return true
  if (Array.isArray(include) && include.includes('reasoning.encrypted_content')) return true
  return Array.isArray(input) && input.some(item => isJsonObject(item) && isGiven(item.encrypted_content))
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Marks where the text was; an object, because no content is one. */
const TAKEN = { taken: true }

/**
 * The one text by which a request may be matched semantically: that of the last item, where it is a user's message.
 * `contextBody` is the body without it; null where the request can only be matched exactly.
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
