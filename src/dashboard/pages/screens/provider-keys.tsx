/** The provider keys page: adds, replaces and deletes a project's own keys for direct providers. */
import { useQuery } from '@tanstack/react-query'
import { type Action, type RunAction, useActions } from '../components/actions.tsx'
import { Card, ErrorMessage, Loading, PageHeader, Pending, RowButton } from '../components/elements.tsx'
import type { FormField } from '../components/form.tsx'
import { ModelRoutes } from '../components/model-routes.tsx'
import { formatTime, isolateDirection } from '../format.ts'
import { useModelRoutes } from '../routes.ts'
import { hasRole, PROJECTS_PATH, useProject } from '../session.ts'
import type { ApiPage, Project, ViewRow } from '../types.ts'

type ProviderKey = ViewRow<'project_provider_keys'>

/** The name of a key that was added without one. */
const DEFAULT_KEY = 'default'

type NamedKey = Pick<ProviderKey, 'name'>

function describeKey(title: string, { name }: NamedKey): string {
  return name === DEFAULT_KEY ? title : `${title} ${name}`
}

export default function ProviderKeys() {
  const project = useProject()
  return (
    <>
      <PageHeader title="Provider keys">
        With a key, requests for a provider’s own model names, such as gpt-4o-mini, go directly to the provider. Keys
        are encrypted and never shown again. Several keys of a provider share its requests by weight.
      </PageHeader>
      {project ? <Providers project={project} /> : <Loading />}
    </>
  )
}

function Providers({ project }: { project: Project }) {
  const projectPath = `${PROJECTS_PATH}/${project.id}`
  const path = `${projectPath}/provider_keys`
  const stored = useQuery<ApiPage<ProviderKey> & { providers: string[]; titles: Record<string, string> }>({
    queryKey: [path],
  })
  const { act, dialog } = useActions<string>(provider => `${path}/${provider}`, [path, `${projectPath}/routes`])
  const canEdit = hasRole(project, 'owner')
  return (
    <>
      <ErrorMessage error={stored.error} />
      {stored.isPending && <Loading />}
      {stored.data && (
        <div className="space-y-5">
          {(['Keys of this project', 'Providers without a key'] as const).map((title, at) => (
            <ProviderList
              key={title}
              title={title}
              providers={stored.data.providers.filter(provider => hasKey(stored.data.data, provider) === (at === 0))}
              titles={stored.data.titles}
              keys={stored.data.data}
              projectId={project.id}
              act={canEdit ? act : null}
            />
          ))}
        </div>
      )}
      {!canEdit && <p className="mt-4 text-muted">Only owners of the project can change provider keys.</p>}
      {dialog}
    </>
  )
}

function hasKey(keys: readonly ProviderKey[], provider: string): boolean {
  return keys.some(key => key.provider === provider)
}

interface ProviderListProps {
  title: string
  providers: readonly string[]
  titles: Record<string, string>
  projectId: string
  /** The keys of all providers. */
  keys: readonly ProviderKey[]
  /** Null when the user may not change provider keys. */
  act: RunAction<string> | null
}

function ProviderList({ title, providers, titles, ...shared }: ProviderListProps) {
  if (providers.length === 0) return null
  return (
    <Card title={title}>
      <ul className="divide-y divide-line">
        {providers.map(provider => (
          <ProviderRow key={provider} provider={provider} title={titles[provider] ?? provider} {...shared} />
        ))}
      </ul>
    </Card>
  )
}

interface ProviderRowProps extends Pick<ProviderListProps, 'projectId' | 'keys' | 'act'> {
  provider: string
  title: string
}

