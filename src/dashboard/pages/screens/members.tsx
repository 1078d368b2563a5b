/** Who may look at a project, and change it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api.ts'
import {
  Badge,
  Button,
  Card,
  CopyButton,
  Empty,
  PageHeader,
  Problem,
  RowButton,
  SelectField,
  TextField,
} from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { Dialog } from '../components/dialog.tsx'
import { type Column, Table } from '../components/table.tsx'
import { formatDate } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may, useProject } from '../session.ts'
import type { Member, Role } from '../types.ts'

const ROLES: [Role, string][] = [
  ['viewer', 'Viewer – looks'],
  ['member', 'Member – also keys, settings and the cache'],
  ['owner', 'Owner – also provider keys and members'],
]

export function Members() {
  const project = useProject()
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const [going, setGoing] = useState<Member | null>(null)
  const path = `/v1/organization/projects/${project?.id}/users`
  const members = usePaged<Member>(path, { limit: 50 }, { enabled: project !== null })
  const refresh = () => queries.invalidateQueries({ queryKey: [path] })
  const mayChange = may(project, 'owner')
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: string }) => call('POST', `${path}/${id}`, { role }),
    onSettled: refresh,
  })
  const add = mayChange && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add member
    </Button>
  )
  return (
    <>
      <PageHeader title="Members" action={add}>
        Administrators see every project without being members of it.
      </PageHeader>
      <Problem error={change.error} />
      <Card>
        <Table
          label="Members"
          rows={members.rows}
          error={members.error}
          more={members.more}
          keyOf={member => member.id}
          empty={
            <Empty title="No members yet" action={add}>
              Administrators alone see this project. Add people by their e-mail address.
            </Empty>
          }
          columns={columnsOf(mayChange ? { setRole: change.mutate, remove: setGoing } : null)}
        />
      </Card>
      {isAdding && <AddMember path={path} onDone={refresh} onClose={() => setAdding(false)} />}
      {going && (
        <Confirm
          title={`Remove ${going.email}?`}
          action="Remove member"
          run={() => call('DELETE', `${path}/${going.id}`)}
          onDone={refresh}
          onClose={() => setGoing(null)}
        >
          They stop seeing this project at once. Keys they made keep working; deactivate those under API keys.
        </Confirm>
      )}
    </>
  )
}

interface MemberActions {
  setRole(to: { id: string; role: string }): void
  remove(member: Member): void
}

/** `actions`: null where the user may change nothing. */
function columnsOf(actions: MemberActions | null): Column<Member>[] {
  return [
    { title: 'E-mail address', cell: member => <span className="font-medium">{member.email}</span> },
    {
      title: 'Role',
      cell: member =>
        actions ? (
          <select
            aria-label={`Role of ${member.email}`}
            className="min-h-8 rounded-md border border-line bg-surface px-2"
            value={member.role}
            onChange={event => actions.setRole({ id: member.id, role: event.target.value })}
          >
            {ROLES.map(([role]) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        ) : (
          <Badge>{member.role}</Badge>
        ),
    },
    {
      title: 'Added',
      cell: member => <span className="whitespace-nowrap">{formatDate(member.added_at)}</span>,
    },
    {
      title: '',
      numeric: true,
      cell: member =>
        actions && (
          <RowButton aria-label={`Remove ${member.email}`} onClick={() => actions.remove(member)}>
            Remove
          </RowButton>
        ),
    },
  ]
}

function AddMember({ path, onDone, onClose }: { path: string; onDone(): void; onClose(): void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<string>('viewer')
  const adding = useMutation({
    mutationFn: () => call<Member>('POST', path, { email, role }),
    onSuccess: member => {
      onDone()
      if (member.invitation === undefined) onClose()
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    adding.mutate()
  }
  const invitation = adding.data?.invitation
  if (invitation !== undefined) return <InvitationLink email={email} invitation={invitation} onClose={onClose} />
  return (
    <Dialog title="Add member" onClose={onClose}>
      <form onSubmit={submit} className="space-y-4">
        <TextField
          label="E-mail address"
          inputMode="email"
          required
          autoComplete="off"
          value={email}
          onChange={event => setEmail(event.target.value)}
        />
        <SelectField label="Role" value={role} onChange={event => setRole(event.target.value)}>
          {ROLES.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </SelectField>
        <Problem error={adding.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={adding.isPending}>
            Add member
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function InvitationLink({ email, invitation, onClose }: { email: string; invitation: string; onClose(): void }) {
  const link = `${window.location.origin}/dashboard/invitation#${invitation}`
  return (
    <Dialog title={`Invitation for ${email}`} onClose={onClose}>
      <div className="space-y-4">
        <p className="text-muted">
          Send them this link. It is shown this once, sets their password once, and ends after seven days.
        </p>
        <output className="block rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs break-all">
          {link}
        </output>
        <div className="flex justify-end gap-2">
          <CopyButton text={link} label="Copy link" />
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
