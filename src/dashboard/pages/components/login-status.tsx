/** Shows whether a user can log in, or has been invited. */
import { formatAgo, formatDate } from '../format.ts'
import type { LoginDetails } from '../types.ts'
import { Badge } from './elements.tsx'

export function LoginStatus({ person: { can_log_in, invited_until, last_seen_at } }: { person: LoginDetails }) {
  const isInvited = invited_until !== null && invited_until > Date.now() / 1000
  return (
    <span className="whitespace-nowrap">
      {can_log_in ? (
        <Badge look="good">{last_seen_at === null ? 'Active' : `Last seen ${formatAgo(last_seen_at)}`}</Badge>
      ) : isInvited ? (
        <Badge look="warn">Invited until {formatDate(invited_until)}</Badge>
      ) : (
        <Badge look="bad">{invited_until === null ? 'Not invited' : 'Invitation expired'}</Badge>
      )}
    </span>
  )
}
