/** How each field of a chat request is translated for Anthropic: one table for the code and for docs/request-fields.md. */
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { FieldRule } from '../../formats/field-rule.ts'

/** OpenAI's top-level fields, and `top_k`, which clients of Claude models expect beside `top_p`. */
type TopField = keyof ChatCompletionCreateParams | 'top_k'

type InnerField =
  | 'messages[].name'
  | 'messages[].audio'
  | 'messages[].thinking_blocks'
  | 'messages[].content[].input_audio'
  | 'messages[].content[].image_url.detail'
  | 'messages[].content[].file'
  | 'messages[].content[].cache_control'
  | 'messages[].content[].prompt_cache_breakpoint'
  | 'tools[].custom'
  | 'tools[].function.strict'
  | 'tools[].cache_control'

export type RuledField = TopField | InnerField

const isZero = (value: unknown) => value === 0
const isFalse = (value: unknown) => value === false

/** A top-level field that is not listed is forwarded unchanged: Anthropic accepts its own, and names any other in its 400. */
export const FIELD_RULES = {
  model: { treatment: 'translated', reason: 'Sent unchanged.' },
  messages: {
    treatment: 'translated',
    reason:
      'System and developer messages become `system`, wherever they stand; consecutive messages of one role become one turn; tool results open the user turn that follows their calls; a user turn is added where the assistant has the first turn or there are only instructions; arguments of earlier calls that are not a JSON object are passed as text.',
  },
  stream: { treatment: 'translated', reason: 'Anthropic’s events become chunks.' },
  stream_options: { treatment: 'dropped', reason: 'Anthropic always reports usage, and pads nothing.' },
  max_completion_tokens: {
    treatment: 'translated',
    reason: 'Becomes `max_tokens`, which Anthropic requires; the default is the model’s output limit.',
  },
  max_tokens: { treatment: 'translated', reason: 'As `max_completion_tokens`, where that is not given.' },
  stop: {
    treatment: 'translated',
    reason:
      'Becomes `stop_sequences`; Anthropic does not accept sequences of only white space, so the proxy itself ends the answer at those.',
  },
  temperature: {
    treatment: 'translated',
    reason:
      '1 is the default and is not sent; 0 to 1 is sent under the API version that still has the field, and refused by models with fixed sampling; above 1 is refused, as Anthropic’s range ends there.',
  },
  top_p: {
    treatment: 'translated',
    reason:
      'Like `temperature`; refused together with a temperature other than 1, as Anthropic accepts only one of the two.',
  },
  top_k: { treatment: 'translated', reason: 'Sent under the API version that still has the field.' },
  tools: {
    treatment: 'translated',
    reason:
      'Functions become tools, with their `parameters` as `input_schema`; Anthropic’s own tools are sent unchanged.',
  },
  tool_choice: {
    treatment: 'translated',
    reason:
      '`required` becomes `any`, a named function becomes `tool`, and `allowed_tools` a shorter list of tools; refused for models that cannot be forced to call a tool.',
  },
  parallel_tool_calls: { treatment: 'translated', reason: 'False becomes `disable_parallel_tool_use`.' },
  functions: { treatment: 'translated', reason: 'Become tools; the answer has a `function_call`.' },
  function_call: { treatment: 'translated', reason: 'Becomes `tool_choice`.' },
  response_format: {
    treatment: 'translated',
    reason:
      '`json_schema` becomes `output_config.format`, and keywords that Anthropic cannot enforce are moved into the description; `json_object` becomes an instruction, and a code fence around the answer is removed.',
  },
  reasoning_effort: {
    treatment: 'translated',
    reason:
      'Becomes adaptive thinking and `output_config.effort`, or a thinking budget on models before 4.6, at the nearest level the model has; `none` is refused for models that always think.',
  },
  user: {
    treatment: 'translated',
    reason:
      'Becomes `metadata.user_id`, where `safety_identifier` is not given; an e-mail address or phone number is sent as its SHA-256.',
  },
  safety_identifier: { treatment: 'translated', reason: 'Becomes `metadata.user_id`, like `user`.' },
  metadata: {
    treatment: 'translated',
    reason: 'Its `user_id` is sent where neither `safety_identifier` nor `user` is given; other tags are dropped.',
  },
  service_tier: {
    treatment: 'translated',
    reason: '`default` becomes `standard_only`; tiers that Anthropic does not have are refused.',
  },
  seed: { treatment: 'dropped', reason: 'Anthropic has no seed, and OpenAI’s is only best effort.' },
  prediction: { treatment: 'dropped', reason: 'It makes an answer faster, but does not change it.' },
  store: { treatment: 'dropped', reason: 'It asks OpenAI to keep a copy, which does not change the answer.' },
  prompt_cache_key: { treatment: 'dropped', reason: 'Anthropic finds a cached prompt by its content.' },
  prompt_cache_options: {
    treatment: 'dropped',
    reason: 'Anthropic caches at breakpoints in the prompt (`cache_control`).',
  },
  prompt_cache_retention: { treatment: 'dropped', reason: 'At Anthropic, each breakpoint has its own lifetime.' },
  n: { treatment: 'refused', reason: 'Anthropic returns one answer per request.', accepts: value => value === 1 },
  logprobs: { treatment: 'refused', reason: 'Anthropic reports no log probabilities.', accepts: isFalse },
  top_logprobs: { treatment: 'refused', reason: 'Anthropic reports no log probabilities.', accepts: isZero },
  logit_bias: {
    treatment: 'refused',
    reason: 'Anthropic has no bias for single tokens.',
    accepts: value => typeof value === 'object' && Object.keys(value ?? {}).length === 0,
  },
  presence_penalty: { treatment: 'refused', reason: 'Anthropic has no penalties.', accepts: isZero },
  frequency_penalty: { treatment: 'refused', reason: 'Anthropic has no penalties.', accepts: isZero },
  modalities: {
    treatment: 'refused',
    reason: 'Claude models answer in text.',
    accepts: value => Array.isArray(value) && value.every(modality => modality === 'text'),
  },
  audio: { treatment: 'refused', reason: 'Claude models answer in text.' },
  verbosity: {
    treatment: 'refused',
    reason: 'Anthropic has no such setting; ask for it in the prompt.',
    accepts: value => value === 'medium',
  },
  moderation: { treatment: 'refused', reason: 'Anthropic moderates in its own way.' },
  web_search_options: { treatment: 'refused', reason: 'Anthropic’s web search is a tool, with another format.' },
  'messages[].name': { treatment: 'dropped', reason: 'Anthropic’s turns have no names.' },
  'messages[].audio': { treatment: 'refused', reason: 'Claude models cannot refer to spoken answers.' },
  'messages[].thinking_blocks': {
    treatment: 'translated',
    reason:
      'Sent back unchanged while the tool calls they led to are being answered, as Anthropic requires; those of finished turns are dropped.',
  },
  'messages[].content[].input_audio': { treatment: 'refused', reason: 'Claude models do not accept audio.' },
  'messages[].content[].image_url.detail': {
    treatment: 'dropped',
    reason: 'Anthropic scales each image by its own rule.',
  },
  'messages[].content[].file': {
    treatment: 'translated',
    reason:
      'PDF and text files become documents, and a `file_id` refers to Anthropic’s Files API; other types are refused.',
  },
  'messages[].content[].cache_control': {
    treatment: 'translated',
    reason: 'Kept, on messages, parts and tools.',
  },
  'messages[].content[].prompt_cache_breakpoint': {
    treatment: 'translated',
    reason: 'Becomes `cache_control`, with a lifetime of one hour where it names one.',
  },
  'tools[].custom': { treatment: 'refused', reason: 'Anthropic’s tools accept only JSON.' },
  'tools[].function.strict': {
    treatment: 'translated',
    reason: 'Kept; the parameters are adapted like the schema of a `response_format`.',
  },
  'tools[].cache_control': { treatment: 'translated', reason: 'Kept.' },
} satisfies Record<RuledField, FieldRule> as Record<RuledField, FieldRule>
