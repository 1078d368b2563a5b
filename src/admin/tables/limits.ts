/** Plans, rate limits in OpenAI's form, how much of a quota is used, and requests that were refused. */
import { t } from 'elysia'
import { refuse } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import { callAs } from '../../postgres/admin/call-as.ts'
import { listOf } from '../answers/shared.ts'
import { refusal } from '../answers/usage.ts'
import { unixSeconds } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { NO_PROJECT, object } from '../objects.ts'
import { change, collection, listAll, listFew, read } from '../operations.ts'
import { fromSeconds, pageQuery } from '../pages.ts'
import { serveBy } from '../table-row.ts'

const PROJECT = '/v1/organization/projects/:project_id'

const plan = object('Plan', null, 'organization_plans', null, 'There is no such plan.')
const rateLimit = object('RateLimit', 'project.rate_limit', 'project_rate_limits', null, NO_PROJECT)
const limits = object('Limits', 'project.limits', 'project_limits', null, NO_PROJECT)

const plans = collection(plan, { tag: 'Limits', base: '/v1/organization/plans', own: 'plan', functionsRefuse: true })
const rateLimits = collection(rateLimit, { tag: 'Limits', base: `${PROJECT}/rate_limits`, own: 'rate_limit_id' })
const limitsOfProject = collection(limits, { tag: 'Limits', base: `${PROJECT}/limits`, own: '' })

const wholeNumber = (minimum: number) => t.Optional(t.Integer({ minimum, maximum: 2_000_000_000 }))
const time = t.Optional(unixSeconds)
const DEFAULT_SPAN_SECONDS = 86_400

export const LIMITS = [
  listFew(rateLimits, 'List the rate windows of a project’s plan', { ...pageQuery, before: t.Optional(t.String()) }),
  serveBy({
    method: 'POST',
    path: `${rateLimits.base}/:rate_limit_id`,
    tag: 'Limits',
    summary: 'Refused: a project’s limits are its plan’s',
    answer: rateLimit.schema,
    async serve({ caller, ids }) {
      const { id, plan } = await requireProject(caller.actor, ids.project_id)
      throw refuse('limitsAreThePlans', { plan, project: id })
    },
  }),
  read(limitsOfProject, 'Read how much of a project’s quota and windows is used'),
  listAll(plans, 'List plans'),
  change(plans, 'Change the limits of a plan', {
    mustSay: true,
    body: {
      requests_per_minute_per_key: wholeNumber(1),
      requests_per_minute_per_address: wholeNumber(1),
      tokens_per_minute_per_key: t.Optional(t.Union([t.Integer({ minimum: 1, maximum: 999_999_999 }), t.Null()])),
      requests_per_month: wholeNumber(0),
      test_requests_per_minute: wholeNumber(1),
      test_requests_per_month: wholeNumber(0),
    },
    calls: ['set_plan_limits', ({ ids, body }) => ({ plan: String(ids.plan), limits: body })],
  }),
  serveBy({
    method: 'GET',
    path: '/v1/organization/refusals',
    tag: 'Usage',
    summary: 'Count refused requests by reason',
    answer: listOf(refusal),
    query: { start_time: time, end_time: time },
    async serve({ caller, query: { start_time, end_time } }) {
      const end = end_time ?? nowSeconds() + 1
      const start = start_time ?? Math.max(0, end - DEFAULT_SPAN_SECONDS)
      const given = { from_time: fromSeconds(start), until_time: fromSeconds(end) }
      return { object: 'list', data: await callAs(caller.actor, 'list_refusals', given), has_more: false }
    },
  }),
]
