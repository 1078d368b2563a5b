/** API keys: generates them, shows each once, deactivates them. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { Badge, Button, Card, Empty, PageHeader } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { Segments } from '../components/segments.tsx'
import { Snippets } from '../components/snippets.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { formatAgo, formatDate, formatTime, isolated } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may, useProject } from '../session.ts'
import type { ApiKey } from '../types.ts'
import { GenerateKey } from './generate-key.tsx'

const KEY_TYPES = [
  ['project', 'Project key'],
  ['test', 'Test key'],
] as const
const STATES = { active: 'good', expired: 'warn', deactivated: 'neutral' } as const

export function ApiKeys() {
  const project = useProject()
  const queries = useQueryClient()
  const [filters, change] = useFilters()
  const [isGenerating, setGenerating] = useState(false)
  const [going, setGoing] = useState<ApiKey | null>(null)
  const all = filters.all === 'true'
  const path = `/v1/organization/projects/${project?.id}/api_keys`
  const keys = usePaged<ApiKey>(path, { include_inactive: all, limit: 50 }, { enabled: project !== null })
  const refresh = () => queries.invalidateQueries({ queryKey: [path] })
  const mayChange = may(project, 'member')
  const generate = mayChange && (
    <Button look="primary" onClick={() => setGenerating(true)}>
      Generate new key
    </Button>
  )

  return (
    <>
      <PageHeader title="API keys" action={generate}>
        Clients send one as <code className="font-mono">Authorization: Bearer …</code>. To rotate without downtime,
        generate a new key, switch, then deactivate the old one.
      </PageHeader>
      <Card
        title={all ? 'All keys' : 'Keys in use'}
        action={<ShowAll all={all} onChange={shows => change({ all: shows ? 'true' : '' })} />}
      >
        <Table
          label="API keys"
          {...keys}
          keyOf={key => key.id}
          empty={
            <Empty title="No keys yet" action={generate}>
              A test key is answered by the built-in sandbox, at no cost; a project key reaches real models.
            </Empty>
          }
          columns={columnsOf(mayChange ? setGoing : null)}
        />
      </Card>
      {project && <UseKey key={project.id} projectId={project.id} />}
      {isGenerating && project && (
        <GenerateKey projectId={project.id} onDone={refresh} onClose={() => setGenerating(false)} />
      )}
      {going && (
        <Confirm
          title={`Deactivate “${isolated(going.name)}”?`}
          action="Deactivate key"
          run={() => call('DELETE', `${path}/${going.id}`)}
          onDone={refresh}
          onClose={() => setGoing(null)}
        >
          Requests with <code className="font-mono text-ink">{going.redacted_value}</code> are refused from the next one
          on. A key cannot be made active again.
        </Confirm>
      )}
    </>
  )
}

/** The snippets for a key that was made earlier. */
function UseKey({ projectId }: { projectId: string }) {
  const [type, setType] = useState('project')
  return (
    <Card
      title="Use a key"
      id="use"
      className="mt-5"
      action={<Segments label="Type of key" value={type} choices={KEY_TYPES} onChange={setType} />}
    >
      <div className="space-y-3 p-4">
        <p className="text-muted">
          With the key in the environment as <code className="font-mono">OPENAI_API_KEY</code>:
        </p>
        <Snippets projectId={projectId} keyType={type === 'test' ? 'test' : 'project'} apiKey={null} />
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

/** `deactivate` is null when the user may not deactivate keys. */
function columnsOf(deactivate: ((key: ApiKey) => void) | null): Column<ApiKey>[] {
  return [
    { title: 'Name', look: 'strong', cell: key => key.name },
    { title: 'Key', look: 'code', cell: key => key.redacted_value },
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
    { title: 'Created', look: 'line', cell: key => formatDate(key.created_at) },
    { title: 'Expires', look: 'line', cell: key => (key.expires_at === null ? 'Never' : formatDate(key.expires_at)) },
    ...(deactivate
      ? [buttonColumn<ApiKey>('Deactivate', key => (key.state === 'deactivated' ? null : key.name), deactivate)]
      : []),
  ]
}
