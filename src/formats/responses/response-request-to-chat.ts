/** Translates a Responses request to a chat request. */

import type { ExtrasKeys } from '../chat/provider-extras.ts'
import type { JsonObject } from '../json/canonical.ts'
import { pickPresent, readArray, readEnum, readObject, readOptional, readString } from '../json/read-fields.ts'
import { pickUnknownFields } from './response-fields.ts'
import { translateInput } from './response-input-to-chat.ts'
import { translateTools } from './response-tools-to-chat.ts'

/** Fields with the same name and meaning in both APIs. */
const SHARED_FIELDS = [
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
]

/** Translates the request. Throws a 400 for a field that is invalid or has no counterpart in chat completions. */
export function translateResponsesRequest(body: JsonObject, extrasKeys: ExtrasKeys | null): JsonObject {
  const unknown = pickUnknownFields(body)
  const limit = readOptional(body, 'max_output_tokens')
  return {
    ...unknown,
    model: body.model,
    messages: translateInput(body, extrasKeys),
    ...translateTools(body),
    ...translateText(body),
    ...translateReasoning(body),
    ...translateLogprobs(body),
    ...pickPresent(body, SHARED_FIELDS),
    ...(limit === undefined ? {} : { max_completion_tokens: limit }),
    ...(body.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

function translateText(body: JsonObject): JsonObject {
  const text = readObject(readOptional(body, 'text') ?? {}, 'text')
  return { ...translateFormat(text), ...pickPresent(text, ['verbosity']) }
}

function translateFormat(text: JsonObject): JsonObject {
  const given = readOptional(text, 'format')
  if (given === undefined) return {}
  const format = readObject(given, 'text.format')
  const type = readEnum(format.type, 'text.format.type', ['text', 'json_object', 'json_schema'])
  if (type === 'text') return {}
  if (type === 'json_object') return { response_format: { type } }
  const { name, schema, description, strict } = format
  const schemaFields = {
    name: readString(name, 'text.format.name'),
    ...(typeof description === 'string' ? { description } : {}),
    schema: readObject(schema, 'text.format.schema'),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
  return { response_format: { type, json_schema: schemaFields } }
}

function translateReasoning(body: JsonObject): JsonObject {
  const effort = readOptional(readObject(readOptional(body, 'reasoning') ?? {}, 'reasoning'), 'effort')
  return effort === undefined ? {} : { reasoning_effort: effort }
}

function translateLogprobs(body: JsonObject): JsonObject {
  const top = readOptional(body, 'top_logprobs')
  if (!hasInclude(body, 'message.output_text.logprobs') && (top === undefined || top === 0)) return {}
  return { ...(top === undefined ? {} : { top_logprobs: top }), logprobs: true }
}

/** Whether `include` contains `value`. Throws a 400 when `include` is not a list. */
export function hasInclude(body: JsonObject, value: string): boolean {
  return readArray(readOptional(body, 'include') ?? [], 'include').includes(value)
}
