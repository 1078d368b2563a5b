/** Lists how each field of a Messages request is translated to chat completions or Responses. Code and documentation both use this table. */

import type { MessageCreateParams as BetaParams } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages'
import { addErrorDetails, invalidRequestError, type ProxyError } from '../../errors/errors.ts'
import { applyFieldRules, createRuleWriter, type FieldRule } from '../field-rule.ts'
import type { JsonObject } from '../json/canonical.ts'

/** Fields that clients send although the SDK's request types lack them. */
type UntypedField = 'temperature' | 'top_p' | 'top_k' | 'output_format'
export type MessagesRequestField = keyof MessageCreateParams | keyof BetaParams | UntypedField

const rules = createRuleWriter<MessagesRequestField>()

/** Fields that are not listed are forwarded unchanged. A provider that does not know one names it in its 400. */
export const MESSAGE_FIELD_RULES: Record<MessagesRequestField, FieldRule> = {
  ...rules('translated', {
    model: 'Sent unchanged.',
    messages:
      'Tool uses become tool calls, and tool results become tool messages, followed by a user message with their images, which stay in the result at Responses. The encrypted reasoning in a signature becomes a reasoning item at Responses. Blocks of tools that Anthropic runs are rejected.',
    system: 'Becomes the first system message.',
    max_tokens:
      'Becomes `max_completion_tokens`, at Responses `max_output_tokens` of at least 16, lowered to the model’s output limit.',
    stop_sequences:
      'Become `stop`; the response does not say which of them ended it. Responses has no such field: the proxy ends the text there, and what the model generates after it is charged.',
    stream: 'Chunks become events.',
    temperature: 'Sent unchanged; at Responses, the default of 1 is omitted.',
    top_p: 'Sent unchanged; at Responses, the default of 1 is omitted.',
    top_k: 'Sent unchanged.',
    tools:
      'Become functions; tools that Anthropic runs are omitted if the model may choose, and other tools that it defines are rejected.',
    tool_choice: '`any` becomes `required`, and a named tool becomes a named function.',
    thinking:
      'A budget becomes the nearest `reasoning_effort`, and is omitted for models that do not reason. At Responses, a summary of the reasoning is also requested, unless `display` is `omitted`.',
    output_config: 'Becomes `reasoning_effort` and `response_format`, at Responses `reasoning` and `text`.',
    output_format: 'The older name of `output_config.format`.',
    metadata: 'Its `user_id` becomes `user`, at Responses `safety_identifier`, as a hash if it is too long.',
    service_tier: '`standard_only` becomes `default`.',
    cache_control: 'Sent to providers that support such breakpoints, as on content blocks.',
  }),
  ...rules('omitted', {
    betas: 'They enable features of Anthropic’s own service.',
    billing_policy: 'It selects who pays at Anthropic.',
    fallback_credit_token: 'It refers to credit at Anthropic.',
    fallbacks: 'The project’s setting `fallbacks` selects other models.',
    context_management: 'The proxy never removes parts of a conversation.',
    diagnostics: 'They describe Anthropic’s prompt cache.',
    speed: 'It is a setting of Anthropic.',
    user_profile_id: 'They name an account at Anthropic.',
    workspace_id: 'They name an account at Anthropic.',
  }),
  ...rules('rejected', {
    container: 'Containers run only at Anthropic.',
    compaction: 'Only Anthropic compacts a conversation in a response; ask for a summary in a message.',
    thread: 'Only Anthropic stores a conversation for its client; send all messages.',
    mcp_servers: [
      'Anthropic calls MCP servers itself; other providers do not.',
      servers => Array.isArray(servers) && servers.length === 0,
    ],
    inference_geo: 'No other provider guarantees the region in which the model runs.',
  }),
}

const THREAD_UNSUPPORTED = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/** Returns the fields without a rule. Throws a 400 that names a rejected field. */
export function pickUnknownFields(body: JsonObject): JsonObject {
  return applyFieldRules(body, MESSAGE_FIELD_RULES, (field, { reason }) => {
    return field === 'thread' ? createThreadUnsupportedError() : createUntranslatableError(field, reason)
  })
}

/** Creates the 400 for `thread`. Anthropic's tool runner requests a thread first, and continues without one after this error. */
export function createThreadUnsupportedError(): ProxyError {
  return addErrorDetails(createUntranslatableError('thread', MESSAGE_FIELD_RULES.thread.reason), THREAD_UNSUPPORTED)
}

/** Creates the 400 for a feature that only Anthropic's API has. */
export function createUntranslatableError(param: string, reason: string): ProxyError {
  return invalidRequestError(
    `${param} works only with Claude models under an Anthropic key of the project: ${reason}`,
    param,
  )
}
