/** Plans, rate limits in OpenAI's form, the use of quotas, and rejected requests. */
import { Type as t } from '@sinclair/typebox'
import { createError } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { defineOperation } from '../admin-operation.ts'
import { defineCollection, defineFullList, defineRead, defineShortList, defineUpdate } from '../define-operations.ts'
import { unixSecondsParameter } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { defineObject, PROJECT_NOT_FOUND } from '../objects.ts'
import { fromUnixSeconds, limitParameter, rowLimit, timePageQuery } from '../pagination.ts'
import { rejectionCountSchema } from '../responses/requests.ts'
import { listSchema } from '../responses/shared.ts'
import { nearestLimitSchema } from '../responses/usage.ts'

const PROJECT = '/v1/organization/projects/:project_id'

const plan = defineObject('Plan', null, 'organization_plans', null, 'There is no such plan.')
const rateLimit = defineObject('RateLimit', 'project.rate_limit', 'project_rate_limits', null, PROJECT_NOT_FOUND)
const limits = defineObject('Limits', 'project.limits', 'project_limits', null, PROJECT_NOT_FOUND)

const plans = defineCollection(plan, {
  tag: 'Limits',
  basePath: '/v1/organization/plans',
  idParameter: 'plan',
  isCheckedBySql: true,
})
const rateLimits = defineCollection(rateLimit, {
  tag: 'Limits',
  basePath: `${PROJECT}/rate_limits`,
  idParameter: 'rate_limit_id',
})
const limitsOfProject = defineCollection(limits, { tag: 'Limits', basePath: `${PROJECT}/limits`, idParameter: '' })

const wholeNumber = (minimum: number) => t.Optional(t.Integer({ minimum, maximum: 2_000_000_000 }))
const time = t.Optional(unixSecondsParameter)
const DEFAULT_SPAN_SECONDS = 86_400

export const LIMIT_OPERATIONS = [
  defineShortList(rateLimits, 'List the rate limits of a project’s plan', {
    ...timePageQuery,
    before: t.Optional(t.String()),
  }),
  defineRead(rateLimits, 'Read a rate limit of a project’s plan'),
  {
    ...defineOperation({
      method: 'POST',
      path: `${rateLimits.basePath}/:rate_limit_id`,
      tag: 'Limits',
      summary: 'Always rejected: a project’s limits are set by its plan',
      response: rateLimit.schema,
      async serve({ caller, ids }) {
        const { id, plan } = await requireProject(caller.actor, ids.project_id)
        throw createError('limitsSetByPlan', { plan, project: id })
      },
    }),
    // OpenAI's fields, which are not read.
    body: t.Record(t.String(), t.Unknown()),
  },
  defineRead(limitsOfProject, 'Read the usage of a project’s quota and rate limits'),
  defineOperation({
    method: 'GET',
    path: `${limitsOfProject.basePath}/nearest`,
    tag: 'Limits',
    summary: 'List a project’s limits, of which the largest share is used first',
    response: listSchema(nearestLimitSchema),
    query: { limit: limitParameter },
    async serve({ caller, ids, query: { limit } }) {
      await requireProject(caller.actor, ids.project_id)
      const size = rowLimit(limit)
      const rows = await callAsActor(caller.actor, 'nearest_limits', { of_project: ids.project_id, max_rows: size })
      return { object: 'list', data: rows.slice(0, size - 1), has_more: rows.length === size }
    },
  }),
  defineFullList(plans, 'List plans'),
  defineRead(plans, 'Read a plan'),
  defineUpdate(plans, 'Change the limits of a plan', {
    requiresField: true,
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
  defineOperation({
    method: 'GET',
    path: '/v1/organization/refusals',
    tag: 'Usage',
    summary: 'Count rejected requests by reason and key',
    response: listSchema(rejectionCountSchema),
    query: { start_time: time, end_time: time },
    async serve({ caller, query: { start_time, end_time } }) {
      const end = end_time ?? nowSeconds() + 1
      const start = start_time ?? Math.max(0, end - DEFAULT_SPAN_SECONDS)
      const given = { from_time: fromUnixSeconds(start), until_time: fromUnixSeconds(end) }
      return { object: 'list', data: await callAsActor(caller.actor, 'list_rejections', given), has_more: false }
    },
  }),
]
