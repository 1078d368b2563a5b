/** How each field of a Messages request is translated to chat completions. Code and documentation both use this table. */
import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages'

export interface FieldRule {
  treatment: 'translated' | 'dropped' | 'refused'
  /** One sentence: what it becomes, or why not. */
  reason: string
}

/** Fields that clients send, but that the SDK's type of the request does not have. */
type UntypedField = 'temperature' | 'top_p' | 'top_k' | 'context_management' | 'mcp_servers' | 'betas' | 'output_format'
export type RuledField = keyof MessageCreateParams | UntypedField

/** Fields that are not listed are forwarded unchanged: a provider that does not know one names it in its 400. */
export const FIELD_RULES = {
  model: { treatment: 'translated', reason: 'Sent as it is.' },
  messages: {
    treatment: 'translated',
    reason:
      'Tool uses become tool calls, tool results tool messages, with images behind them in a user message; blocks of tools that Anthropic runs are refused.',
  },
  system: { treatment: 'translated', reason: 'Becomes the first system message.' },
  max_tokens: {
    treatment: 'translated',
    reason: 'Becomes `max_completion_tokens`, at most what the model can write.',
  },
  stop_sequences: { treatment: 'translated', reason: 'Become `stop`; which of them ended an answer is not told.' },
  stream: { treatment: 'translated', reason: 'Chunks become events.' },
  temperature: { treatment: 'translated', reason: 'Sent as it is.' },
  top_p: { treatment: 'translated', reason: 'Sent as it is.' },
  top_k: { treatment: 'translated', reason: 'Sent as it is.' },
  tools: { treatment: 'translated', reason: 'Become functions; tools that Anthropic defines or runs are refused.' },
  tool_choice: { treatment: 'translated', reason: '`any` becomes `required`, a named tool a named function.' },
  thinking: {
    treatment: 'translated',
    reason: 'A budget becomes the nearest `reasoning_effort` of models that reason, and is left out for others.',
  },
  output_config: { treatment: 'translated', reason: 'Becomes `reasoning_effort` and `response_format`.' },
  output_format: { treatment: 'translated', reason: 'The older name of `output_config.format`.' },
  metadata: { treatment: 'translated', reason: 'Its `user_id` becomes `user`, hashed where it is long.' },
  service_tier: { treatment: 'translated', reason: '`standard_only` becomes `default`.' },
  cache_control: { treatment: 'translated', reason: 'Kept for providers that know marks, as those on blocks are.' },
  betas: { treatment: 'dropped', reason: 'They switch on what Anthropic itself does.' },
  context_management: { treatment: 'dropped', reason: 'Nothing of a conversation is cleared on the way.' },
  diagnostics: { treatment: 'dropped', reason: 'They tell of Anthropic’s own cache.' },
  speed: { treatment: 'dropped', reason: 'It is Anthropic’s own setting.' },
  user_profile_id: { treatment: 'dropped', reason: 'It names an account at Anthropic.' },
  workspace_id: { treatment: 'dropped', reason: 'It names an account at Anthropic.' },
  container: { treatment: 'refused', reason: 'Containers are Anthropic’s own.' },
  mcp_servers: { treatment: 'refused', reason: 'Anthropic calls these servers itself.' },
  inference_geo: { treatment: 'refused', reason: 'Nobody else promises where an answer is made.' },
} satisfies Record<RuledField, FieldRule> as Record<RuledField, FieldRule>
