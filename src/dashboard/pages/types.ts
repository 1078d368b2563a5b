/** The admin API's answers, as its description has them. */

export type * from '../../admin/answers/cache.ts'
export type * from '../../admin/answers/projects.ts'
export type * from '../../admin/answers/usage.ts'
export type * from '../../admin/answers/users.ts'
export type * from '../../admin/objects.ts'

import type { Project } from '../../admin/objects.ts'

export type Role = Project['your_role']

export interface Page<Item> {
  data: Item[]
  has_more: boolean
  last_id: string | null
}
