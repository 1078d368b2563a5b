/** Writes a Responses request from a chat request whose messages are already input items. */

import { asObjects, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { setSourcePath, sourcePathOf } from '../source-paths.ts'

/** The lowest limit that OpenAI accepts. */
const MIN_OUTPUT_TOKENS = 16

export interface ResponsesRequestOptions {
  /** Whether to request encrypted reasoning. Models that do not reason reject it. */
  includesReasoning: boolean
  /** Whether to request summaries of the reasoning. */
  includesSummary: boolean
}

/** Writes the request. Nothing is stored at the provider. `stop` has no counterpart: the response is ended by the translation. */
export function writeResponsesRequest(
  chatRequest: JsonObject,
  { includesReasoning, includesSummary }: ResponsesRequestOptions,
): JsonObject {
  const {
    messages: input,
    max_completion_tokens: limit,
    tools,
    tool_choice: choice,
    reasoning_effort: effort,
    response_format: format,
    user,
    temperature,
    top_p,
    stop: _stop,
    stream_options: _streamOptions,
    ...shared
  } = chatRequest
  const reasoning = { ...(effort !== undefined && { effort }), ...(includesSummary && { summary: 'auto' }) }
  return {
    ...shared,
    input,
    store: false,
    ...(typeof limit === 'number' && { max_output_tokens: Math.max(limit, MIN_OUTPUT_TOKENS) }),
    // Clients send the default, and models that reason reject the field with any value.
    ...(temperature !== undefined && temperature !== 1 && { temperature }),
    ...(top_p !== undefined && top_p !== 1 && { top_p }),
    ...(tools !== undefined && { tools: asObjects(tools).map(writeTool) }),
    ...(choice !== undefined && { tool_choice: writeChoice(choice) }),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(includesReasoning && { include: ['reasoning.encrypted_content'] }),
    ...(isJsonObject(format) && { text: { format: writeFormat(format) } }),
    ...(user !== undefined && { safety_identifier: user }),
  }
}

/** Writes a function. By default, this API would change its schema to a strict one. */
function writeTool(tool: JsonObject): JsonObject {
  const called = isJsonObject(tool.function) ? tool.function : {}
  return setSourcePath({ type: 'function', strict: false, ...called }, sourcePathOf(tool) ?? '')
}

function writeChoice(choice: unknown): unknown {
  const called = isJsonObject(choice) ? choice.function : undefined
  return isJsonObject(called) ? { type: 'function', name: called.name } : choice
}

function writeFormat({ type, json_schema: schema }: JsonObject): JsonObject {
  return { type, ...(isJsonObject(schema) && schema) }
}
