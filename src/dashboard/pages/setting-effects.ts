/** Describes what other values of a setting would have changed in the last week. */
import { matchesAnyModelPattern } from '../../providers/model-patterns.ts'
import { formatPlural, formatUsd } from './format.ts'
import type { SettingEffects } from './types.ts'

type Effect = SettingEffects['effects'][number]

/** Describes an effect, such as “3 fewer cache hits, $0.02 more spent”. */
export function describeEffect({ hits, saved_usd: usd }: Effect): string {
  if (hits === 0) return 'Last week: the same cache hits'
  const change = `${formatPlural(Math.abs(hits), hits < 0 ? 'fewer cache hit' : 'more cache hit')}`
  const cost = usd === 0 ? '' : `, ${formatUsd(Math.abs(usd))} ${usd < 0 ? 'more' : 'less'} spent`
  return `Last week: ${change}${cost}`
}

/** Describes how many requests of the last week a list of allowed models would have rejected; null if they are not counted. */
export function describeRejections(models: SettingEffects['requested_models'], list: string): string | null {
  const patterns = list.split(',').flatMap(pattern => pattern.trim() || [])
  if (models.length === 0 || patterns.length === 0) return null
  const rejected = models.filter(({ model }) => !matchesAnyModelPattern(model, patterns))
  const count = rejected.reduce((sum, { requests }) => sum + requests, 0)
  if (count === 0) return 'Last week: no request would have been rejected'
  const named = rejected.slice(0, 3).map(({ model }) => model)
  const rest = rejected.length > named.length ? ', …' : ''
  return `Last week: ${formatPlural(count, 'request')} would have been rejected (${named.join(', ')}${rest})`
}
