/** The types of the admin API's responses. */

export type * from '../../admin/responses/cache.ts'
export type * from '../../admin/responses/end-users.ts'
export type * from '../../admin/responses/projects.ts'
export type * from '../../admin/responses/requests.ts'
export type * from '../../admin/responses/searches.ts'
export type * from '../../admin/responses/usage.ts'
export type * from '../../admin/responses/users.ts'
/** An API object that is a row of a view. */
export type { ViewRow } from '../../postgres/admin/views.ts'

import type { ViewRow } from '../../postgres/admin/views.ts'

// Types that several screens use.
export type ApiKey = ViewRow<'project_api_keys'>
export type Plan = ViewRow<'organization_plans'>
export type Project = ViewRow<'organization_projects'>
export type Role = Project['your_role']
export type User = ViewRow<'organization_users'>
/** The fields that tell whether a user can log in. */
export type LoginDetails = Pick<User, 'can_log_in' | 'invited_until' | 'last_seen_at'>

export interface ApiPage<Item> {
  data: Item[]
  has_more: boolean
  last_id: string | null
}
