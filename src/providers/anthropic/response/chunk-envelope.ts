/** The fields that all chunks of a stream share. */
import type { Message, Usage } from '@anthropic-ai/sdk/resources/messages'
import type { AnthropicResponseContext } from './response-context.ts'

export interface ChunkEnvelope {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  service_tier?: string
}

const TIERS: Record<NonNullable<Usage['service_tier']>, string> = {
  standard: 'default',
  priority: 'priority',
  batch: 'default',
}

export function createChunkEnvelope(
  { id, model, usage }: Pick<Message, 'id' | 'model' | 'usage'>,
  { createdSeconds }: AnthropicResponseContext,
): ChunkEnvelope {
  const tier = usage?.service_tier
  return {
    id,
    object: 'chat.completion.chunk',
    created: createdSeconds,
    model,
    ...(tier ? { service_tier: TIERS[tier] ?? tier } : {}),
  }
}
