/** The rules by which each field of a chat request is translated for Anthropic, and their check. The code and docs/request-fields.md use the same table. */
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import { invalidRequestError, type ProxyError } from '../../errors/errors.ts'
import { applyFieldRules, createRuleWriter, type FieldRule } from '../../formats/field-rule.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { MESSAGE_FIELD_RULES } from '../../formats/messages/message-fields.ts'
import { redactFieldName } from '../../formats/stored-object-references.ts'

/** OpenAI's top-level fields, `top_k`, which clients of Claude models expect beside `top_p`, and `usage`, which OpenRouter's clients send. */
type TopField = keyof ChatCompletionCreateParams | 'top_k' | 'usage'

const isZero = (value: unknown) => value === 0
const isFalse = (value: unknown) => value === false

const rules = createRuleWriter<TopField | `${'messages' | 'tools'}[].${string}`>()

/** A top-level field that is not listed is forwarded unchanged if Anthropic has it, and otherwise rejected by name. */
export const FIELD_RULES = {
  ...rules('translated', {
    model: 'Sent unchanged.',
    messages:
      'System and developer messages become `system`, wherever they stand; consecutive messages of one role become one turn; tool results open the user turn that follows their calls; a user turn is added where the assistant has the first turn or there are only instructions; arguments of earlier calls that are not a JSON object are passed as text.',
    stream: 'Anthropic’s events become chunks.',
    max_completion_tokens: 'Becomes `max_tokens`, which Anthropic requires; the default is the model’s output limit.',
    max_tokens: 'As `max_completion_tokens`, where that is not given.',
    stop: 'Becomes `stop_sequences`; Anthropic does not accept sequences of only white space, so the proxy itself ends the response at those.',
    temperature:
      '1 is the default and is not sent; 0 to 1 is sent under the API version that still has the field, and rejected by models with fixed sampling; above 1 is rejected, as Anthropic’s range ends there.',
    top_p:
      'Like `temperature`; rejected together with a temperature other than 1, as Anthropic accepts only one of the two.',
    top_k: 'Sent under the API version that still has the field.',
    tools:
      'Functions become tools, with their `parameters` as `input_schema`; Anthropic’s own tools are sent unchanged. Tool names that Anthropic does not accept are replaced, and schemas that are not a single object are wrapped in one. Both are undone in the response.',
    tool_choice:
      '`required` becomes `any`, a named function becomes `tool`, and `allowed_tools` a shorter list of tools; rejected for models that cannot be forced to call a tool.',
    parallel_tool_calls: 'False becomes `disable_parallel_tool_use`.',
    functions: 'Become tools; the response has a `function_call`.',
    function_call: 'Becomes `tool_choice`.',
    response_format:
      '`json_schema` becomes `output_config.format`, and keywords that Anthropic cannot enforce are moved into the description; `json_object` becomes an instruction, and a code fence around the response is removed.',
    reasoning_effort:
      'Becomes adaptive thinking and `output_config.effort`, or a thinking budget on models before 4.6, at the nearest level the model has; `none` is rejected for models that always think.',
    user: 'Becomes `metadata.user_id`, where `safety_identifier` is not given; an e-mail address or phone number is sent as its SHA-256.',
    safety_identifier: 'Becomes `metadata.user_id`, like `user`.',
    metadata: 'Its `user_id` is sent where neither `safety_identifier` nor `user` is given; other tags are omitted.',
    service_tier: '`default` becomes `standard_only`; tiers that Anthropic does not have are rejected.',
    'messages[].thinking_blocks':
      'Sent back unchanged while the tool calls they led to are being answered, as Anthropic requires; those of finished turns are omitted.',
    'messages[].content[].file':
      'PDF and text files become documents, and a `file_id` refers to Anthropic’s Files API; other types are rejected.',
    'messages[].content[].cache_control': 'Kept, on messages, parts and tools.',
    'messages[].content[].prompt_cache_breakpoint':
      'Becomes `cache_control`, with a lifetime of one hour where it names one.',
    'tools[].function.strict': 'Sent unchanged; the parameters are adapted like the schema of a `response_format`.',
    'tools[].cache_control': 'Sent unchanged.',
  }),
  ...rules('omitted', {
    stream_options: 'Anthropic always reports usage, and does not pad chunks (`include_obfuscation`).',
    usage: 'Anthropic always reports usage, and does not pad chunks (`include_obfuscation`).',
    seed: 'Anthropic has no seed, and OpenAI’s is only best effort.',
    prediction: 'It makes a response faster, but does not change it.',
    store: 'It asks OpenAI to keep a copy, which does not change the response.',
    prompt_cache_key: 'Anthropic finds a cached prompt by its content.',
    prompt_cache_options: 'Anthropic caches at breakpoints in the prompt (`cache_control`).',
    prompt_cache_retention: 'At Anthropic, each breakpoint has its own lifetime.',
    'messages[].name': 'Anthropic’s turns have no names.',
    'messages[].content[].image_url.detail': 'Anthropic scales each image by its own rule.',
  }),
  ...rules('rejected', {
    n: ['Anthropic returns one response per request.', value => value === 1],
    logprobs: ['Anthropic reports no log probabilities.', isFalse],
    top_logprobs: ['Anthropic reports no log probabilities.', isZero],
    logit_bias: [
      'Anthropic has no bias for single tokens.',
      value => typeof value === 'object' && Object.keys(value ?? {}).length === 0,
    ],
    presence_penalty: ['Anthropic has no penalties.', isZero],
    frequency_penalty: ['Anthropic has no penalties.', isZero],
    modalities: [
      'Claude models respond in text.',
      value => Array.isArray(value) && value.every(modality => modality === 'text'),
    ],
    audio: 'Claude models respond in text.',
    verbosity: ['Anthropic has no such setting; ask for it in the prompt.', value => value === 'medium'],
    moderation: 'Anthropic moderates in its own way.',
    web_search_options: 'Anthropic’s web search is a tool, with another format.',
    'messages[].audio': 'Claude models cannot refer to earlier audio output.',
    'messages[].content[].input_audio': 'Claude models do not accept audio.',
    'tools[].custom': 'Anthropic’s tools accept only JSON.',
  }),
} satisfies Record<TopField, FieldRule>

export type ChatRequestField = keyof typeof FIELD_RULES

/** Returns the fields that only Anthropic has. Throws a 400 that names a rejected field, or a field that Anthropic does not have. */
export function pickAnthropicFields(body: JsonObject): JsonObject {
  const anthropicFields = applyFieldRules(body, FIELD_RULES, field =>
    unsupportedFieldError(field as ChatRequestField, field),
  )
  const unknown = Object.keys(anthropicFields).find(field => !Object.hasOwn(MESSAGE_FIELD_RULES, field))
  if (unknown === undefined) return anthropicFields
  const param = redactFieldName(unknown)
  throw invalidRequestError(
    `${param} cannot be sent to Anthropic: neither chat completions nor Anthropic’s Messages have such a field. Omit it, or send the request to /v1/messages in Anthropic’s format.`,
    param,
  )
}

/** Returns the 400 for a rejected field. `param` is its position in the request. */
export function unsupportedFieldError(field: ChatRequestField, param: string): ProxyError {
  return invalidRequestError(`${param} cannot be sent to Anthropic. ${FIELD_RULES[field].reason}`, param)
}
