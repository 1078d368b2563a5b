/** The browsers in which the user is logged in; each can be logged out. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, get } from '../api.ts'
import { Badge, Button, Card, Empty, Name, Problem } from '../components/basics.tsx'
import { buttonColumn, Table } from '../components/table.tsx'
import { formatAgo, formatDate } from '../format.ts'
import { logOut } from '../session.ts'
import type { OpenSession, Page } from '../types.ts'

const PATH = '/dashboard/api/sessions'

export function Sessions() {
  const queries = useQueryClient()
  const sessions = useQuery({ queryKey: [PATH], queryFn: () => get<Page<OpenSession>>(PATH) })
  const ending = useMutation({
    mutationFn: ({ id }: OpenSession) => call('DELETE', `${PATH}/${id}`),
    onSettled: () => queries.invalidateQueries({ queryKey: [PATH] }),
  })
  return (
    <Card
      title="Sessions"
      action={
        <Button look="danger" onClick={() => void logOut(true)}>
          Log out everywhere
        </Button>
      }
    >
      <Problem error={ending.error} />
      <Table
        label="Sessions"
        rows={sessions.data?.data}
        error={sessions.error}
        keyOf={session => session.id}
        empty={<Empty title="No sessions">A session ends by itself after seven days without use.</Empty>}
        columns={[
          {
            title: 'Browser',
            cell: ({ user_agent, is_this_one }) => (
              <>
                <Name className="text-xs">{user_agent || 'It did not say'}</Name>
                {is_this_one && <Badge look="good">this one</Badge>}
              </>
            ),
          },
          { title: 'Address', look: 'code', cell: ({ address }) => address },
          { title: 'Last used', look: 'line', cell: ({ last_seen_at }) => formatAgo(last_seen_at) },
          { title: 'Since', look: 'line', cell: ({ created_at }) => formatDate(created_at) },
          buttonColumn(
            'End',
            ({ is_this_one, address }) => (is_this_one ? null : `the session of ${address}`),
            ending.mutate,
          ),
        ]}
      />
    </Card>
  )
}
