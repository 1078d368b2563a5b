/** How each field of a Responses request is translated to chat completions. Code and documentation both use this table. */
import type { ResponseCreateParams } from 'openai/resources/responses/responses'

export interface FieldRule {
  /** `told` fields have no effect; the response repeats them. */
  treatment: 'translated' | 'told' | 'dropped' | 'refused'
  /** One sentence: what it becomes, or why not. */
  reason: string
  /** For a refused field: values that have no effect and so are accepted. Null always is. */
  accepts?: (value: unknown) => boolean
}

/** Codex sends `client_metadata`, which the SDK's type does not have. */
export type RuledField = keyof ResponseCreateParams | 'client_metadata'

const isFalse = (value: unknown) => value === false

/** Fields that are not listed are forwarded unchanged: a provider that does not know one names it in its 400. */
export const FIELD_RULES = {
  model: { treatment: 'translated', reason: 'Sent as it is.' },
  input: {
    treatment: 'translated',
    reason:
      'Becomes messages; calls and what they came to become tool calls and tool messages, with images behind them in a user message. Items of hosted tools, references to stored items and compacted ones are refused.',
  },
  instructions: { treatment: 'translated', reason: 'Becomes the first system message.' },
  stream: { treatment: 'translated', reason: 'Chunks become events.' },
  stream_options: { treatment: 'dropped', reason: 'Usage is always told, and nothing is padded.' },
  max_output_tokens: { treatment: 'translated', reason: 'Becomes `max_completion_tokens`.' },
  temperature: { treatment: 'translated', reason: 'Sent as it is.' },
  top_p: { treatment: 'translated', reason: 'Sent as it is.' },
  top_logprobs: { treatment: 'translated', reason: 'Sent with `logprobs`.' },
  include: {
    treatment: 'translated',
    reason:
      '`message.output_text.logprobs` asks for log probabilities, `reasoning.encrypted_content` for what proves a thought the model’s own; others are of hosted tools.',
  },
  tools: {
    treatment: 'translated',
    reason:
      'Functions stay functions, custom tools become functions of one text, those of a namespace bear it in their name; hosted tools and MCP are refused, but for a search of what OpenAI has stored, which is left out.',
  },
  tool_choice: { treatment: 'translated', reason: 'Words, functions, custom tools and `allowed_tools` alike.' },
  parallel_tool_calls: { treatment: 'translated', reason: 'Sent as it is beside tools.' },
  max_tool_calls: { treatment: 'told', reason: 'It limits hosted tools alone.' },
  text: { treatment: 'translated', reason: 'Becomes `response_format` and `verbosity`.' },
  reasoning: {
    treatment: 'translated',
    reason: 'Its `effort` becomes `reasoning_effort`; thoughts are told as a summary wherever a provider tells them.',
  },
  client_metadata: { treatment: 'dropped', reason: 'It tells OpenAI which of a client’s sessions asks.' },
  metadata: { treatment: 'told', reason: 'Providers take it for answers they store alone.' },
  user: { treatment: 'translated', reason: 'Sent as it is.' },
  safety_identifier: { treatment: 'translated', reason: 'Sent as it is.' },
  prompt_cache_key: { treatment: 'translated', reason: 'Sent as it is.' },
  prompt_cache_retention: { treatment: 'translated', reason: 'Sent as it is.' },
  prompt_cache_options: { treatment: 'translated', reason: 'Sent as it is.' },
  service_tier: { treatment: 'translated', reason: 'Sent as it is.' },
  store: { treatment: 'dropped', reason: 'Nothing is stored under the answer’s id, and the answer says so.' },
  truncation: {
    treatment: 'told',
    reason: 'Nothing is left out of a conversation that is too long: that is an error.',
  },
  context_management: { treatment: 'dropped', reason: 'A conversation that is too long is an error instead.' },
  image: { treatment: 'dropped', reason: 'It sets how OpenAI keeps images in long conversations.' },
  access_programs: { treatment: 'dropped', reason: 'They are OpenAI’s own.' },
  previous_response_id: { treatment: 'refused', reason: 'No answer is stored there; send the whole conversation.' },
  conversation: { treatment: 'refused', reason: 'No conversation is stored there; send it whole.' },
  background: { treatment: 'refused', reason: 'Answers are given at once alone.', accepts: isFalse },
  prompt: { treatment: 'refused', reason: 'No prompt is stored there; send its text.' },
  moderation: { treatment: 'refused', reason: 'Nothing is moderated on the way.' },
} satisfies Record<RuledField, FieldRule> as Record<RuledField, FieldRule>
