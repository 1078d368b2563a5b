/** Tells a key about itself as OpenRouter's API does: what it has spent, what it may still spend. Free of charge, and not counted. */
import type { Admission } from '../../admission/admission.ts'
import { hashBearerKey } from '../../admission/key-validator.ts'
import { createError } from '../../errors/errors.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { CallerCredentials } from './model-directory.ts'

export interface KeyInfoReader {
  /** What `GET /v1/key` says. Throws 401, 403, 429 or 503. */
  readKey(caller: CallerCredentials): Promise<{ data: object }>
  /** What `GET /v1/credits` says. Throws as `key` does. */
  readCredits(caller: CallerCredentials): Promise<{ data: Credits }>
}

export interface Credits {
  total_credits: number
  total_usage: number
}

type Spending = RowOf<'key_spending'>

/** OpenRouter's words for what a budget is renewed by; a total is not. */
const RESETS: Readonly<Record<string, string>> = { day: 'daily', week: 'weekly', month: 'monthly' }

/** Clients subtract what is spent from what there is, and take less than nothing for a debt: without a budget, there is always more. */
const WITHOUT_BOUND = Number.MAX_SAFE_INTEGER

export function createKeyInfoReader(admission: Pick<Admission, 'resolveKey'>, database: Database): KeyInfoReader {
  async function read({
    authorization,
    address,
  }: CallerCredentials): Promise<{ resolvedKey: ResolvedKey; spending: Spending }> {
    const account = await admission.resolveKey(hashBearerKey(authorization), address)
    const [spending] = await callFunction(database, 'key_spending', { of_key: account.key_id })
    if (!spending) throw createError('invalidKey')
    return { resolvedKey: account, spending }
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
        data: { total_credits: remaining_usd === null ? WITHOUT_BOUND : total_usage + remaining_usd, total_usage },
      }
    },
  }
}

function describeKey({ key_prefix, key_type, requests_per_minute }: ResolvedKey, spending: Spending) {
  const { usd, limit_usd, limit_per, remaining_usd, expires_at } = spending
  return {
    label: `${key_prefix}…`,
    limit: limit_usd,
    limit_remaining: remaining_usd,
    limit_reset: RESETS[limit_per ?? ''] ?? null,
    usage: usd,
    usage_daily: spending.usd_today,
    usage_weekly: spending.usd_this_week,
    usage_monthly: spending.usd_this_month,
    // What is spent with providers' keys of the project's own is in the above, and in its budgets.
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
    // No number of requests a day is free; the package demands the field.
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    rate_limit: { requests: requests_per_minute, interval: '1m', note: 'The key’s requests a minute.' },
  }
}
