/** The project's own keys for direct providers. */
import { useQuery } from '@tanstack/react-query'
import { mapVendors } from '../../../config/vendors.ts'
import { type Action, type RunAction, useActions } from '../components/actions.tsx'
import { Badge, Button, Card, ErrorMessage, Loading, PageHeader } from '../components/elements.tsx'
import type { FormField } from '../components/form-dialog.tsx'
import { ModelRoutes } from '../components/model-routes.tsx'
import { formatTime, isolateDirection } from '../format.ts'
import { useRoutes } from '../routes.ts'
import { hasRole, PROJECTS_PATH, useProject } from '../session.ts'
import type { ApiPage, Project, ViewRow } from '../types.ts'

type ProviderKey = ViewRow<'project_provider_keys'>

const TITLES: Readonly<Record<string, string>> = mapVendors(({ title }) => title)

/** The name of a key that was stored without one. */
const DEFAULT_KEY = 'default'

type NamedKey = Pick<ProviderKey, 'provider' | 'name'>

function titleOf({ provider, name }: NamedKey): string {
  const title = TITLES[provider] ?? provider
  return name === DEFAULT_KEY ? title : `${title} ${name}`
}

export default function ProviderKeys() {
  const project = useProject()
  return (
    <>
      <PageHeader title="Provider keys">
        With its own key for a provider, a project’s requests for that provider’s native models go there directly. Keys
        are encrypted before they are stored and never shown again; changes apply from the next request on. Several keys
        of one provider share its requests by their weights.
      </PageHeader>
      {project ? <Providers project={project} /> : <Loading />}
    </>
  )
}

function Providers({ project }: { project: Project }) {
  const own = `${PROJECTS_PATH}/${project.id}`
  const path = `${own}/provider_keys`
  const stored = useQuery<ApiPage<ProviderKey> & { providers: string[] }>({ queryKey: [path] })
  const { act, dialog } = useActions<string>(provider => `${path}/${provider}`, [path, `${own}/routes`])
  const mayChange = hasRole(project, 'owner')
  return (
    <>
      <ErrorMessage error={stored.error} />
      {stored.isPending && <Loading />}
      <ul className="grid gap-4 lg:grid-cols-3">
        {stored.data?.providers.map(provider => (
          <li key={provider}>
            <ProviderCard
              provider={provider}
              projectId={project.id}
              keys={stored.data.data}
              act={mayChange ? act : null}
            />
          </li>
        ))}
      </ul>
      {!mayChange && <p className="mt-4 text-muted">Only owners of the project can change provider keys.</p>}
      {dialog}
    </>
  )
}

interface ProviderCardProps {
  projectId: string
  provider: string
  /** Of all providers. */
  keys: readonly ProviderKey[]
  /** Null when the user may change nothing. */
  act: RunAction<string> | null
}

function ProviderCard({ projectId, provider, keys, act }: ProviderCardProps) {
  const title = TITLES[provider] ?? provider
  const own = keys.filter(each => each.provider === provider)
  const isFirst = own.length === 0
  const button = (action: Action<string>, of: string, look: 'primary' | 'plain' | 'danger' = 'plain') => (
    <Button look={look} onClick={() => act?.(action, provider)}>
      {action.title}
      <span className="sr-only"> for {of}</span>
    </Button>
  )
  return (
    <Card className="flex h-full flex-col p-4">
      <div className="flex items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {isFirst ? <Badge>Not set</Badge> : <Badge look="good">Stored</Badge>}
      </div>
      {own.map(key => (
        <div key={key.name} className="mt-2 flex flex-wrap items-center justify-between gap-2">
          <p>
            <code className="font-mono">{key.redacted_value}</code>
            {own.length > 1 && ` ${isolateDirection(key.name)}, weight ${key.weight}`}
            <span className="mt-0.5 block text-xs text-muted">Since {formatTime(key.updated_at)}</span>
          </p>
          {act && (
            <span className="flex gap-2">
              {button(storeAs('Replace', key), titleOf(key))}
              {button(remove(projectId, key, keys), titleOf(key), 'danger')}
            </span>
          )}
        </div>
      ))}
      <div className="mt-3 flex-1">
        <WaysOfNative projectId={projectId} provider={provider} />
      </div>
      {act && (
        <div className="mt-4">
          {isFirst
            ? button(storeAs('Store key', { provider, name: DEFAULT_KEY }), title, 'primary')
            : button(addTo(provider), title)}
        </div>
      )}
    </Card>
  )
}

const VALUE: FormField = {
  name: 'value',
  label: 'Key',
  type: 'password',
  spellCheck: false,
  hint: 'Only its last four characters are shown afterwards.',
  read: text => text.trim(),
}

function storeAs(title: string, { provider, name }: NamedKey): Action<string> {
  return {
    title,
    confirmation: () => ({
      title: `${titleOf({ provider, name })} key`,
      action: 'Store key',
      fields: [{ ...VALUE, hint: `Replaces the stored key. ${VALUE.hint}` }],
      toBody: read => ({ ...read, name }),
    }),
  }
}

function addTo(provider: string): Action<string> {
  return {
    title: 'Add another key',
    confirmation: () => ({
      title: `${TITLES[provider] ?? provider} key`,
      action: 'Store key',
      fields: [
        {
          name: 'name',
          label: 'Name',
          hint: 'Letters, digits, dots, dashes and underscores. Replaces a key of the same name.',
          read: text => text.trim(),
        },
        {
          name: 'weight',
          label: 'Weight',
          type: 'number',
          min: 1,
          max: 1000,
          hint: 'Its share of the requests, against the other keys.',
          initial: '1',
          read: Number,
        },
        VALUE,
      ],
    }),
  }
}

function remove(projectId: string, key: ProviderKey, keys: readonly ProviderKey[]): Action<string> {
  const others = keys.filter(each => each !== key).map(({ provider }) => provider)
  return {
    title: 'Remove',
    method: 'DELETE',
    path: `?name=${encodeURIComponent(key.name)}`,
    confirmation: () => ({
      title: `Remove the ${titleOf(key)} key?`,
      action: 'Remove key',
      text: (
        <>
          <p className="mb-2">From the next request on, until another key is stored:</p>
          <WaysOfNative projectId={projectId} provider={key.provider} withKeysOf={others.length > 0 ? others : ['']} />
        </>
      ),
    }),
  }
}

interface WaysOfNativeProps {
  projectId: string
  provider: string
  /** As if the project had the keys of these. */
  withKeysOf?: readonly string[]
}

/** Who answers a provider's models under their native names. */
function WaysOfNative({ projectId, provider, withKeysOf }: WaysOfNativeProps) {
  const supposed = withKeysOf ? { 'provider_keys[]': withKeysOf } : {}
  const routes = useRoutes(projectId, { native_to: provider, ...supposed })
  if (routes.error) return <ErrorMessage error={routes.error} />
  return routes.data === undefined ? <Loading /> : <ModelRoutes routes={routes.data} />
}
