/** The project's own keys for direct providers. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, get } from '../api.ts'
import { Badge, Button, Card, Loading, PageHeader, Problem } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Ways } from '../components/ways.tsx'
import { formatTime } from '../format.ts'
import { useRoutes } from '../routes.ts'
import { may, useProject } from '../session.ts'
import type { Page, ProviderKey } from '../types.ts'

const TITLES: Record<string, string> = { openai: 'OpenAI', anthropic: 'Anthropic', groq: 'Groq' }

export function ProviderKeys() {
  const project = useProject()
  const queries = useQueryClient()
  const [storing, setStoring] = useState<string | null>(null)
  const [removing, setRemoving] = useState<string | null>(null)
  const path = `/v1/organization/projects/${project?.id}/provider_keys`
  const stored = useQuery({
    queryKey: [path],
    queryFn: () => get<Page<ProviderKey> & { providers: string[] }>(path),
    enabled: project !== null,
  })
  const refresh = () => {
    for (const queryKey of [[path], ['routes']]) void queries.invalidateQueries({ queryKey })
  }
  const others = stored.data?.data.map(({ provider }) => provider).filter(provider => provider !== removing) ?? []
  const mayChange = may(project, 'owner')

  return (
    <>
      <PageHeader title="Provider keys">
        With its own key for a provider, a project’s requests for that provider’s native models go there directly. Keys
        are encrypted before they are stored and never shown again; changes apply from the next request on.
      </PageHeader>
      <Problem error={stored.error} />
      {stored.isPending && <Loading />}
      <ul className="grid gap-4 lg:grid-cols-3">
        {stored.data?.providers.map(provider => (
          <li key={provider}>
            <ProviderCard
              provider={provider}
              projectId={project?.id ?? ''}
              stored={stored.data.data.find(each => each.provider === provider)}
              actions={mayChange ? { store: setStoring, remove: setRemoving } : null}
            />
          </li>
        ))}
      </ul>
      {!mayChange && <p className="mt-4 text-muted">Only owners of the project can change provider keys.</p>}
      {storing && (
        <StoreKey
          title={TITLES[storing] ?? storing}
          path={`${path}/${storing}`}
          onDone={() => {
            setStoring(null)
            refresh()
          }}
          onClose={() => setStoring(null)}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove the ${TITLES[removing] ?? removing} key?`}
          action="Remove key"
          run={() => call('DELETE', `${path}/${removing}`)}
          onDone={refresh}
          onClose={() => setRemoving(null)}
        >
          <p className="mb-2">From the next request on, until another key is stored:</p>
          <WaysOfNative
            projectId={project?.id ?? ''}
            provider={removing}
            withKeysOf={others.length > 0 ? others : ['']}
          />
        </Confirm>
      )}
    </>
  )
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
  if (routes.error) return <Problem error={routes.error} />
  return routes.data === undefined ? <Loading /> : <Ways routes={routes.data} />
}

interface ProviderCardProps {
  projectId: string
  provider: string
  stored: ProviderKey | undefined
  /** Null when the user may change nothing. */
  actions: { store(provider: string): void; remove(provider: string): void } | null
}

function ProviderCard({ projectId, provider, stored: key, actions }: ProviderCardProps) {
  const title = TITLES[provider] ?? provider
  return (
    <Card className="flex h-full flex-col p-4">
      <div className="flex items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {key ? <Badge look="good">Stored</Badge> : <Badge>Not set</Badge>}
      </div>
      {key && (
        <p className="mt-2">
          <code className="font-mono">{key.redacted_value}</code>
          <span className="mt-0.5 block text-xs text-muted">Since {formatTime(key.updated_at)}</span>
        </p>
      )}
      <div className="mt-3 flex-1">
        <WaysOfNative projectId={projectId} provider={provider} />
      </div>
      {actions && (
        <div className="mt-4 flex gap-2">
          <Button look={key ? 'plain' : 'primary'} onClick={() => actions.store(provider)}>
            {key ? 'Replace' : 'Store key'}
            <span className="sr-only"> for {title}</span>
          </Button>
          {key && (
            <Button look="danger" onClick={() => actions.remove(provider)}>
              Remove<span className="sr-only"> for {title}</span>
            </Button>
          )}
        </div>
      )}
    </Card>
  )
}

function StoreKey({ title, path, onDone, onClose }: { title: string; path: string; onDone(): void; onClose(): void }) {
  const [value, setValue] = useState('')
  const storing = useMutation({ mutationFn: () => call('POST', path, { value: value.trim() }), onSuccess: onDone })
  return (
    <FormDialog title={`${title} key`} action="Store key" sending={storing} onClose={onClose}>
      <TextField
        label="Key"
        type="password"
        required
        autoComplete="off"
        spellCheck={false}
        hint="Replaces the stored key. Only its last four characters are shown afterwards."
        value={value}
        onChange={setValue}
      />
    </FormDialog>
  )
}
