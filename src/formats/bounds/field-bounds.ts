/**
 * What each field of the vendors' APIs can do to the most that a request may cost. The compiler demands a line for each field that their
 * packages know; one that nobody knows counts as `open`.
 */
import type { BetaContextManagementConfig } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type { SpeechCreateParams } from 'openai/resources/audio/speech'
import type { TranscriptionCreateParams } from 'openai/resources/audio/transcriptions'
import type { TranslationCreateParams } from 'openai/resources/audio/translations'
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { CompletionCreateParams } from 'openai/resources/completions'
import type { EmbeddingCreateParams } from 'openai/resources/embeddings'
import type { ImageCreateVariationParams, ImageEditParams, ImageGenerateParams } from 'openai/resources/images'
import type { ModerationCreateParams } from 'openai/resources/moderations'
import type { RuledField as MessageField } from '../messages/message-fields.ts'
import type { RuledField as ResponseField } from '../responses/response-fields.ts'

/**
 * `none`: it costs nothing, or no more than its own bytes. `content`: the model reads it; what is in it decides (`text-alone.ts`).
 * `counted`: what it says is counted by `read-bounds.ts`. `open`: it stands for more than it says, so the model's whole context counts.
 * `unbounded`: nobody can say what it costs, so it is refused where that matters.
 */
export type FieldBound = 'none' | 'content' | 'counted' | 'open' | 'unbounded'

function are<const Field extends string>(bound: FieldBound, ...fields: Field[]): Record<Field, FieldBound> {
  return Object.fromEntries(fields.map(field => [field, bound])) as Record<Field, FieldBound>
}

const CHAT: Record<keyof ChatCompletionCreateParams, FieldBound> = {
  ...are('content', 'messages', 'functions'),
  ...are('counted', 'max_completion_tokens', 'max_tokens', 'n', 'prediction', 'service_tier', 'tools', 'audio'),
  ...are('counted', 'modalities', 'web_search_options'),
  ...are('none', 'model', 'frequency_penalty', 'function_call', 'logit_bias', 'logprobs', 'metadata', 'moderation'),
  ...are('none', 'parallel_tool_calls', 'presence_penalty', 'prompt_cache_key', 'prompt_cache_options', 'user'),
  ...are('none', 'prompt_cache_retention', 'reasoning_effort', 'response_format', 'safety_identifier', 'seed', 'stop'),
  ...are('none', 'store', 'stream', 'stream_options', 'temperature', 'tool_choice', 'top_logprobs', 'top_p'),
  ...are('none', 'verbosity'),
}

const COMPLETIONS: Record<keyof CompletionCreateParams, FieldBound> = {
  ...are('content', 'prompt', 'suffix'),
  ...are('counted', 'best_of', 'max_tokens', 'n'),
  ...are('none', 'model', 'echo', 'frequency_penalty', 'logit_bias', 'logprobs', 'presence_penalty', 'seed', 'stop'),
  ...are('none', 'stream', 'stream_options', 'temperature', 'top_p', 'user'),
}

const RESPONSES: Record<ResponseField, FieldBound> = {
  ...are('content', 'input', 'instructions'),
  ...are('counted', 'context_management', 'max_output_tokens', 'max_tool_calls', 'prompt', 'reasoning'),
  ...are('counted', 'service_tier', 'tools'),
  ...are('open', 'conversation', 'previous_response_id'),
  // As many agents as the model likes.
  ...are('unbounded', 'multi_agent'),
  ...are('none', 'model', 'access_programs', 'background', 'betas', 'client_metadata', 'image', 'include', 'metadata'),
  ...are('none', 'moderation', 'parallel_tool_calls', 'prompt_cache_key', 'prompt_cache_options', 'store', 'stream'),
  ...are('none', 'prompt_cache_retention', 'safety_identifier', 'stream_options', 'temperature', 'text', 'tool_choice'),
  ...are('none', 'top_logprobs', 'top_p', 'truncation', 'user'),
}

