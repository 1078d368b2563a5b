/** The audit log of one project, or of the installation when the URL names no project: a sentence for each change. */
import { useParams } from '@tanstack/react-router'
import type { Part } from '../audit-phrases.ts'
import { AUDIT_TITLES, type AuditEvent, describeActor, describeAuditEvent } from '../audit-sentences.ts'
import { TextLink } from '../components/elements.tsx'
import { Select } from '../components/fields.tsx'
import { Resource } from '../components/resource.tsx'
import { useFilters } from '../filters.ts'
import { escapeControlCharacters, formatShortTime } from '../format.ts'
import { useProjects } from '../session.ts'
import { useSettings } from '../settings.ts'
import type { SettingKind } from '../types.ts'

export default function AuditLog() {
  const { project } = useParams({ strict: false })
  const [{ type = '' }, change] = useFilters()
  // Every project has the same kinds of settings.
  const { data: projects } = useProjects()
  const kinds = useSettings(project ?? projects?.[0]?.id).data?.kinds ?? []
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
          choices={[['', 'All events'], ...AUDIT_TITLES]}
          value={type}
          onChange={chosen => change({ type: chosen })}
        />
      }
      empty={{ title: 'No events', help: 'Every change appears here, unless an event type is selected.' }}
      columns={[
        {
          title: 'Time',
          cell: event => (
            <span className="text-xs whitespace-nowrap text-muted tabular-nums">
              {formatShortTime(event.effective_at)}
            </span>
          ),
        },
        {
          title: 'Event',
          cell: event => <Sentence event={event} kinds={kinds} isOfAll={project === undefined} />,
        },
        { title: 'Source', cell: event => <RecordedValues event={event} /> },
      ]}
    />
  )
}

function Sentence({ event, kinds, isOfAll }: { event: AuditEvent; kinds: readonly SettingKind[]; isOfAll: boolean }) {
  const { name } = describeActor(event.actor)
  const { project } = event
  const parts = describeAuditEvent(event, kinds)
  const isNamed = parts.some(part => typeof part === 'object' && 'name' in part && part.name === project?.name)
  return (
    <p className="min-w-44 [overflow-wrap:anywhere] sm:min-w-72">
      <Emphasis>{name}</Emphasis>{' '}
      {parts.map((part, at) => (
        <SentencePart key={at} part={part} projectId={project?.id} />
      ))}
      {isOfAll && project && !isNamed && (
        <>
          {' '}
          in the project <Emphasis>{project.name ?? project.id}</Emphasis>
        </>
      )}
    </p>
  )
}

function SentencePart({ part, projectId }: { part: Part; projectId: string | undefined }) {
  if (typeof part === 'string') return part
  if ('name' in part) return <Emphasis>{part.name}</Emphasis>
  if (projectId === undefined) return 'a request'
  return (
    <TextLink to={`/${projectId}/requests`} search={{ request: part.request }}>
      a request
    </TextLink>
  )
}

function Emphasis({ children }: { children: string }) {
  return <bdi className="font-medium">{escapeControlCharacters(children)}</bdi>
}

/** Says where a change came from, and shows the event as it was recorded, with the ids that the API uses. */
function RecordedValues({ event }: { event: AuditEvent }) {
  const changed = (event as unknown as Record<string, { id: string; data: Record<string, unknown> } | undefined>)[
    event.type
  ]
  const fields = { type: event.type, id: changed?.id, ...changed?.data }
  const { origin } = describeActor(event.actor)
  return (
    <details className="w-max max-w-72 text-xs text-muted">
      <summary className="cursor-pointer">{origin === '' ? 'Details' : escapeControlCharacters(origin)}</summary>
      <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 font-mono">
        {Object.entries(fields).map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd className="break-all text-ink">
              <bdi>{escapeControlCharacters(typeof value === 'object' ? JSON.stringify(value) : String(value))}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
