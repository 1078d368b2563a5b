/** The admin API's answers, as its description has them. */

export type {
  CacheMatch,
  CacheStats,
  CacheVerdict,
  Calibration,
  WordingDifference,
  Wordings,
} from '../../admin/answers/cache.ts'
export type { Route, SettingKind, Settings } from '../../admin/answers/projects.ts'
export type { Counts, Overview, ProxyRequest, Share } from '../../admin/answers/usage.ts'
export type { LoginRules, Session } from '../../admin/answers/users.ts'
export type {
  AdminKey,
  ApiKey,
  AuditEvent,
  Budget,
  CacheEntry,
  Delivery,
  Limits,
  Login,
  Member,
  OpenSession,
  Plan,
  Project,
  ProviderKey,
  Refusal,
  User,
  Webhook,
} from '../../admin/objects.ts'

import type { Project } from '../../admin/objects.ts'

export type Role = Project['your_role']

export interface Page<Item> {
  data: Item[]
  has_more: boolean
  last_id: string | null
}