const MESSAGES: Record<MessageField, FieldBound> = {
  ...are('content', 'messages', 'system'),
  ...are('counted', 'compaction', 'context_management', 'fallbacks', 'inference_geo', 'max_tokens', 'mcp_servers'),
  ...are('counted', 'service_tier', 'speed', 'thinking', 'tools'),
  ...are('open', 'container', 'thread'),
  ...are('none', 'model', 'betas', 'billing_policy', 'cache_control', 'diagnostics', 'fallback_credit_token'),
  ...are(
    'none',
    'metadata',
    'output_config',
    'output_format',
    'stop_sequences',
    'stream',
    'temperature',
    'tool_choice',
  ),
  ...are('none', 'top_k', 'top_p', 'user_profile_id', 'workspace_id'),
}

const EMBEDDINGS: Record<keyof EmbeddingCreateParams, FieldBound> = {
  // Texts or tokens, each of which has at least a byte.
  ...are('none', 'model', 'dimensions', 'encoding_format', 'input', 'user'),
}

const PICTURES: Record<keyof (ImageGenerateParams & ImageEditParams & ImageCreateVariationParams), FieldBound> = {
  ...are('counted', 'image', 'input_fidelity', 'markup', 'mask', 'n', 'partial_images', 'size', 'frame_count'),
  ...are('counted', 'output_format', 'quality'),
  // What the catalogue has no price for: planning, and a second model that writes the picture.
  ...are('unbounded', 'complexity', 'svg'),
  ...are('none', 'model', 'background', 'frame_duration_ms', 'moderation', 'output_compression', 'prompt', 'user'),
  ...are('none', 'response_format', 'safety_identifier', 'stream', 'style'),
}

const SPEECH: Record<keyof SpeechCreateParams, FieldBound> = {
  ...are('counted', 'input', 'speed'),
  ...are('none', 'model', 'instructions', 'response_format', 'stream_format', 'voice'),
}

/** Of tokens, a model that transcribes hears no more than its context; of seconds, none but the file's. */
const TRANSCRIPTION: Record<keyof (TranscriptionCreateParams & TranslationCreateParams), FieldBound> = {
  ...are('counted', 'file'),
  ...are('none', 'model', 'chunking_strategy', 'include', 'keywords', 'known_speaker_names', 'language', 'languages'),
  ...are('none', 'known_speaker_references', 'prompt', 'response_format', 'stream', 'temperature'),
  ...are('none', 'timestamp_granularities'),
}

const MODERATIONS: Record<keyof ModerationCreateParams, FieldBound> = are('none', 'input', 'model')

/** What aggregators add to chat. Their plugins have prices of their own. */
const AGGREGATORS: Readonly<Record<string, FieldBound>> = {
  ...are('counted', 'fallbacks', 'models', 'plugins'),
  ...are('none', 'include_reasoning', 'min_p', 'provider', 'reasoning', 'repetition_penalty', 'route', 'session_id'),
  ...are('none', 'structured_outputs', 'top_a', 'top_k', 'trace', 'transforms', 'usage'),
}

const BY_ENDPOINT: ReadonlyMap<string, Readonly<Record<string, FieldBound>>> = new Map<
  string,
  Readonly<Record<string, FieldBound>>
>([
  ['chat', CHAT],
  ['completions', COMPLETIONS],
  ['responses', RESPONSES],
  ['responses/compact', RESPONSES],
  ['messages', MESSAGES],
  ['embeddings', EMBEDDINGS],
  ['images/generations', PICTURES],
  ['images/edits', PICTURES],
  ['images/variations', PICTURES],
  ['audio/speech', SPEECH],
  ['audio/transcriptions', TRANSCRIPTION],
  ['audio/translations', TRANSCRIPTION],
  ['moderations', MODERATIONS],
])

/** Of a field at the top of a request. Anthropic's are taken at chat's door, too. */
export function boundOf(endpoint: string, field: string): FieldBound {
  const tables = [BY_ENDPOINT.get(endpoint) ?? {}, AGGREGATORS, MESSAGES as Readonly<Record<string, FieldBound>>]
  return tables.find(table => Object.hasOwn(table, field))?.[field] ?? 'open'
}

type ContextEdit = NonNullable<BetaContextManagementConfig['edits']>[number]['type']

/** Whether an edit of a conversation asks the model once more. */
const EDITS: Readonly<Record<string, boolean>> = {
  clear_tool_uses_20250919: false,
  clear_thinking_20251015: false,
  compact_20260112: true,
} satisfies Record<ContextEdit, boolean>

export function isCompaction(type: unknown): boolean {
  return typeof type !== 'string' || !Object.hasOwn(EDITS, type) || EDITS[type] === true
}
