/** How each field of a Responses request is translated to chat completions. Code and documentation both use this table. */

import type { ResponseCreateParams } from 'openai/resources/responses/responses'
import { invalidRequest, type ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/canonical.ts'
import { type FieldRule, takeUnruled } from '../field-rule.ts'
import { isOwnResponseId } from './continued-input.ts'

/** Codex sends `client_metadata`, which the SDK's type does not have. */
export type RuledField = keyof ResponseCreateParams | 'client_metadata'

const isFalse = (value: unknown) => value === false

/** Fields that are not listed are forwarded unchanged: a provider that does not know one names it in its 400. */
export const RESPONSE_FIELDS = {
  model: { treatment: 'translated', reason: 'Sent unchanged.' },
  input: {
    treatment: 'translated',
    reason:
      'Becomes messages; tool calls and their outputs become tool calls and tool messages, followed by a user message with their images; references to items that the proxy keeps become those. Items of hosted tools and compacted items are refused.',
  },
  instructions: { treatment: 'translated', reason: 'Becomes the first system message.' },
  stream: { treatment: 'translated', reason: 'Chunks become events.' },
  stream_options: { treatment: 'dropped', reason: 'Usage is always reported, and nothing is padded.' },
  max_output_tokens: { treatment: 'translated', reason: 'Becomes `max_completion_tokens`.' },
  temperature: { treatment: 'translated', reason: 'Sent unchanged.' },
  top_p: { treatment: 'translated', reason: 'Sent unchanged.' },
  top_logprobs: { treatment: 'translated', reason: 'Sent with `logprobs`.' },
  include: {
    treatment: 'translated',
    reason:
      '`message.output_text.logprobs` becomes `logprobs`, and `reasoning.encrypted_content` returns the signatures of reasoning; other values concern hosted tools.',
  },
  tools: {
    treatment: 'translated',
    reason:
      'Functions stay functions, custom tools become functions with one text parameter, and tools of a namespace get its name as a prefix; hosted tools and MCP are left out where the model may choose, else refused.',
  },
  tool_choice: { treatment: 'translated', reason: 'Modes, functions, custom tools and `allowed_tools` become chat’s.' },
  parallel_tool_calls: { treatment: 'translated', reason: 'Sent unchanged when there are tools.' },
  max_tool_calls: { treatment: 'repeated', reason: 'It limits only hosted tools.' },
  text: { treatment: 'translated', reason: 'Becomes `response_format` and `verbosity`.' },
  reasoning: {
    treatment: 'translated',
    reason: 'Its `effort` becomes `reasoning_effort`; reasoning that a provider returns becomes the summary.',
  },
  client_metadata: { treatment: 'dropped', reason: 'It identifies the client’s session to OpenAI.' },
  metadata: { treatment: 'repeated', reason: 'Providers accept it only for answers that they store.' },
  user: { treatment: 'translated', reason: 'Sent unchanged.' },
  safety_identifier: { treatment: 'translated', reason: 'Sent unchanged.' },
  prompt_cache_key: { treatment: 'translated', reason: 'Sent unchanged.' },
  prompt_cache_retention: { treatment: 'translated', reason: 'Sent unchanged.' },
  prompt_cache_options: { treatment: 'translated', reason: 'Sent unchanged.' },
  service_tier: { treatment: 'translated', reason: 'Sent unchanged.' },
  store: {
    treatment: 'repeated',
    reason: 'Unless it is false, the proxy keeps the response for a week, for this key.',
  },
  truncation: {
    treatment: 'repeated',
    reason: 'A conversation that is too long is an error; nothing is removed from it.',
  },
  context_management: {
    treatment: 'dropped',
    reason: 'A conversation that is too long is an error; nothing is removed from it.',
  },
  image: { treatment: 'dropped', reason: 'It controls how OpenAI handles images in long conversations.' },
  access_programs: { treatment: 'dropped', reason: 'They exist at OpenAI only.' },
  previous_response_id: {
    treatment: 'refused',
    reason:
      'The conversation that it names is sent along if the proxy keeps it: for a week, for the key that asked. No other provider has responses of OpenAI’s.',
    accepts: isOwnResponseId,
  },
  conversation: {
    treatment: 'refused',
    reason: 'Other providers have no stored conversations; send the whole conversation.',
  },
  background: {
    treatment: 'refused',
    reason: 'Answers are only returned directly, not fetched later.',
    accepts: isFalse,
  },
  prompt: { treatment: 'refused', reason: 'Other providers have no stored prompts; send the prompt’s text.' },
  moderation: { treatment: 'refused', reason: 'The proxy does not moderate requests.' },
} satisfies Record<RuledField, FieldRule> as Record<RuledField, FieldRule>

/** Returns the fields without a rule. Throws a 400 that names a refused field. */
export function takeUnknownFields(body: JsonObject): JsonObject {
  return takeUnruled(body, RESPONSE_FIELDS, (field, { reason }) => notTranslated(field, reason))
}

/** A 400 for what only a provider with a Responses API can do. */
export function notTranslated(param: string, reason: string): ProxyError {
  return invalidRequest(`${param} works only with models whose provider has a Responses API: ${reason}`, param)
}
