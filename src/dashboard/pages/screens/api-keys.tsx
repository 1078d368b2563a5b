/** API keys: generates them, shows each once, limits, rotates and deactivates them. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { Badge, Button, Card, Empty, Name, PageHeader, RowButton } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { Segments } from '../components/segments.tsx'
import { Snippets } from '../components/snippets.tsx'
import { type Column, Table } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { formatAgo, formatCount, formatDate, formatTime, isolated } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may, useProject } from '../session.ts'
import type { ApiKey, Project } from '../types.ts'
import { type ChangeKeyProps, LimitKey, RotateKey } from './change-key.tsx'
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
  const [acting, setActing] = useState<Acting | null>(null)
  const all = filters.all === 'true'
  const path = `/v1/organization/projects/${project?.id}/api_keys`
  const keys = usePaged<ApiKey>(path, { include_inactive: all, limit: 50 }, { enabled: project !== null })
  const refresh = () => queries.invalidateQueries({ queryKey: [path] })
  const mayChange = may(project, 'member')
  const generate = mayChange && project?.status === 'active' && (
    <Button look="primary" onClick={() => setGenerating(true)}>
      Generate new key
    </Button>
  )

  return (
    <>
      <PageHeader title="API keys" action={generate}>
        Clients send one as <code className="font-mono">Authorization: Bearer …</code>. Rotating gives a key another
        value: its present one can go on working for a while.
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
          columns={columnsOf(actionsOf(project), setActing)}
        />
      </Card>
      {project && <UseKey key={project.id} projectId={project.id} />}
      {isGenerating && project && (
        <GenerateKey projectId={project.id} onDone={refresh} onClose={() => setGenerating(false)} />
      )}
      {acting && project && (
        <Act
          {...acting}
          projectId={project.id}
          path={`${path}/${acting.apiKey.id}`}
          onDone={refresh}
          onClose={() => setActing(null)}
        />
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

const ACTIONS = { limit: 'Limits', rotate: 'Rotate', deactivate: 'Deactivate' } as const
type Action = keyof typeof ACTIONS

interface Acting {
  action: Action
  apiKey: ApiKey
}

function actionsOf(project: Project | null): Action[] {
  return [
    ...(may(project, 'owner') ? (['limit'] as const) : []),
    ...(may(project, 'member') ? (['rotate', 'deactivate'] as const) : []),
  ]
}

/** A former value ends by itself or is deactivated; it has the limits of its key. */
function isPossible(action: Action, { state, former_value_of }: ApiKey): boolean {
  return action === 'deactivate' ? state !== 'deactivated' : state === 'active' && former_value_of === null
}

function Act({ action, ...props }: Acting & ChangeKeyProps) {
  if (action === 'limit') return <LimitKey {...props} />
  if (action === 'rotate') return <RotateKey {...props} />
  const { path, apiKey, onDone, onClose } = props
  return (
    <Confirm
      title={`Deactivate “${isolated(apiKey.name)}”?`}
      action="Deactivate key"
      run={() => call('DELETE', path)}
      onDone={onDone}
      onClose={onClose}
    >
      Requests with <code className="font-mono text-ink">{apiKey.redacted_value}</code> are refused from the next one
      on. A key cannot be made active again.
    </Confirm>
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

/** `actions`: those that the user may take. */
function columnsOf(actions: readonly Action[], act: (acting: Acting) => void): Column<ApiKey>[] {
  return [
    {
      title: 'Name',
      look: 'strong',
      cell: key => (
        <span title={`Created ${formatTime(key.created_at)}`}>
          <Name className="!min-w-24">{key.name}</Name>
        </span>
      ),
    },
    { title: 'Key', look: 'code', cell: key => key.redacted_value },
    { title: 'Limits', cell: key => limitsOf(key) || <span className="text-muted">None</span> },
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
    { title: 'Expires', look: 'line', cell: key => (key.expires_at === null ? 'Never' : formatDate(key.expires_at)) },
    {
      title: '',
      numeric: true,
      cell: apiKey => (
        <span className="flex justify-end gap-1">
          {actions
            .filter(action => isPossible(action, apiKey))
            .map(action => (
              <RowButton
                key={action}
                look={action === 'deactivate' ? 'danger' : 'plain'}
                aria-label={`${ACTIONS[action]} ${isolated(apiKey.name)}`}
                onClick={() => act({ action, apiKey })}
              >
                {ACTIONS[action]}
              </RowButton>
            ))}
        </span>
      ),
    },
  ]
}
