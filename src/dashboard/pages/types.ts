/** The admin API's answers, as its description has them. */

export type * from '../../admin/answers/cache.ts'
export type * from '../../admin/answers/end-users.ts'
export type * from '../../admin/answers/projects.ts'
export type * from '../../admin/answers/usage.ts'
export type * from '../../admin/answers/users.ts'
/** An object of the API that is a row of a view. */
export type { Shown } from '../../postgres/admin/views.ts'

import type { Shown } from '../../postgres/admin/views.ts'

// What several screens show.
export type ApiKey = Shown<'project_api_keys'>
export type Plan = Shown<'organization_plans'>
export type Project = Shown<'organization_projects'>
export type Role = Project['your_role']
export type User = Shown<'organization_users'>
/** Whether a person can log in yet. */
export type Login = Pick<User, 'can_log_in' | 'invited_until' | 'last_seen_at'>

export interface Page<Item> {
  data: Item[]
  has_more: boolean
  last_id: string | null
}
