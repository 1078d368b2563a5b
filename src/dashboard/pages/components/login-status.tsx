/** Whether a person can log in yet. */
import { formatAgo, formatDate } from '../format.ts'
import type { LoginDetails } from '../types.ts'
import { Badge } from './elements.tsx'

export function LoginStatus({ person: { can_log_in, invited_until, last_seen_at } }: { person: LoginDetails }) {
  const isInvited = invited_until !== null && invited_until > Date.now() / 1000
  return (
    <span className="whitespace-nowrap">
      {can_log_in ? (
        <Badge look="good">{last_seen_at === null ? 'active' : `seen ${formatAgo(last_seen_at)}`}</Badge>
      ) : isInvited ? (
        <Badge look="warn">invited, until {formatDate(invited_until)}</Badge>
      ) : (
        <Badge look="bad">{invited_until === null ? 'not invited' : 'invitation expired'}</Badge>
      )}
    </span>
  )
}
