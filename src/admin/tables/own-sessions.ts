/** The caller's own sessions. */
import { callAs } from '../../postgres/admin/call-as.ts'
import { listOf } from '../answers/shared.ts'
import { closed, openSession } from '../answers/users.ts'
import { formatId } from '../ids.ts'
import { hashToken } from '../session-cookie.ts'
import { serveBy } from '../table-row.ts'

export const OWN_SESSIONS = [
  serveBy({
    method: 'GET',
    path: '/dashboard/api/sessions',
    tag: 'Sessions',
    summary: 'List the caller’s sessions',
    answer: listOf(openSession),
    async serve({ caller: { actor, sessionToken } }) {
      const sessions = await callAs(actor, 'own_sessions', { this_one: sessionToken && hashToken(sessionToken) })
      return { object: 'list', data: sessions.map(session => ({ object: 'session', ...session })), has_more: false }
    },
  }),
  serveBy({
    method: 'DELETE',
    path: '/dashboard/api/sessions/:session_id',
    kinds: { session_id: 'session' },
    tag: 'Sessions',
    summary: 'End one of the caller’s sessions',
    answer: closed,
    async serve({ caller, ids: { session_id } }) {
      await callAs(caller.actor, 'close_session_with_id', { session_id })
      return { object: 'session.closed', id: formatId('session', session_id) }
    },
  }),
]
