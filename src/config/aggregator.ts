/** Settings of the aggregator, which <vendor>/<model> names go to. */
import type { SettingsReader } from './settings-reader.ts'

export interface AggregatorConfig {
  name: string
  baseUrl: string
  /** Null for one that needs none. */
  apiKey: string | null
  /** Whether there is one: a key is set, or the address of one that may need none. */
  isConfigured: boolean
  speaks: (typeof SPEECHES)[number]
  /** Whether it is OpenRouter, directly or through a gateway. */
  isOpenRouter: boolean
  /** The names by which it takes a chat request's limit on its output; null where that is not known. */
  outputLimits: readonly LimitName[] | null
}

type LimitName = 'max_tokens' | 'max_completion_tokens'
const LIMIT_NAMES: readonly LimitName[] = ['max_tokens', 'max_completion_tokens']

const SPEECHES = ['chat', 'responses', 'messages', 'all'] as const
/** It needs a key. */
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
    speaks: read.choice('AGGREGATOR_SPEAKS', 'chat', SPEECHES),
    isOpenRouter,
    outputLimits: limit === 'unknown' ? null : limit === 'either' ? LIMIT_NAMES : [limit],
  }
}
