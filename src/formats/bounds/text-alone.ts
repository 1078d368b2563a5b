/**
 * Whether what a model reads is nothing but the request's own text, of which a token has at least a byte. Everything in it has to be known
 * as text: a picture, a file, an id of something kept elsewhere, or what nobody knows may be many tokens in few bytes.
 */
import { unpackCarried } from '../chat/carried.ts'
import { isJsonObject, type JsonObject } from '../json/canonical.ts'

export interface Content {
  isText: boolean
  /** Whether sound is among it, which has another price. */
  hasSound: boolean
  /** Objects that stand where tools do. */
  tools: unknown[]
}

/** Fields of messages, items, parts and tools that hold text, name something, or steer. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(
  `role content text name type id index status phase refusal summary thinking signature data encrypted_content
  reasoning reasoning_content reasoning_details thinking_blocks tool_calls function function_call custom call_id
  tool_call_id tool_use_id is_error caller input output title clear_at output_config effort
  cache_control ttl prompt_cache_breakpoint tools description strict format definition syntax namespace
  defer_loading eager_input_streaming allowed_callers tool_id extra_content google thought_signature`
    .trim()
    .split(/\s+/),
)
/** Fields with the client's own names, or with earlier output: no model is shown more than their text. */
const OWN_NAMES: ReadonlySet<string> = new Set(
  `parameters schema input_schema input_examples output_schema arguments metadata annotations citations logprobs results`.split(
    ' ',
  ),
)
/** Types of messages, items and parts that are text. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set(
  `text input_text output_text refusal message content function custom namespace function_call function_call_output
  custom_tool_call custom_tool_call_output reasoning reasoning_text summary_text thinking redacted_thinking tool_use
  tool_result ephemeral grammar direct local_shell_call_output apply_patch_call_output
  reasoning.text reasoning.summary reasoning.encrypted`
    .trim()
    .split(/\s+/),
)
/** May hold what an earlier message carried, packed: its model reads what is in it. */
const MAY_BE_PACKED: ReadonlySet<string> = new Set(['encrypted_content', 'signature', 'data'])
const SOUND = new Set(['input_audio', 'audio'])

/** Notes in `found` what is in the value. */
export function readContent(value: unknown, found: Content): void {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') readContent(item, found)
  } else if (isJsonObject(value)) readFields(value, found)
}

function readFields(object: JsonObject, found: Content): void {
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined || OWN_NAMES.has(name)) continue
    if (name === 'input' && isCall(object)) continue
    if (!TEXT_FIELDS.has(name) || (name === 'type' && !TEXT_TYPES.has(value))) found.isText = false
    if (SOUND.has(name) || (name === 'type' && SOUND.has(value as string))) found.hasSound = true
    if (name === 'tools' && Array.isArray(value)) found.tools.push(...value)
    if (name === 'tool') found.tools.push(value)
    if (typeof value === 'object') readContent(value, found)
    else if (MAY_BE_PACKED.has(name)) readPacked(value, found)
  }
}

function readPacked(text: unknown, found: Content): void {
  const carried = unpackCarried(text, null)
  if (carried) readContent([carried.fields, ...Object.values(carried.calls)], found)
}

/** A call of a client's own tool. */
function isCall({ type }: JsonObject): boolean {
  return type === 'tool_use'
}
