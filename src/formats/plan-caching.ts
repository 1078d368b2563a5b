/** Decides whether and how the cache may be used for a request. */
import { findHostedTool } from './hosted-tools.ts'
import { asString, isJsonObject, isPresent, type JsonObject } from './json/canonical.ts'

export interface CachePlan {
  /** Whether the request is looked up and stored. */
  isCacheable: boolean
  /** The field that refers to state at the provider or causes an action, which prevents caching; null if there is none. */
  field: string | null
  /**
   * Whether the response is useful only with the provider key that created it: its id can be continued, or it contains reasoning encrypted
   * for that account. The cache key then includes the provider key's version.
   */
  isBoundToKey: boolean
}

/** Fields that refer to state at the provider, create some, or let the provider act. */
const STATEFUL_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['responses', ['previous_response_id', 'conversation', 'prompt']],
  ['messages', ['container', 'mcp_servers', 'thread', 'thread_id']],
  ['generate_content', []],
])
/** Input items that contain their whole content. */
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
  // The calls of hosted tools contain their complete results.
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
])

export function planCaching(endpoint: string, body: JsonObject): CachePlan {
  const field = findObstacle(endpoint, body)
  const isBoundToKey = endpoint === 'responses' && (body.store !== false || hasEncryptedReasoning(body))
  return { isCacheable: field === null, field, isBoundToKey: field === null && isBoundToKey }
}

function findObstacle(endpoint: string, body: JsonObject): string | null {
  const fields = STATEFUL_FIELDS.get(endpoint)
  if (!fields) return null
  const isResponses = endpoint === 'responses'
  // An empty list of Anthropic's refers to nothing.
  const isSet = (value: unknown) => isPresent(value) && (isResponses || !(Array.isArray(value) && value.length === 0))
  const stateful = fields.find(field => isSet(body[field]))
  if (stateful !== undefined) return stateful
  if (isResponses && body.background === true) return 'background'
  return findHostedTool(endpoint, body.tools) ?? (isResponses ? findReference(body.input) : null)
}

function findReference(input: unknown): string | null {
  if (!Array.isArray(input)) return null
  const at = input.findIndex(item => !PLAIN_ITEMS.has(asString((isJsonObject(item) ? item.type : null) ?? 'message')))
  return at < 0 ? null : `input[${at}].type`
}

/** Whether the request contains or requests encrypted reasoning. */
function hasEncryptedReasoning({ input, include, context_management: management }: JsonObject): boolean {
  if (isPresent(management)) return true
  if (Array.isArray(include) && include.includes('reasoning.encrypted_content')) return true
  return Array.isArray(input) && input.some(item => isJsonObject(item) && isPresent(item.encrypted_content))
}
