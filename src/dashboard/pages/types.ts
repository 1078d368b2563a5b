/** The admin API's answers, as its description has them. */

export type {
  CacheMatch,
  CacheStats,
  CacheVerdict,
  Calibration,
  WordingDifference,
  Wordings,
} from '../../admin/answers/cache.ts'
export type { Route, Settings } from '../../admin/answers/projects.ts'
export type { Counts, Overview, ProxyRequest, Share } from '../../admin/answers/usage.ts'
export type {
  AdminKey,
  AuditEvent,
  Login,
  LoginRules,
  Member,
  OpenSession,
  Session,
  User,
} from '../../admin/answers/users.ts'
export type {
  ApiKey,
  Budget,
  CacheEntry,
  Delivery,
  Limits,
  Plan,
  Project,
  ProviderKey,
  Refusal,
  Webhook,
} from '../../admin/objects.ts'
export type { SettingKindRow as SettingKind } from '../../postgres/admin/rows.ts'

import type { Project } from '../../admin/objects.ts'

export type Role = Project['your_role']

export interface Page<Item> {
  data: Item[]
  has_more: boolean
  last_id: string | null
}
