/** GET /v1/usage/sessions: the sessions of a project’s agents, and what the provider’s prompt cache saved in each. */
import { Type as t } from '@sinclair/typebox'
import { toRecordedEndUser } from '../../formats/end-user.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { requireId } from '../ids.ts'
import { limitParameter, readTimeRange, rowLimit, stringEnum, timeRangeQuery, toPage } from '../pagination.ts'
import { type AgentSession, agentSessionsSchema } from '../responses/usage.ts'

export const AGENT_SESSION_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: '/v1/usage/sessions', tag: 'Usage', response: agentSessionsSchema },
    summary: 'List the sessions of agents',
    query: {
      project_id: t.String(),
      ...timeRangeQuery,
      api_key_id: t.Optional(t.String()),
      key_type: t.Optional(stringEnum('project', 'test')),
      end_user: t.Optional(t.String()),
      unread: t.Optional(t.Boolean()),
      sort: t.Optional(stringEnum('newest', 'dearest')),
      after: t.Optional(t.String()),
      limit: limitParameter,
    },
    async serve({ caller, ids, query: { limit, ...asked } }) {
      const filter = {
        of_project: ids.project_id,
        ...readTimeRange(asked),
        of_key: asked.api_key_id === undefined ? null : requireId('key', asked.api_key_id),
        of_key_type: asked.key_type,
        of_end_user: asked.end_user === undefined ? undefined : toRecordedEndUser(asked.end_user),
        only_unread: asked.unread ?? false,
        sorted: asked.sort ?? 'newest',
        after_session: asked.after,
        page_size: rowLimit(limit),
      }
      const [found] = await callAsActor(caller.actor, 'agent_sessions', filter, { mayLag: true })
      const { page = [], ...sums } = found ?? NO_SESSIONS
      return { ...toPage(page as AgentSession[], limit), ...sums }
    },
  }),
]

const NO_SESSIONS = {
  ...{ since: null, sessions: 0, cost_usd: 0, prompt_cache_saved_usd: 0, unread_sessions: 0, unread_usd: 0 },
  page: [],
}