function ProviderRow({ projectId, provider, title, keys, act }: ProviderRowProps) {
  const ownKeys = keys.filter(each => each.provider === provider)
  const button = (action: Action<string>, keyTitle: string, look: 'plain' | 'danger' = 'plain') => (
    <RowButton look={look} onClick={() => act?.(action, provider)}>
      {action.title}
      <span className="sr-only"> for {keyTitle}</span>
    </RowButton>
  )
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-1 px-4 py-2 sm:grid-cols-[12rem_minmax(0,1fr)_auto]">
      <h3 className="font-medium">{title}</h3>
      <div className="row-start-2 space-y-1 max-sm:col-span-2 sm:row-start-1 sm:col-start-2">
        {ownKeys.map(key => (
          <div key={key.name} className="flex flex-wrap items-center justify-between gap-x-3">
            <p className="min-w-0">
              <code className="font-mono">{key.redacted_value}</code>
              {ownKeys.length > 1 && ` ${isolateDirection(key.name)}, weight ${key.weight}`}
              <span className="ml-2 text-xs text-muted">Updated {formatTime(key.updated_at)}</span>
            </p>
            {act && (
              <span className="flex gap-1">
                {button(createStoreAction('Replace', title, key), describeKey(title, key))}
                {button(createDeleteAction(projectId, title, key, keys), describeKey(title, key), 'danger')}
              </span>
            )}
          </div>
        ))}
        <NativeRoutes projectId={projectId} provider={provider} />
      </div>
      {act && (
        <div className="col-start-2 row-start-1 sm:col-start-3">
          {ownKeys.length === 0
            ? button(createStoreAction('Add key', title, { name: DEFAULT_KEY }), title)
            : button(createAddAction(title), title)}
        </div>
      )}
    </li>
  )
}

const VALUE: FormField = {
  name: 'value',
  label: 'Key',
  type: 'password',
  spellCheck: false,
  hint: 'Only the last four characters are shown afterwards.',
  read: text => text.trim(),
}

const NAME: FormField = {
  name: 'name',
  label: 'Name',
  hint: 'Letters, digits, dots, dashes and underscores. Replaces a key of the same name.',
  read: text => text.trim(),
}
const WEIGHT: FormField = {
  name: 'weight',
  label: 'Weight',
  type: 'number',
  min: 1,
  max: 1000,
  hint: 'The share of requests, relative to the other keys.',
  initial: '1',
  read: Number,
}

function createStoreAction(title: 'Add key' | 'Replace', vendor: string, key: NamedKey): Action<string> {
  const isReplacement = title === 'Replace'
  return {
    title,
    confirmation: () => ({
      title: `${isReplacement ? 'Replace' : 'Add'} ${describeKey(vendor, key)} key`,
      action: 'Save key',
      fields: [isReplacement ? { ...VALUE, hint: `Replaces the current key. ${VALUE.hint}` } : VALUE],
      toBody: read => ({ ...read, name: key.name }),
    }),
  }
}

function createAddAction(vendor: string): Action<string> {
  return {
    title: 'Add another key',
    confirmation: () => ({ title: `Add ${vendor} key`, action: 'Save key', fields: [NAME, WEIGHT, VALUE] }),
  }
}

function createDeleteAction(
  projectId: string,
  title: string,
  key: ProviderKey,
  keys: readonly ProviderKey[],
): Action<string> {
  const others = keys.filter(each => each !== key).map(({ provider }) => provider)
  return {
    title: 'Delete',
    method: 'DELETE',
    path: `?name=${encodeURIComponent(key.name)}`,
    confirmation: () => ({
      title: `Delete the ${describeKey(title, key)} key?`,
      action: 'Delete key',
      text: (
        <>
          <p className="mb-2">After that, requests are routed as follows:</p>
          <NativeRoutes projectId={projectId} provider={key.provider} withKeysOf={others.length > 0 ? others : ['']} />
        </>
      ),
    }),
  }
}

interface NativeRoutesProps {
  projectId: string
  provider: string
  /** Shows the routes as if the project had keys of these providers only. */
  withKeysOf?: readonly string[]
}

/** Shows which provider handles a provider's models under their native names. */
function NativeRoutes({ projectId, provider, withKeysOf }: NativeRoutesProps) {
  const assumed = withKeysOf ? { 'provider_keys[]': withKeysOf } : {}
  const routes = useModelRoutes(projectId, { native_to: provider, ...assumed })
  return routes.data === undefined ? <Pending error={routes.error} /> : <ModelRoutes routes={routes.data} />
}
