/** Everybody who may log in, for administrators: invited, made administrators, given another password, removed. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, get } from '../api.ts'
import { Badge, Button, Card, Empty, Name, PageHeader, Problem, RowButton } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { LoginState } from '../components/login-state.tsx'
import { Select } from '../components/select.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { formatDate, isolated } from '../format.ts'
import { usePaged } from '../paged.ts'
import type { LoginRules, User } from '../types.ts'
import { InvitationLink, Invite } from './invite.tsx'

const PATH = '/v1/organization/users'
const ROLES = [
  ['reader', 'User – sees the projects they are members of'],
  ['owner', 'Administrator – everything, in every project'],
] as const
const ROLE_NAMES = [
  ['reader', 'User'],
  ['owner', 'Administrator'],
] as const

export function Users() {
  const queries = useQueryClient()
  const [isInviting, setInviting] = useState(false)
  const [going, setGoing] = useState<User | null>(null)
  const users = usePaged<User>(PATH, { limit: 50 })
  const refresh = () => queries.invalidateQueries({ queryKey: [PATH] })
  const changing = useMutation({
    mutationFn: ({ id, role }: { id: string; role: string }) => call('POST', `${PATH}/${id}`, { role }),
    onSettled: refresh,
  })
  const again = useMutation({
    mutationFn: ({ id }: User) => call<{ invitation: string }>('POST', `${PATH}/${id}/invitation`, {}),
    onSettled: refresh,
  })
  return (
    <>
      <PageHeader
        title="Users"
        action={
          <Button look="primary" onClick={() => setInviting(true)}>
            Invite user
          </Button>
        }
      >
        Everybody who may log in. Owners of a project may invite to it as well; only here is anybody made an
        administrator, invited again or given another password.
      </PageHeader>
      <div className="space-y-5">
        <Problem error={changing.error ?? again.error} />
        <Card>
          <Table
            label="Users"
            {...users}
            keyOf={user => user.id}
            empty={<Empty title="No users">Operators make the first with psql.</Empty>}
            columns={columnsOf({ setRole: changing.mutate, invite: again.mutate, remove: setGoing })}
          />
        </Card>
        <Rules />
      </div>
      {isInviting && (
        <Invite title="Invite user" path={PATH} roles={ROLES} onDone={refresh} onClose={() => setInviting(false)} />
      )}
      {again.data && (
        <InvitationLink email={again.variables.email} invitation={again.data.invitation} onClose={again.reset} />
      )}
      {going && (
        <Confirm
          title={`Remove ${isolated(going.email)}?`}
          action="Remove user"
          run={() => call('DELETE', `${PATH}/${going.id}`)}
          onDone={refresh}
          onClose={() => setGoing(null)}
        >
          Their sessions, memberships and admin keys end at once. API keys that they made belong to the projects, and
          keep working. A project’s last owner is not removed: make another member its owner first.
        </Confirm>
      )}
    </>
  )
}

interface UserActions {
  setRole(to: { id: string; role: string }): void
  invite(user: User): void
  remove(user: User): void
}

function columnsOf({ setRole, invite, remove }: UserActions): Column<User>[] {
  return [
    { title: 'E-mail address', look: 'strong', cell: user => <Name className="!min-w-44">{user.email}</Name> },
    { title: 'State', cell: user => <LoginState person={user} /> },
    {
      title: 'Role',
      cell: user => (
        <Select
          aria-label={`Role of ${isolated(user.email)}`}
          choices={ROLE_NAMES}
          value={user.role}
          onChange={role => setRole({ id: user.id, role })}
        />
      ),
    },
    { title: 'Added', look: 'line', cell: user => formatDate(user.added_at) },
    {
      title: '',
      cell: user => (
        <RowButton look="plain" aria-label={`${linkOf(user)} ${isolated(user.email)}`} onClick={() => invite(user)}>
          {linkOf(user)}
        </RowButton>
      ),
    },
    buttonColumn('Remove', user => user.email, remove),
  ]
}

/** The same link sets a first password and another one. */
function linkOf({ can_log_in }: User): string {
  return can_log_in ? 'Reset password' : 'Invite again'
}

/** Who may log in with the OpenID Connect provider, and as what: the operator's settings. */
function Rules() {
  const rules = useQuery({ queryKey: ['login-rules'], queryFn: () => get<LoginRules>('/dashboard/api/login-rules') })
  const oidc = rules.data?.oidc
  if (!oidc) return <Problem error={rules.error} />
  const { issuer, allowed_domains: domains, groups_claim: claim, group_roles: groups } = oidc
  return (
    <Card title={`Logins with ${new URL(issuer).hostname}`}>
      <div className="space-y-3 p-4">
        <p className="text-muted">
          {domains === null ? 'Any verified e-mail address' : `E-mail addresses of ${domains.join(', ')}`}
          {groups === null
            ? ' may log in, as a user. Roles are set above.'
            : ` in one of these groups may log in. Roles are set at each login, by the claim “${isolated(claim)}”:`}
        </p>
        <ul className="space-y-1.5">
          {groups?.map(({ group, role }) => (
            <li key={group} className="flex flex-wrap items-center gap-2">
              <code className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{isolated(group)}</code> →
              <Badge>{role === 'owner' ? 'Administrator' : 'User'}</Badge>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}
