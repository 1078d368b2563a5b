/** Reports a key's spending and remaining budget as OpenRouter's API does. These requests are free and do not count. */
import type { Admission } from '../../admission/admission.ts'
import { createError } from '../../errors/errors.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { CallerCredentials } from './model-directory.ts'

export interface KeyInfoReader {
  /** Returns the response of `GET /v1/key`. Throws 401, 403, 429 or 503. */
  readKey(caller: CallerCredentials): Promise<{ data: object }>
  /** Returns the response of `GET /v1/credits`. Throws as `readKey` does. */
  readCredits(caller: CallerCredentials): Promise<{ data: { total_credits: number; total_usage: number } }>
}

type Spending = RowOf<'key_spending'>

/** OpenRouter's names for budget periods. A total budget has none. */
const RESET_PERIODS: Readonly<Record<string, string>> = { day: 'daily', week: 'weekly', month: 'monthly' }

/** Clients subtract usage from credits and treat a negative result as debt. Without a budget, the credits are therefore unlimited. */
const UNLIMITED_CREDITS = Number.MAX_SAFE_INTEGER

export function createKeyInfoReader(
  admission: Pick<Admission, 'hashKey' | 'resolveKey'>,
  database: Database,
): KeyInfoReader {
  async function read({
    authorization,
    address,
  }: CallerCredentials): Promise<{ resolvedKey: ResolvedKey; spending: Spending }> {
    const resolvedKey = await admission.resolveKey(admission.hashKey(authorization), address)
    const [spending] = await callFunction(database, 'key_spending', { of_key: resolvedKey.key_id })
    if (!spending) throw createError('invalidKey')
    return { resolvedKey, spending }
  }

  return {
    async readKey(caller) {
      const { resolvedKey, spending } = await read(caller)
      return { data: describeKey(resolvedKey, spending) }
    },
    async readCredits(caller) {
      const { spending } = await read(caller)
      const { usd_of_project: total_usage, remaining_usd } = spending
      return {
        data: { total_credits: remaining_usd === null ? UNLIMITED_CREDITS : total_usage + remaining_usd, total_usage },
      }
    },
  }
}

function describeKey({ key_redacted_value, key_type, requests_per_minute }: ResolvedKey, spending: Spending) {
  const { usd, limit_usd, limit_per, remaining_usd, expires_at } = spending
  return {
    label: key_redacted_value,
    limit: limit_usd,
    limit_remaining: remaining_usd,
    limit_reset: RESET_PERIODS[limit_per ?? ''] ?? null,
    usage: usd,
    usage_daily: spending.usd_today,
    usage_weekly: spending.usd_this_week,
    usage_monthly: spending.usd_this_month,
    // Spending with the project's provider keys is included above, and in its budgets.
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    include_byok_in_limit: true,
    is_free_tier: key_type === 'test',
    is_management_key: false,
    is_provisioning_key: false,
    expires_at: expires_at?.toISOString() ?? null,
    creator_user_id: null,
    organization_id: null,
    workspace_id: null,
    allowed_data_regions: [],
    // There are no free daily requests, but OpenRouter's client package requires the field.
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    rate_limit: { requests: requests_per_minute, interval: '1m', note: 'The key’s requests a minute.' },
  }
}
