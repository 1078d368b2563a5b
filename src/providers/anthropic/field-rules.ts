/** How each field of a chat request is translated for Anthropic: one table for the code and for docs/request-fields.md. */
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'

type Treatment = 'translated' | 'dropped' | 'refused'

export interface FieldRule {
  treatment: Treatment
  /** One sentence: what it becomes, or why it is refused. */
  reason: string
  /** For a refused field: values with no effect, which are accepted. Null always is one. */
  accepts?: (value: unknown) => boolean
}

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
  model: { treatment: 'translated', reason: 'Sent as it is.' },
  messages: {
    treatment: 'translated',
    reason:
      'System and developer messages become `system`, wherever they stand; consecutive messages of one side become one turn; tool results open the user turn that follows their calls; a user turn is put before a conversation that the assistant opens, and after instructions alone; arguments of old calls that are no JSON object are passed as their text.',
  },
  stream: { treatment: 'translated', reason: 'Anthropic’s events become chunks.' },
  stream_options: { treatment: 'dropped', reason: 'Anthropic always reports usage, and pads nothing.' },
  max_completion_tokens: {
    treatment: 'translated',
    reason: 'Becomes `max_tokens`, which Anthropic demands: without it, the model’s output limit.',
  },
  max_tokens: { treatment: 'translated', reason: 'The same, where `max_completion_tokens` is not given.' },
  stop: {
    treatment: 'translated',
    reason:
      'Becomes `stop_sequences`; at one of white space alone, which Anthropic does not take, the answer is ended here.',
  },
  temperature: {
    treatment: 'translated',
    reason:
      '1 is the default and not sent; 0 to 1 is sent under the API version that still has it, and models that sample in one way only refuse it; above 1 is refused, as Anthropic’s range ends there.',
  },
  top_p: {
    treatment: 'translated',
    reason: 'Like `temperature`; refused beside another temperature, as Anthropic takes one of the two.',
  },
  top_k: { treatment: 'translated', reason: 'Sent under the API version that still has it.' },
  tools: {
    treatment: 'translated',
    reason: 'Functions become tools, their `parameters` the `input_schema`; Anthropic’s own tools pass as they are.',
  },
  tool_choice: {
    treatment: 'translated',
    reason:
      '`required` becomes `any`, a named function `tool`, `allowed_tools` a shorter list of tools; models that cannot be made to call one refuse it.',
  },
  parallel_tool_calls: { treatment: 'translated', reason: 'False becomes `disable_parallel_tool_use`.' },
  functions: { treatment: 'translated', reason: 'Become tools; the answer has a `function_call` again.' },
  function_call: { treatment: 'translated', reason: 'Becomes `tool_choice`.' },
  response_format: {
    treatment: 'translated',
    reason:
      '`json_schema` becomes `output_config.format`, where keywords that Anthropic cannot enforce turn into words of the description; `json_object` becomes an instruction, and a code fence is taken off the answer.',
  },
  reasoning_effort: {
    treatment: 'translated',
    reason:
      'Becomes adaptive thinking and `output_config.effort`, or a thinking budget on models before 4.6, at the nearest level the model has; `none` is refused where a model always thinks.',
  },
  user: {
    treatment: 'translated',
    reason:
      'Becomes `metadata.user_id`, where `safety_identifier` is not given; an e-mail address or phone number as its SHA-256.',
  },
  safety_identifier: { treatment: 'translated', reason: 'Becomes `metadata.user_id`, like `user`.' },
  metadata: {
    treatment: 'translated',
    reason: 'Its `user_id` becomes Anthropic’s, where neither of the above is given; other tags are dropped.',
  },
  service_tier: {
    treatment: 'translated',
    reason: '`default` becomes `standard_only`; tiers Anthropic does not have are refused.',
  },
  seed: { treatment: 'dropped', reason: 'Anthropic has none, and OpenAI’s is a best effort only.' },
  prediction: { treatment: 'dropped', reason: 'It speeds an answer up, and does not change it.' },
  store: { treatment: 'dropped', reason: 'It asks OpenAI to keep a copy, which does not change the answer.' },
  prompt_cache_key: { treatment: 'dropped', reason: 'Anthropic finds a cached prompt by its content.' },
  prompt_cache_options: { treatment: 'dropped', reason: 'Anthropic caches where a part is marked.' },
  prompt_cache_retention: { treatment: 'dropped', reason: 'Anthropic’s lifetime belongs to each mark.' },
  n: { treatment: 'refused', reason: 'Anthropic gives one answer a request.', accepts: value => value === 1 },
  logprobs: { treatment: 'refused', reason: 'Anthropic reports no log probabilities.', accepts: isFalse },
  top_logprobs: { treatment: 'refused', reason: 'Anthropic reports no log probabilities.', accepts: isZero },
  logit_bias: {
    treatment: 'refused',
    reason: 'Anthropic has no bias of single tokens.',
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
    reason: 'Anthropic has no such setting; say so in the prompt.',
    accepts: value => value === 'medium',
  },
  moderation: { treatment: 'refused', reason: 'Anthropic moderates in its own way.' },
  web_search_options: { treatment: 'refused', reason: 'Anthropic’s web search is a tool with another form.' },
  'messages[].name': { treatment: 'dropped', reason: 'Anthropic’s turns have no names.' },
  'messages[].audio': { treatment: 'refused', reason: 'Claude models cannot refer to spoken answers.' },
  'messages[].thinking_blocks': {
    treatment: 'translated',
    reason:
      'Sent back as they came while the calls they led to are being answered, which Anthropic demands; those of finished turns are left out.',
  },
  'messages[].content[].input_audio': { treatment: 'refused', reason: 'Claude models do not hear.' },
  'messages[].content[].image_url.detail': {
    treatment: 'dropped',
    reason: 'Anthropic scales each image by its own rule.',
  },
  'messages[].content[].file': {
    treatment: 'translated',
    reason: 'PDF and text become documents, a `file_id` one of Anthropic’s Files API; other types are refused.',
  },
  'messages[].content[].cache_control': {
    treatment: 'translated',
    reason: 'Kept, on messages, parts and tools.',
  },
  'messages[].content[].prompt_cache_breakpoint': {
    treatment: 'translated',
    reason: 'Becomes `cache_control`, for an hour where it names a lifetime.',
  },
  'tools[].custom': { treatment: 'refused', reason: 'Anthropic’s tools take JSON alone.' },
  'tools[].function.strict': {
    treatment: 'translated',
    reason: 'Kept, with the parameters fitted like the schema of a `response_format`.',
  },
  'tools[].cache_control': { treatment: 'translated', reason: 'Kept.' },
} satisfies Record<RuledField, FieldRule> as Record<RuledField, FieldRule>
