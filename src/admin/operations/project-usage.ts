/** GET /v1/usage/projects: all projects with their usage, the page of administrators. */
import { Type as t } from '@sinclair/typebox'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { timeZoneSchema } from '../field-types.ts'
import {
  cursorParameter,
  limitParameter,
  readCursor,
  readTimeRange,
  rowLimit,
  startOfPrevious,
  stringEnum,
  timeRangeQuery,
  toPage,
} from '../pagination.ts'
import { hitRateOf, pageSchema } from '../responses/shared.ts'
import { projectUsageSchema } from '../responses/usage.ts'
import { requireTimeZone } from './overview.ts'

export const PROJECT_USAGE_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: '/v1/usage/projects', tag: 'Usage', response: pageSchema(projectUsageSchema) },
    summary: 'Compare the usage of projects',
    query: {
      ...timeRangeQuery,
      width: t.Optional(stringEnum('hour', 'day', 'month')),
      time_zone: t.Optional(timeZoneSchema),
      key_type: t.Optional(stringEnum('project', 'test')),
      include_archived: t.Optional(t.Boolean()),
      projects_by: t.Optional(stringEnum('cost', 'saved', 'hit_rate', 'requests', 'failed', 'change')),
      after: cursorParameter('proj'),
      limit: limitParameter,
    },
    async serve({ caller, query: { limit, time_zone = 'UTC', ...asked } }) {
      const rows = await callAsActor(
        caller.actor,
        'project_shares',
        {
          previous_time: startOfPrevious(asked),
          ...readTimeRange(asked),
          width: asked.width ?? 'day',
          zone: requireTimeZone(time_zone),
          of_key_type: asked.key_type,
          with_archived: asked.include_archived ?? false,
          sorted: asked.projects_by ?? 'cost',
          after_project: readCursor('proj', asked.after),
          page_size: rowLimit(limit),
        },
        { mayLag: true },
      )
      const data = rows.map(row => ({
        ...row,
        hit_rate: hitRateOf(row),
        failed_share: row.requests === 0 ? null : row.failed / row.requests,
        change: row.previous_cost_usd === 0 ? null : row.cost_usd / row.previous_cost_usd - 1,
      }))
      return toPage(data, limit)
    },
  }),
]
