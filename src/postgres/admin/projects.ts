/** Projects, their keys, settings and plans. */
import { defineChange, defineRead } from './act-as.ts'
import type { KeyActivityRow, KeyRow, PlanRow, ProjectRow, ProviderKeyRow, QuotaRow } from './rows.ts'

export const pageOfProjects = defineRead<
  { only_project?: number; include_archived: boolean; after_id?: number | undefined; page_size: number },
  ProjectRow
>('page_of_projects', {
  only_project: 'bigint',
  include_archived: 'boolean',
  after_id: 'bigint',
  page_size: 'integer',
})

export const createProjectAs = defineChange<{ project: string; plan: string }, { result: number }>('create_project', {
  project: 'text',
  plan: 'text',
})
export const updateProject = defineChange<{ project: number; new_name: string | null; new_plan: string | null }>(
  'update_project',
  { project: 'project', new_name: 'text', new_plan: 'text' },
)
export const archiveProject = defineChange<{ project: number }>('archive_project', { project: 'project' })
export const setSettings = defineChange<{ project: number; settings: Record<string, unknown> }>('set_settings', {
  project: 'project',
  settings: 'jsonb',
})
export const projectSettings = defineRead<{ of_project: number }, { result: Record<string, unknown> | null }>(
  'project_settings',
  { of_project: 'bigint' },
)

export const pageOfKeys = defineRead<
  {
    of_project: number
    only_key?: number
    include_inactive: boolean
    after_id?: number | undefined
    page_size: number
  },
  KeyRow
>('page_of_keys', {
  of_project: 'bigint',
  only_key: 'bigint',
  include_inactive: 'boolean',
  after_id: 'bigint',
  page_size: 'integer',
})
export const issueKeyAs = defineChange<
  { project: number; key_type: string; key_name: string; expires?: string | null },
  { result: string }
>('issue_key', { project: 'project', key_type: 'text', key_name: 'text', expires: 'timestamptz' })
export const findKeyId = defineRead<{ key: string }, { result: number | null }>('find_key_id', { key: 'text' })
export const deactivateKeyWithId = defineChange<{ key_id: number }>('deactivate_key_with_id', { key_id: 'bigint' })

export const listProviderKeys = defineRead<{ project: number }, ProviderKeyRow>('list_provider_keys', {
  project: 'project',
})
/** `sealed`: encrypted bytes in PostgreSQL's text format, `\\x` and hex. */
export const storeProviderKeyAs = defineChange<{
  owner_id: number
  provider: string
  sealed: string
  last_four: string
}>('store_provider_key', { owner_id: 'bigint', provider: 'text', sealed: 'bytea', last_four: 'text' })
export const removeProviderKey = defineChange<{ project: number; provider: string }, { result: string }>(
  'remove_provider_key',
  { project: 'project', provider: 'text' },
)

export const listPlans = defineRead<Record<never, never>, PlanRow>('list_plans', {})
export const setPlanLimits = defineChange<{ plan: string; limits: Record<string, number> }>('set_plan_limits', {
  plan: 'text',
  limits: 'jsonb',
})

/** `in_month` is the month's first day. */
export const quotaUsage = defineRead<{ project: number; in_month: string }, QuotaRow>('quota_usage', {
  project: 'project',
  in_month: 'date',
})

export const keyActivity = defineRead<{ of_project: number }, KeyActivityRow>('key_activity', { of_project: 'bigint' })
