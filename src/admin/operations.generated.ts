/** Written by `bun run generate-types`: the rows of all tables. */
import { ADMIN_KEY_OPERATIONS } from './operations/admin-keys.ts'
import { AGENT_SESSION_OPERATIONS } from './operations/agent-sessions.ts'
import { API_KEY_OPERATIONS } from './operations/api-keys.ts'
import { AUDIT_LOG_OPERATIONS } from './operations/audit-logs.ts'
import { BUDGET_OPERATIONS } from './operations/budgets.ts'
import { CACHE_OPERATIONS } from './operations/cache.ts'
import { COST_OPERATIONS } from './operations/costs.ts'
import { END_USER_OPERATIONS } from './operations/end-users.ts'
import { LEAKED_KEY_OPERATIONS } from './operations/leaked-keys.ts'
import { LIMIT_OPERATIONS } from './operations/limits.ts'
import { MATCH_OPERATIONS } from './operations/matches.ts'
import { MEMBER_OPERATIONS } from './operations/members.ts'
import { NAME_OPERATIONS } from './operations/names.ts'
import { OVERVIEW_OPERATIONS } from './operations/overview.ts'
import { OWN_SESSION_OPERATIONS } from './operations/own-sessions.ts'
import { PAID_AGAIN_OPERATIONS } from './operations/paid-again.ts'
import { PROJECT_USAGE_OPERATIONS } from './operations/project-usage.ts'
import { PROJECT_OPERATIONS } from './operations/projects.ts'
import { PROVIDER_KEY_OPERATIONS } from './operations/provider-keys.ts'
import { REQUEST_OPERATIONS } from './operations/requests.ts'
import { ROUTE_OPERATIONS } from './operations/routes.ts'
import { USAGE_OPERATIONS } from './operations/usage.ts'
import { USER_OPERATIONS } from './operations/users.ts'
import { VENDOR_OPERATIONS } from './operations/vendors.ts'
import { WEBHOOK_OPERATIONS } from './operations/webhooks.ts'

export const ADMIN_OPERATIONS = [
  ...ADMIN_KEY_OPERATIONS,
  ...AGENT_SESSION_OPERATIONS,
  ...API_KEY_OPERATIONS,
  ...AUDIT_LOG_OPERATIONS,
  ...BUDGET_OPERATIONS,
  ...CACHE_OPERATIONS,
  ...COST_OPERATIONS,
  ...END_USER_OPERATIONS,
  ...LEAKED_KEY_OPERATIONS,
  ...LIMIT_OPERATIONS,
  ...MATCH_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...NAME_OPERATIONS,
  ...OVERVIEW_OPERATIONS,
  ...OWN_SESSION_OPERATIONS,
  ...PAID_AGAIN_OPERATIONS,
  ...PROJECT_USAGE_OPERATIONS,
  ...PROJECT_OPERATIONS,
  ...PROVIDER_KEY_OPERATIONS,
  ...REQUEST_OPERATIONS,
  ...ROUTE_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...USER_OPERATIONS,
  ...VENDOR_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
]
