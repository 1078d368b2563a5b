/** Translates `response_format`: a schema that Anthropic enforces, or an instruction to write JSON. */
import type { JSONOutputFormat, TextBlockParam } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readEnum, readObject, readOptional, readString } from '../../../formats/json/read-fields.ts'
import { adaptSchema } from './adapt-schema.ts'

export interface OutputFormat {
  format?: JSONOutputFormat
  /** The instruction that is added to the system prompt. */
  instruction?: TextBlockParam
}

/** The instruction for `json_object`. Anthropic enforces only schemas, and no schema matches every object. */
const JSON_INSTRUCTION: TextBlockParam = {
  type: 'text',
  text: 'Answer with a single valid JSON object and nothing else: no text before or after it, and no code fence.',
}

export function translateResponseFormat(body: JsonObject): OutputFormat {
  const requested = readOptional(body, 'response_format')
  if (requested === undefined) return {}
  const format = readObject(requested, 'response_format')
  const type = readEnum(format.type, 'response_format.type', ['text', 'json_object', 'json_schema'])
  if (type === 'text') return {}
  return type === 'json_object' ? { instruction: JSON_INSTRUCTION } : { format: readSchema(format) }
}

/** Returns whether the request asks for a JSON object without a schema. */
export function isJsonObjectRequested(body: JsonObject): boolean {
  return translateResponseFormat(body).instruction !== undefined
}

function readSchema(format: JsonObject): JSONOutputFormat {
  const param = 'response_format.json_schema'
  const named = readObject(format.json_schema, param)
  const schema = readObject(named.schema, `${param}.schema`)
  const description = readOptional(named, 'description')
  const described = description === undefined ? {} : { description: readString(description, `${param}.description`) }
  return { type: 'json_schema', schema: adaptSchema({ ...described, ...schema }, `${param}.schema`) }
}
