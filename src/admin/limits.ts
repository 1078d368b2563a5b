/** Rate limits in OpenAI's form, plans, and how much of a quota is used. */
import { t } from 'elysia'
import { refuse } from '../errors/errors.ts'
import { nowIso } from '../event-loop/clock.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import { keyActivity, listPlans, quotaUsage, setPlanLimits } from '../postgres/admin/projects.ts'
import { type PlanRow, plan } from '../postgres/admin/rows.ts'
import { limits, rateLimit, rateLimits } from './answers/projects.ts'
import { listOf } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict } from './field-types.ts'
import { formatId, notFound } from './ids.ts'
import { operation } from './operation.ts'
import { pageOf, pageQuery } from './pages.ts'
import { findProject } from './projects.ts'

const wholeNumber = (minimum: number) => t.Optional(t.Integer({ minimum, maximum: 2_000_000_000 }))
const planLimits = t.Object(
  {
    requests_per_minute_per_key: wholeNumber(1),
    requests_per_minute_per_address: wholeNumber(1),
    tokens_per_minute_per_key: t.Optional(t.Union([t.Integer({ minimum: 1, maximum: 999_999_999 }), t.Null()])),
    requests_per_month: wholeNumber(0),
    test_requests_per_minute: wholeNumber(1),
    test_requests_per_month: wholeNumber(0),
  },
  { ...strict, minProperties: 1 },
)

export function createLimitsController(options: AdminOptions) {
  return createController(options, '/v1/organization', 'Limits')
    .get(
      '/projects/:project_id/rate_limits',
      async ({ caller, params, query }) =>
        pageOf(describeRateLimits(await findPlanOf(caller.actor, params.project_id)), query),
      operation('List the rate windows of a project’s plan', rateLimits, {
        query: t.Object({ ...pageQuery, before: t.Optional(t.String()) }, strict),
      }),
    )
    .post(
      '/projects/:project_id/rate_limits/:rate_limit_id',
      async ({ caller, params }) => {
        const { name } = await findPlanOf(caller.actor, params.project_id)
        throw refuse('limitsAreThePlans', { plan: name, project: params.project_id })
      },
      operation('Refused: a project’s limits are its plan’s', rateLimit),
    )
    .get(
      '/projects/:project_id/limits',
      async ({ caller, params }) => {
        const { id, plan: name } = await findProject(caller.actor, params.project_id)
        const month = `${nowIso().slice(0, 7)}-01`
        const [quotas, keys] = await Promise.all([
          quotaUsage(caller.actor, { project: id, in_month: month }),
          keyActivity(caller.actor, { of_project: id }),
        ])
        return {
          object: 'project.limits' as const,
          plan: name,
          month,
          quotas,
          keys: keys.map(key => ({
            id: formatId('key', key.key_id),
            name: key.name,
            redacted_value: `${key.prefix}…`,
            type: key.type,
            requests_last_minute: key.requests_last_minute,
            requests_per_minute: key.requests_per_minute,
          })),
        }
      },
      operation('Read how much of a project’s quota and windows is used', limits),
    )
    .get(
      '/plans',
      async ({ caller }) => ({
        object: 'list' as const,
        data: await listPlans(caller.actor, {}),
        has_more: false,
      }),
      operation('List plans', listOf(plan)),
    )
    .post(
      '/plans/:plan',
      async ({ caller, params, body }) => {
        await setPlanLimits(caller.actor, { plan: params.plan, limits: body })
        return findPlan(caller.actor, params.plan)
      },
      operation('Change the limits of a plan', plan, { body: planLimits }),
    )
}

async function findPlanOf(actor: Actor, projectId: string): Promise<PlanRow> {
  const { plan: name } = await findProject(actor, projectId)
  return findPlan(actor, name)
}

async function findPlan(actor: Actor, name: string): Promise<PlanRow> {
  const found = (await listPlans(actor, {})).find(known => known.name === name)
  if (found === undefined) throw notFound('There is no such plan.')
  return found
}

/** One for each rate window. Windows cover all models together. */
function describeRateLimits(of: PlanRow) {
  const windows: [id: string, requests: number, tokens: number | null][] = [
    ['rl_project_key', of.requests_per_minute_per_key, of.tokens_per_minute_per_key],
    ['rl_address', of.requests_per_minute_per_address, null],
    ['rl_test_key', of.test_requests_per_minute, null],
  ]
  return windows.map(([id, requests, tokens]) => ({
    id,
    object: 'project.rate_limit' as const,
    model: '*' as const,
    max_requests_per_1_minute: requests,
    max_tokens_per_1_minute: tokens,
  }))
}
