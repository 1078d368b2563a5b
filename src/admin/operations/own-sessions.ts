/** The caller's own sessions. */
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { defineOperation } from '../admin-operation.ts'
import { formatId } from '../ids.ts'
import { listSchema } from '../responses/shared.ts'
import { activeSessionSchema, sessionClosedSchema } from '../responses/users.ts'
import { hashToken } from '../session-cookie.ts'

export const OWN_SESSION_OPERATIONS = [
  defineOperation({
    method: 'GET',
    path: '/dashboard/api/sessions',
    tag: 'Sessions',
    summary: 'List the caller’s sessions',
    response: listSchema(activeSessionSchema),
    async serve({ caller: { actor, sessionToken } }) {
      const sessions = await callAsActor(actor, 'list_own_sessions', {
        current_token_hash: sessionToken && hashToken(sessionToken),
      })
      return { object: 'list', data: sessions.map(session => ({ object: 'session', ...session })), has_more: false }
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
      await callAsActor(caller.actor, 'close_session_with_id', { session_id })
      return { object: 'session.closed', id: formatId('session', session_id) }
    },
  }),
]
