/** Projects, their keys, settings and plans. */
import { defineChange, defineRead } from './act-as.ts'
import type { BudgetRow, SpendAlertRow } from './budget-row.ts'
import type { KeyActivityRow, ProviderKeyRow } from './key-rows.ts'
import type { PlanRow, QuotaRow } from './rows.ts'

export const setSettings = defineChange()('set_settings', {
  project: 'project',
  settings: 'jsonb',
})
export const projectSettings = defineRead<{ result: Record<string, unknown> | null }>()('project_settings', {
  of_project: 'bigint',
})

export const listProviderKeys = defineRead<ProviderKeyRow>()('list_provider_keys', {
  project: 'project',
  of_provider: 'text?',
})
/** `sealed`: encrypted bytes in PostgreSQL's text format, `\\x` and hex. */
export const storeProviderKeyAs = defineChange()('store_provider_key', {
  owner_id: 'bigint',
  provider: 'text',
  sealed: 'bytea',
  last_four: 'text',
  name: 'text',
  weight: 'integer?',
})
export const removeProviderKey = defineChange<{ result: string }>()('remove_provider_key', {
  project: 'project',
  provider: 'text',
  name: 'text',
})

export const listPlans = defineRead<PlanRow>()('list_plans', {})
export const setPlanLimits = defineChange()('set_plan_limits', {
  plan: 'text',
  limits: 'jsonb',
})

/** `in_month` is the month's first day. */
export const quotaUsage = defineRead<QuotaRow>()('quota_usage', {
  project: 'project',
  in_month: 'date',
})

export const keyActivity = defineRead<KeyActivityRow>()('key_activity', { of_project: 'bigint' })

/** For no project, the organization's. */
export const listBudgets = defineRead<BudgetRow>()('list_budgets', { of_project: 'bigint?' })
/** Returns the budget's id. */
export const setBudget = defineChange<{ result: number }>()('set_budget', {
  project: 'project?',
  in_unit: 'text',
  of_amount: 'numeric',
  in_per: 'text',
  of_key: 'bigint?',
  of_model: 'text?',
  of_tag: 'text?',
  in_zone: 'text',
})
export const removeBudget = defineChange()('remove_budget', { project: 'project?', of_budget: 'bigint' })

/** For no project, the organization's. */
export const listSpendAlerts = defineRead<SpendAlertRow>()('list_spend_alerts', { of_project: 'bigint?' })
/** Returns the alert's id. */
export const setSpendAlert = defineChange<{ result: number }>()('set_spend_alert', {
  project: 'project?',
  of_amount: 'numeric',
  to_recipients: 'text[]',
  with_prefix: 'text?',
  of_alert: 'bigint?',
})
export const removeSpendAlert = defineChange()('remove_spend_alert', { project: 'project?', of_alert: 'bigint' })
