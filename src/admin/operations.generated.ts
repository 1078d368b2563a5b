/** Written by `bun run generate-types`: the rows of all tables. */
import { ADMIN_KEYS } from './tables/admin-keys.ts'
import { API_KEYS } from './tables/api-keys.ts'
import { AUDIT_LOGS } from './tables/audit-logs.ts'
import { BUDGETS } from './tables/budgets.ts'
import { CACHE } from './tables/cache.ts'
import { END_USERS } from './tables/end-users.ts'
import { LIMITS } from './tables/limits.ts'
import { MATCHES } from './tables/matches.ts'
import { MEMBERS } from './tables/members.ts'
import { OVERVIEW } from './tables/overview.ts'
import { OWN_SESSIONS } from './tables/own-sessions.ts'
import { PROJECTS } from './tables/projects.ts'
import { PROVIDER_KEYS } from './tables/provider-keys.ts'
import { REQUESTS } from './tables/requests.ts'
import { ROUTES } from './tables/routes.ts'
import { USAGE } from './tables/usage.ts'
import { USERS } from './tables/users.ts'
import { WEBHOOKS } from './tables/webhooks.ts'

export const OPERATIONS = [
  ...ADMIN_KEYS,
  ...API_KEYS,
  ...AUDIT_LOGS,
  ...BUDGETS,
  ...CACHE,
  ...END_USERS,
  ...LIMITS,
  ...MATCHES,
  ...MEMBERS,
  ...OVERVIEW,
  ...OWN_SESSIONS,
  ...PROJECTS,
  ...PROVIDER_KEYS,
  ...REQUESTS,
  ...ROUTES,
  ...USAGE,
  ...USERS,
  ...WEBHOOKS,
]
