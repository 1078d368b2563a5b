/** The provider keys page: adds, replaces and deletes a project's own keys for direct providers. */
import { useQuery } from '@tanstack/react-query'
import { type Action, type RunAction, useActions } from '../components/actions.tsx'
import { Badge, Button, Card, ErrorMessage, Loading, PageHeader, Pending } from '../components/elements.tsx'
import type { FormField } from '../components/form-dialog.tsx'
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
        With a provider key, requests that use the provider’s own model names (such as gpt-4o-mini) are sent directly to
        the provider. Keys are encrypted and never shown again. Several keys of one provider share its requests by
        weight. Changes apply to the next request.
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
      <ul className="grid gap-4 lg:grid-cols-3">
        {stored.data &&
          listWithKeysFirst(stored.data).map(provider => (
            <li key={provider}>
              <ProviderCard
                provider={provider}
                title={stored.data.titles[provider] ?? provider}
                projectId={project.id}
                keys={stored.data.data}
                act={canEdit ? act : null}
              />
            </li>
          ))}
      </ul>
      {!canEdit && <p className="mt-4 text-muted">Only owners of the project can change provider keys.</p>}
      {dialog}
    </>
  )
}

/** Returns the providers, those with keys of the project first. */
function listWithKeysFirst({
  providers,
  data,
}: {
  providers: readonly string[]
  data: readonly ProviderKey[]
}): string[] {
  const hasKey = (provider: string) => Number(data.some(key => key.provider === provider))
  return providers.toSorted((a, b) => hasKey(b) - hasKey(a))
}

interface ProviderCardProps {
  projectId: string
  provider: string
  title: string
  /** The keys of all providers. */
  keys: readonly ProviderKey[]
  /** Null when the user may not change provider keys. */
  act: RunAction<string> | null
}

function ProviderCard({ projectId, provider, title, keys, act }: ProviderCardProps) {
  const ownKeys = keys.filter(each => each.provider === provider)
  const isFirst = ownKeys.length === 0
  const button = (action: Action<string>, keyTitle: string, look: 'primary' | 'plain' | 'danger' = 'plain') => (
    <Button look={look} onClick={() => act?.(action, provider)}>
      {action.title}
      <span className="sr-only"> for {keyTitle}</span>
    </Button>
  )
  return (
    <Card className="flex h-full flex-col p-4">
      <div className="flex items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {isFirst ? <Badge>No key</Badge> : <Badge look="good">Key added</Badge>}
      </div>
      {ownKeys.map(key => (
        <div key={key.name} className="mt-2 flex flex-wrap items-center justify-between gap-2">
          <p>
            <code className="font-mono">{key.redacted_value}</code>
            {ownKeys.length > 1 && ` ${isolateDirection(key.name)}, weight ${key.weight}`}
            <span className="mt-0.5 block text-xs text-muted">Updated {formatTime(key.updated_at)}</span>
          </p>
          {act && (
            <span className="flex gap-2">
              {button(createStoreAction('Replace', title, key), describeKey(title, key))}
              {button(createDeleteAction(projectId, title, key, keys), describeKey(title, key), 'danger')}
            </span>
          )}
        </div>
      ))}
      <div className="mt-3 flex-1">
        <NativeRoutes projectId={projectId} provider={provider} />
      </div>
      {act && (
        <div className="mt-4">
          {isFirst
            ? button(createStoreAction('Add key', title, { name: DEFAULT_KEY }), title, 'primary')
            : button(createAddAction(title), title)}
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
  hint: 'Only the last four characters are shown afterwards.',
  read: text => text.trim(),
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

function createAddAction(title: string): Action<string> {
  return {
    title: 'Add another key',
    confirmation: () => ({
      title: `Add ${title} key`,
      action: 'Save key',
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
          hint: 'The share of requests, relative to the other keys.',
          initial: '1',
          read: Number,
        },
        VALUE,
      ],
    }),
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
