/** The browsers in which the user is logged in; each can be logged out. */
import { Badge, Button, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { formatAgo, formatDate } from '../format.ts'
import { logOut } from '../session.ts'
import type { ActiveSession } from '../types.ts'

export function Sessions() {
  return (
    <Resource<ActiveSession>
      path="/dashboard/api/sessions"
      query={{}}
      title="Sessions"
      side={
        <Button look="danger" onClick={() => void logOut(true)}>
          Log out everywhere
        </Button>
      }
      empty={{ title: 'No sessions', help: 'A session ends by itself after seven days without use.' }}
      nameOf={({ address }) => `the session of ${address}`}
      columns={[
        {
          title: 'Browser',
          cell: ({ user_agent, is_this_one }) => (
            <>
              <UserText className="text-xs">{user_agent || 'It did not say'}</UserText>
              {is_this_one && <Badge look="good">this one</Badge>}
            </>
          ),
        },
        { title: 'Address', look: 'code', cell: ({ address }) => address },
        { title: 'Last used', look: 'line', cell: ({ last_seen_at }) => formatAgo(last_seen_at) },
        { title: 'Since', look: 'line', cell: ({ created_at }) => formatDate(created_at) },
      ]}
      actions={[{ title: 'End', method: 'DELETE', isAvailable: ({ is_this_one }) => !is_this_one }]}
    />
  )
}
