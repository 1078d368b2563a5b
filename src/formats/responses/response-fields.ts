/** Lists how each field of a Responses request is translated to chat completions. Code and documentation both use this table. */

import type { ResponseCreateParams as BetaParams } from 'openai/resources/beta/responses/responses'
import type { ResponseCreateParams } from 'openai/resources/responses/responses'
import { invalidRequestError, type ProxyError } from '../../errors/errors.ts'
import { applyFieldRules, createRuleWriter, type FieldRule } from '../field-rule.ts'
import type { JsonObject } from '../json/canonical.ts'

/** The fields of a request. Codex sends `client_metadata`, which the SDK's type lacks. */
export type ResponsesRequestField = keyof ResponseCreateParams | keyof BetaParams | 'client_metadata'

const isFalse = (value: unknown) => value === false

const rules = createRuleWriter<ResponsesRequestField>()

/** Fields that are not listed are forwarded unchanged. A provider that does not know one names it in its 400. */
export const RESPONSE_FIELD_RULES: Record<ResponsesRequestField, FieldRule> = {
  ...rules('translated', {
    model: 'Sent unchanged.',
    input:
      'Becomes messages; tool calls and their outputs become tool calls and tool messages, followed by a user message with their images; references to items that the proxy stores are replaced by the items. Calls and outputs of other tools, including hosted ones, become those of a function with the tool’s name, or text of the assistant; items that only another provider can read, such as compacted ones, are omitted and listed in `X-Proxy-Omitted`.',
    instructions: 'Becomes the first system message.',
    stream: 'Chunks become events.',
    max_output_tokens: 'Becomes `max_completion_tokens`.',
    temperature: 'Sent unchanged.',
    top_p: 'Sent unchanged.',
    top_logprobs: 'Sent with `logprobs`.',
    include:
      '`message.output_text.logprobs` becomes `logprobs`; `reasoning.encrypted_content` always contains the provider extras of a message; other values concern hosted tools.',
    tools:
      'Functions stay functions, custom tools become functions with one text parameter, and tools of a namespace get its name as a prefix; hosted tools and MCP are omitted if the model may choose, else rejected.',
    tool_choice: 'Modes, functions, custom tools and `allowed_tools` become chat’s.',
    parallel_tool_calls: 'Sent unchanged when there are tools.',
    text: 'Becomes `response_format` and `verbosity`.',
    reasoning: 'Its `effort` becomes `reasoning_effort`; reasoning that a provider returns becomes the summary.',
    user: 'Sent unchanged.',
    safety_identifier: 'Sent unchanged.',
    prompt_cache_key: 'Sent unchanged.',
    prompt_cache_retention: 'Sent unchanged.',
    prompt_cache_options: 'Sent unchanged.',
    service_tier: 'Sent unchanged.',
  }),
  ...rules('echoed', {
    max_tool_calls: 'It limits only hosted tools.',
    metadata: 'Providers accept it only for responses that they store.',
    store: 'Unless it is false, the proxy stores the response for a week, for this key.',
    truncation: 'A conversation that is too long is an error; nothing is removed from it.',
  }),
  ...rules('omitted', {
    stream_options: 'Usage is always reported, and nothing is padded.',
    client_metadata: 'It identifies the client’s session to OpenAI.',
    context_management: 'A conversation that is too long is an error; nothing is removed from it.',
    image: 'It controls how OpenAI handles images in long conversations.',
    access_programs: 'They exist only at OpenAI.',
    betas: 'They enable features of OpenAI’s own service.',
  }),
  ...rules('rejected', {
    previous_response_id:
      'It works while the proxy stores the previous response (a week, for the key that created it), whose conversation is then sent. Otherwise it is rejected, because no other provider has OpenAI’s responses.',
    conversation: 'Other providers have no stored conversations; send the whole conversation.',
    background: ['Responses are returned directly and cannot be retrieved later.', isFalse],
    prompt: 'Other providers have no stored prompts; send the prompt’s text.',
    moderation: 'The proxy does not moderate requests.',
    multi_agent: 'Agents run only at OpenAI.',
  }),
}

/** Returns the fields without a rule. Throws a 400 that names a rejected field. */
export function pickUnknownFields(body: JsonObject): JsonObject {
  return applyFieldRules(body, RESPONSE_FIELD_RULES, (field, { reason }) => createUntranslatableError(field, reason))
}

/** Creates the 400 for a feature that only providers with a Responses API have. */
export function createUntranslatableError(param: string, reason: string): ProxyError {
  return invalidRequestError(`${param} works only with models whose provider has a Responses API: ${reason}`, param)
}
