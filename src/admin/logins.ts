/** Whether users can log in yet, as the lists of users and of members tell it. */
import type { Actor } from '../postgres/admin/act-as.ts'
import { loginStates } from '../postgres/admin/users.ts'
import { toSeconds } from './pages.ts'

/** Of these users, by id. `invited_until` is in the past where an invitation has expired; null where there is none. */
export async function readLogins(actor: Actor, users: readonly number[]) {
  const rows = await loginStates(actor, { of_users: [...users] })
  const byUser = new Map(rows.map(row => [row.user_id, row]))
  return (user: number) => {
    const { can_log_in = false, invited_until = null, last_seen_at = null } = byUser.get(user) ?? {}
    return { can_log_in, invited_until: toSeconds(invited_until), last_seen_at: toSeconds(last_seen_at) }
  }
}
