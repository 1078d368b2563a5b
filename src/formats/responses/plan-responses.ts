/** Decides whether and how the cache may be used for a Responses request. */
import { findHostedTool } from '../hosted-tools.ts'
import { asString, isJsonObject, isPresent, type JsonObject } from '../json/canonical.ts'

export type ResponsesCachePlan =
  /** The request depends on state at the provider or causes a side effect. It is neither looked up nor stored. `field` is the reason. */
  | { isCacheable: false; field: string }
  | {
      isCacheable: true
      /**
       * True when the response is useful only with the provider key that created it: its id can be continued, or it contains
       * reasoning encrypted for that account. The cache key then includes the provider key's version.
       */
      isBoundToKey: boolean
    }

/** Fields that refer to state at the provider, or create some. */
const STATEFUL_FIELDS = ['previous_response_id', 'conversation', 'prompt']
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

export function planResponsesCaching(body: JsonObject): ResponsesCachePlan {
  const stateful = STATEFUL_FIELDS.find(field => isPresent(body[field]))
  if (stateful !== undefined) return { isCacheable: false, field: stateful }
  if (body.background === true) return { isCacheable: false, field: 'background' }
  const field = findHostedTool('responses', body.tools) ?? findReference(body.input)
  if (field !== null) return { isCacheable: false, field }
  return { isCacheable: true, isBoundToKey: body.store !== false || hasEncryptedReasoning(body) }
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
