/** GET /v1/organization/refusals: refused requests by reason. For administrators, because a refused request may have no project. */
import { t } from 'elysia'
import { nowSeconds } from '../event-loop/clock.ts'
import { listRefusals } from '../postgres/admin/usage.ts'
import { listOf } from './answers/shared.ts'
import { refusal } from './answers/usage.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict, unixSeconds } from './field-types.ts'
import { operation } from './operation.ts'
import { fromSeconds, toSeconds } from './pages.ts'

const DEFAULT_SPAN_SECONDS = 86_400
const time = t.Optional(unixSeconds)

export function createRefusalsController(options: AdminOptions) {
  return createController(options, '/v1/organization/refusals', 'Usage').get(
    '',
    async ({ caller, query: { start_time, end_time } }) => {
      const end = end_time ?? nowSeconds() + 1
      const start = start_time ?? Math.max(0, end - DEFAULT_SPAN_SECONDS)
      const rows = await listRefusals(caller.actor, {
        from_time: fromSeconds(start),
        until_time: fromSeconds(end),
      })
      const data = rows.map(({ latest_hour, ...row }) => ({ ...row, latest_hour: toSeconds(latest_hour) }))
      return { object: 'list' as const, data, has_more: false }
    },
    operation('Count refused requests by reason', listOf(refusal), {
      query: t.Object({ start_time: time, end_time: time }, strict),
    }),
  )
}
