/** The audit log of one project, or of the whole installation. */

import { useParams } from '@tanstack/react-router'
import { Badge, Card, Empty, Name, PageHeader } from '../components/basics.tsx'
import { Select } from '../components/select.tsx'
import { Table } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { formatShortTime, plain } from '../format.ts'
import { usePaged } from '../paged.ts'
import type { AuditEvent } from '../types.ts'

const TYPES = [
  'api_key.created',
  'api_key.deleted',
  'provider_key.stored',
  'provider_key.deleted',
  'webhook.created',
  'webhook.deleted',
  'webhook.resent',
  'project.created',
  'project.updated',
  'project.archived',
  'cache.purged',
  'cache.invalidated',
  'role.assignment.created',
  'role.assignment.updated',
  'role.assignment.deleted',
  'user.added',
  'user.updated',
  'user.deleted',
  'login.succeeded',
  'login.failed',
  'logout.succeeded',
  'admin_api_key.created',
  'admin_api_key.deleted',
  'rate_limit.updated',
]

export function AuditLog() {
  const { project } = useParams({ strict: false })
  const [filters, change] = useFilters()
  const events = usePaged<AuditEvent>(
    '/v1/organization/audit_logs',
    {
      limit: 50,
      ...(project === undefined ? {} : { 'project_ids[]': project }),
      ...(filters.type ? { 'event_types[]': filters.type } : {}),
    },
    { refetchMs: 10_000 },
  )
  return (
    <>
      <PageHeader title="Audit log">
        Every change, made here, with an admin API key, or by an operator with psql.
      </PageHeader>
      <Card
        title={project === undefined ? 'Whole installation' : 'This project'}
        action={
          <Select
            aria-label="Kind of event"
            choices={[['', 'All events'], ...TYPES]}
            value={filters.type ?? ''}
            onChange={type => change({ type })}
          />
        }
      >
        <Table
          label="Audit log"
          {...events}
          keyOf={event => event.id}
          empty={<Empty title="Nothing of this kind">Choose another kind of event to see more.</Empty>}
          columns={[
            { title: 'When', look: 'line', cell: event => formatShortTime(event.effective_at) },
            {
              title: 'What',
              cell: event => <Badge look={event.type.endsWith('failed') ? 'bad' : 'neutral'}>{event.type}</Badge>,
            },
            { title: 'Who', cell: event => <Actor actor={event.actor} /> },
            ...(project === undefined
              ? [{ title: 'Project', cell: (event: AuditEvent) => event.project?.name ?? '' }]
              : []),
            { title: 'Details', cell: event => <Details event={event} /> },
          ]}
        />
      </Card>
    </>
  )
}

function Actor({ actor }: { actor: AuditEvent['actor'] }) {
  const { session, api_key: key } = actor
  const user = session?.user ?? key?.user
  const how = key ? `admin key ${key.id}` : user?.id === 'operator' ? 'operator' : (session?.ip_address ?? '')
  return (
    <span className="block min-w-40">
      <Name>{user?.email ?? ''}</Name> <span className="text-xs text-muted">{how}</span>
    </span>
  )
}

function Details({ event }: { event: AuditEvent }) {
  const subject = (event as unknown as Record<string, { id: string; data: Record<string, unknown> } | undefined>)[
    event.type
  ]
  const given = Object.entries(subject?.data ?? {})
  return (
    <span className="block min-w-64 font-mono text-xs">
      <span className="break-all text-muted">{subject?.id}</span>
      {given.map(([name, value]) => (
        <span key={name} className="ml-2 inline-block break-all">
          <span className="text-muted">{name}=</span>
          <bdi>{plain(typeof value === 'object' ? JSON.stringify(value) : String(value))}</bdi>
        </span>
      ))}
    </span>
  )
}
