/** Settings of the aggregator, which serves models named <vendor>/<model>. */
import type { SettingsReader } from './settings-reader.ts'

export interface AggregatorConfig {
  name: string
  baseUrl: string
  /** The key; null when the aggregator needs none. */
  apiKey: string | null
  /** Whether an aggregator is configured: a key is set, or the address of an aggregator that may need none. */
  isConfigured: boolean
  speaks: (typeof API_CHOICES)[number]
  /** Whether the aggregator is OpenRouter, directly or through a gateway. */
  isOpenRouter: boolean
  /** The field names that the aggregator accepts for a chat request's output limit; null when they are not known. */
  outputLimits: readonly LimitName[] | null
}

type LimitName = 'max_tokens' | 'max_completion_tokens'
const LIMIT_NAMES: readonly LimitName[] = ['max_tokens', 'max_completion_tokens']

const API_CHOICES = ['chat', 'responses', 'messages', 'all'] as const
/** OpenRouter needs a key. */
const OPENROUTER = 'https://openrouter.ai/api/v1'

export function readAggregatorConfig(read: SettingsReader): AggregatorConfig {
  const baseUrl = read.baseUrl('AGGREGATOR_BASE_URL', OPENROUTER)
  const apiKey = read.optionalText('AGGREGATOR_API_KEY')
  const isOpenRouter = baseUrl.includes('openrouter')
  const choices = [...LIMIT_NAMES, 'either', 'unknown'] as const
  const limit = read.choice('AGGREGATOR_OUTPUT_LIMIT', isOpenRouter ? 'either' : 'unknown', choices)
  return {
    name: read.name('AGGREGATOR_NAME', 'openrouter'),
    baseUrl,
    apiKey,
    isConfigured: apiKey !== null || baseUrl !== OPENROUTER,
    speaks: read.choice('AGGREGATOR_SPEAKS', 'chat', API_CHOICES),
    isOpenRouter,
    outputLimits: limit === 'unknown' ? null : limit === 'either' ? LIMIT_NAMES : [limit],
  }
}
