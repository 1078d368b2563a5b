/** The API keys page: creates, limits, rotates and deactivates keys. A key's value is shown once. */
import { useState } from 'react'
import { Badge, Card, UserText, Warnings } from '../components/elements.tsx'
import { Checkbox, SegmentedControl } from '../components/fields.tsx'
import { FindKeyButton } from '../components/find-key.tsx'
import { RequestSnippets } from '../components/request-snippets.tsx'
import { Resource, type ResourceColumn } from '../components/resource.tsx'
import { useFilters } from '../filters.ts'
import { capitalize, formatAgo, formatCount, formatDate, formatTime } from '../format.ts'
import { hasRole, PROJECTS_PATH, useProject, useProjectPath } from '../session.ts'
import type { ApiKey } from '../types.ts'
import { type Budget, describeBudget, useBudgets } from './budgets.tsx'
import { createKeyAction, findBudgetsOfKey, listKeyActions } from './key-actions.tsx'

const KEY_TYPES = [
  ['project', 'Project key'],
  ['test', 'Test key'],
] as const
const STATE_LOOKS = { active: 'good', expired: 'warn', deactivated: 'neutral' } as const

export default function ApiKeys() {
  const project = useProject()
  const [filters, change] = useFilters()
  const all = filters.all === 'true'
  const budgets = useBudgets(project?.id) ?? []
  const path = useProjectPath('api_keys')
  return (
    <Resource<ApiKey>
      page={{
        title: 'API keys',
        help: (
          <>
            Clients send a key as <code className="font-mono">Authorization: Bearer …</code>. Rotate a key to replace
            its value; the current value can stay valid for up to 30 days.
          </>
        ),
      }}
      path={path}
      refreshes={[`${path}`, `${PROJECTS_PATH}/${project?.id}/budgets`]}
      query={{ include_inactive: all, limit: 50 }}
      title={all ? 'All keys' : 'Active keys'}
      label="API keys"
      toolbar={
        <div className="flex flex-wrap items-center gap-3">
          <Checkbox
            label="Show expired and deactivated"
            className="text-xs text-muted"
            isChecked={all}
            onChange={isChecked => change({ all: isChecked ? 'true' : '' })}
          />
          <FindKeyButton />
        </div>
      }
      empty={{
        title: 'No API keys yet',
        help: 'A test key uses the built-in sandbox at no cost. A project key uses the project’s providers.',
      }}
      nameOf={key => key.name}
      columns={listColumns(budgets)}
      create={project?.status === 'active' && createKeyAction(project.id, hasRole(project, 'owner'))}
      actions={listKeyActions(project?.id ?? '', budgets)}
    >
      {project && <CodeExamples key={project.id} projectId={project.id} />}
    </Resource>
  )
}

/** Code examples that read an existing key from the environment. */
function CodeExamples({ projectId }: { projectId: string }) {
  const [type, setType] = useState('project')
  return (
    <Card
      title="Code examples"
      id="use"
      action={<SegmentedControl label="Key type" value={type} choices={KEY_TYPES} onChange={setType} />}
    >
      <div className="space-y-3 p-4">
        <p className="text-muted">
          Set <code className="font-mono">OPENAI_API_KEY</code> to an API key of this project.
        </p>
        <RequestSnippets projectId={projectId} keyType={type === 'test' ? 'test' : 'project'} apiKey={null} />
      </div>
    </Card>
  )
}

function describeType({ type, imported }: ApiKey): string {
  if (imported) return 'Imported key'
  return type === 'test' ? 'Test key' : 'Project key'
}

/** Describes the limits of a key in one line; '' when it has none. */
function describeLimits({
  requests_per_minute: requests,
  tokens_per_minute: tokens,
  allowed_models,
  allowed_addresses,
}: ApiKey): string {
  const parts = [
    requests === null ? [] : `${formatCount(requests)} requests/min`,
    tokens === null ? [] : `${formatCount(tokens)} tokens/min`,
    allowed_models ?? [],
    allowed_addresses ?? [],
  ]
  return parts.flat().join(', ')
}

function listColumns(budgets: readonly Budget[]): ResourceColumn<ApiKey>[] {
  return [
    {
      title: 'Name',
      look: 'strong',
      cell: key => (
        <span title={`Created ${formatTime(key.created_at)}`}>
          <UserText className="!min-w-24">{key.name}</UserText>
        </span>
      ),
    },
    {
      title: 'Key',
      cell: key => (
        <>
          <code className="block font-mono text-xs whitespace-nowrap">{key.redacted_value}</code>
          <span className="text-xs text-muted">{describeType(key)}</span>
        </>
      ),
    },
    {
      title: 'Limits',
      cell: key => (
        <>
          <span className="block min-w-36">
            {describeLimits(key) || <span className="text-muted">Plan limits</span>}
          </span>
          {findBudgetsOfKey(budgets, key).map(budget => (
            <span key={budget.id} className="block text-xs text-muted">
              {describeBudget(budget)}
            </span>
          ))}
          <Warnings warnings={key.warnings} />
        </>
      ),
    },
    { title: 'Status', cell: ({ state }) => <Badge look={STATE_LOOKS[state]}>{capitalize(state)}</Badge> },
    {
      title: 'Last used',
      look: 'line',
      cell: key => (
        <>
          <span title={key.last_used_at === null ? undefined : formatTime(key.last_used_at)}>
            {formatAgo(key.last_used_at)}
          </span>
          {key.expires_at !== null && (
            <span className="block text-xs text-muted">Expires {formatDate(key.expires_at)}</span>
          )}
        </>
      ),
    },
  ]
}
