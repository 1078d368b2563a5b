/** The audit log of one project, or of the installation when the URL names no project. */
import { useParams } from '@tanstack/react-router'
import { AUDIT_ACTIONS } from '../../../postgres/seeds.generated.ts'
import { Badge, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { Select } from '../components/select.tsx'
import type { Column } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { escapeControlCharacters, formatShortTime } from '../format.ts'
import type { ViewRow } from '../types.ts'

type AuditEvent = ViewRow<'organization_audit_logs'>

const ACTIONS = AUDIT_ACTIONS.map(({ action }) => action)

export default function AuditLog() {
  const { project } = useParams({ strict: false })
  const [{ type = '' }, change] = useFilters()
  return (
    <Resource<AuditEvent>
      page={{
        title: 'Audit log',
        help: 'Every change made in the dashboard, with an admin API key, or by an operator with psql.',
      }}
      path="/v1/organization/audit_logs"
      query={{ limit: 50, 'project_ids[]': project, 'event_types[]': type }}
      refreshMs={10_000}
      title={project === undefined ? 'All projects' : 'This project'}
      label="Audit log"
      toolbar={
        <Select
          aria-label="Event type"
          choices={[['', 'All events'], ...ACTIONS]}
          value={type}
          onChange={chosen => change({ type: chosen })}
        />
      }
      empty={{ title: 'No events', help: 'Every change appears here, unless an event type is selected.' }}
      columns={project === undefined ? COLUMNS : COLUMNS.filter(({ title }) => title !== 'Project')}
    />
  )
}

const COLUMNS: Column<AuditEvent>[] = [
  { title: 'Time', look: 'line', cell: event => formatShortTime(event.effective_at) },
  {
    title: 'Event',
    cell: event => <Badge look={event.type.endsWith('failed') ? 'bad' : 'neutral'}>{event.type}</Badge>,
  },
  { title: 'Actor', cell: event => <Actor actor={event.actor} /> },
  { title: 'Project', cell: event => event.project?.name ?? '' },
  { title: 'Details', cell: event => <Details event={event} /> },
]

function Actor({ actor }: { actor: AuditEvent['actor'] }) {
  const { session, api_key: key } = actor
  const user = session?.user ?? key?.user
  const origin = key ? `admin key ${key.id}` : user?.id === 'operator' ? 'operator' : (session?.ip_address ?? '')
  return (
    <span className="block min-w-40">
      <UserText>{user?.email ?? ''}</UserText> <span className="text-xs text-muted">{origin}</span>
    </span>
  )
}

function Details({ event }: { event: AuditEvent }) {
  const subject = (event as unknown as Record<string, { id: string; data: Record<string, unknown> } | undefined>)[
    event.type
  ]
  const fields = Object.entries(subject?.data ?? {})
  return (
    <span className="block min-w-64 font-mono text-xs">
      <span className="break-all text-muted">{subject?.id}</span>
      {fields.map(([name, value]) => (
        <span key={name} className="ml-2 inline-block break-all">
          <span className="text-muted">{name}=</span>
          <bdi>{escapeControlCharacters(typeof value === 'object' ? JSON.stringify(value) : String(value))}</bdi>
        </span>
      ))}
    </span>
  )
}
