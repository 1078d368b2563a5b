/** API keys: generates them, shows each once, limits, rotates and deactivates them. */
import { useState } from 'react'
import { Badge, Card, UserText, Warnings } from '../components/elements.tsx'
import { RequestSnippets } from '../components/request-snippets.tsx'
import { Resource } from '../components/resource.tsx'
import type { ResourceColumn } from '../components/resource-columns.tsx'
import { SegmentedControl } from '../components/segmented-control.tsx'
import { useFilters } from '../filters.ts'
import { formatAgo, formatCount, formatDate, formatTime } from '../format.ts'
import { useProject, useProjectPath } from '../session.ts'
import type { ApiKey } from '../types.ts'
import { createKeyAction, listKeyActions } from './key-actions.tsx'

const KEY_TYPES = [
  ['project', 'Project key'],
  ['test', 'Test key'],
] as const
const STATES = { active: 'good', expired: 'warn', deactivated: 'neutral' } as const

export default function ApiKeys() {
  const project = useProject()
  const [filters, change] = useFilters()
  const all = filters.all === 'true'
  return (
    <Resource<ApiKey>
      page={{
        title: 'API keys',
        help: (
          <>
            Clients send one as <code className="font-mono">Authorization: Bearer …</code>. Rotating gives a key another
            value: its present one can go on working for a while.
          </>
        ),
      }}
      path={useProjectPath('api_keys')}
      query={{ include_inactive: all, limit: 50 }}
      title={all ? 'All keys' : 'Keys in use'}
      label="API keys"
      side={<ShowAll all={all} onChange={shows => change({ all: shows ? 'true' : '' })} />}
      empty={{
        title: 'No keys yet',
        help: 'A test key is answered by the built-in sandbox, at no cost; a project key reaches real models.',
      }}
      nameOf={key => key.name}
      columns={COLUMNS}
      make={project?.status === 'active' && createKeyAction(project.id)}
      actions={listKeyActions(project?.id ?? '')}
    >
      {project && <UseKey key={project.id} projectId={project.id} />}
    </Resource>
  )
}

/** The snippets for a key that was made earlier. */
function UseKey({ projectId }: { projectId: string }) {
  const [type, setType] = useState('project')
  return (
    <Card
      title="Use a key"
      id="use"
      action={<SegmentedControl label="Type of key" value={type} choices={KEY_TYPES} onChange={setType} />}
    >
      <div className="space-y-3 p-4">
        <p className="text-muted">
          With the key in the environment as <code className="font-mono">OPENAI_API_KEY</code>:
        </p>
        <RequestSnippets projectId={projectId} keyType={type === 'test' ? 'test' : 'project'} apiKey={null} />
      </div>
    </Card>
  )
}

function ShowAll({ all, onChange }: { all: boolean; onChange(shows: boolean): void }) {
  return (
    <label className="flex items-center gap-2 text-xs text-muted">
      <input
        type="checkbox"
        className="accent-accent"
        checked={all}
        onChange={event => onChange(event.target.checked)}
      />
      Show expired and deactivated
    </label>
  )
}

/** What narrows a key, for people: '' for nothing. */
function limitsOf({
  requests_per_minute: requests,
  tokens_per_minute: tokens,
  allowed_models,
  allowed_addresses,
}: ApiKey): string {
  const stated = [
    requests === null ? [] : `${formatCount(requests)} a minute`,
    tokens === null ? [] : `${formatCount(tokens)} tokens a minute`,
    allowed_models ?? [],
    allowed_addresses ?? [],
  ]
  return stated.flat().join(', ')
}

const COLUMNS: ResourceColumn<ApiKey>[] = [
  {
    title: 'Name',
    look: 'strong',
    cell: key => (
      <span title={`Created ${formatTime(key.created_at)}`}>
        <UserText className="!min-w-24">{key.name}</UserText>
      </span>
    ),
  },
  { title: 'Key', look: 'code', cell: key => key.redacted_value },
  {
    title: 'Limits',
    cell: key => (
      <>
        {limitsOf(key) || <span className="text-muted">None</span>}
        <Warnings warnings={key.warnings} />
      </>
    ),
  },
  { title: 'Type', cell: key => <Badge>{key.type === 'test' ? 'Test' : 'Project'}</Badge> },
  { title: 'State', cell: key => <Badge look={STATES[key.state]}>{key.state}</Badge> },
  {
    title: 'Last used',
    look: 'line',
    cell: key => (
      <span title={key.last_used_at === null ? undefined : formatTime(key.last_used_at)}>
        {formatAgo(key.last_used_at)}
      </span>
    ),
  },
  { title: 'Expires', look: 'line', cell: key => formatDate(key.expires_at) },
]
