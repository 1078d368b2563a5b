/** The caller's own sessions. */
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { defineOperation } from '../admin-operation.ts'
import { formatId } from '../ids.ts'
import { listSchema } from '../responses/shared.ts'
import { activeSessionSchema, sessionClosedSchema } from '../responses/users.ts'

export const OWN_SESSION_OPERATIONS = [
  defineOperation({
    method: 'GET',
    path: '/dashboard/api/sessions',
    tag: 'Sessions',
    summary: 'List the caller’s sessions',
    response: listSchema(activeSessionSchema),
    async serve({ caller: { actor, session } }) {
      const sessions = await callAsActor(actor, 'list_own_sessions', { current_session: session?.id ?? null })
      return { object: 'list', data: sessions.map(open => ({ object: 'session', ...open })), has_more: false }
    },
  }),
  defineOperation({
    method: 'DELETE',
    path: '/dashboard/api/sessions/:session_id',
    kinds: { session_id: 'session' },
    tag: 'Sessions',
    summary: 'End one of the caller’s sessions',
    response: sessionClosedSchema,
    async serve({ caller, ids: { session_id } }) {
      await callAsActor(caller.actor, 'close_session', { session_id, is_current: session_id === caller.session?.id })
      return { object: 'session.closed', id: formatId('session', session_id) }
    },
  }),
]
