/** The groups of the conformance suite's cases, and the reasons for which a vendor cannot have one. */
import type { Vendor } from '../../src/config/vendors.ts'
import type { DocumentedVendor, Feature } from './documented.ts'

export const CASE_GROUPS = [
  'text',
  'reasoning',
  'tools',
  'images',
  'structured output',
  'limits',
  'usage',
  'errors',
  'cancel',
  'embeddings',
  'completions',
  'list of models',
] as const

export type CaseGroup = (typeof CASE_GROUPS)[number]

const FEATURES: Partial<Record<CaseGroup, Feature>> = {
  tools: 'tools',
  images: 'images',
  'structured output': 'structured',
}

/** Returns the reason for which a vendor cannot have a group; null if it can. */
export function findReason(
  { lacks }: Pick<DocumentedVendor, 'lacks'>,
  { endpoints, models_path }: Pick<Vendor, 'endpoints' | 'models_path'>,
  group: CaseGroup,
): string | null {
  const feature = FEATURES[group]
  if (feature) return lacks[feature] ?? null
  if (group === 'list of models') return models_path === null ? 'Its row names no list in this format' : null
  const isEndpoint = group === 'embeddings' || group === 'completions'
  return isEndpoint && !endpoints.includes(group) ? `Its row lists no ${group}` : null
}
