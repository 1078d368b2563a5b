/** The project's own keys for direct providers. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { byVendor } from '../../../config/vendors.ts'
import { call, get } from '../api.ts'
import { Badge, Button, Card, Loading, PageHeader, Problem } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Ways } from '../components/ways.tsx'
import { formatTime, isolated } from '../format.ts'
import { useRoutes } from '../routes.ts'
import { may, useProject } from '../session.ts'
import type { Page, ProviderKey } from '../types.ts'

const TITLES: Readonly<Record<string, string>> = byVendor(({ title }) => title)

export function ProviderKeys() {
  const project = useProject()
  const queries = useQueryClient()
  const [storing, setStoring] = useState<KeyToStore | null>(null)
  const [removing, setRemoving] = useState<ProviderKey | null>(null)
  const path = `/v1/organization/projects/${project?.id}/provider_keys`
  const stored = useQuery({
    queryKey: [path],
    queryFn: () => get<Page<ProviderKey> & { providers: string[] }>(path),
    enabled: project !== null,
  })
  const refresh = () => {
    for (const queryKey of [[path], ['routes']]) void queries.invalidateQueries({ queryKey })
  }
  const others = stored.data?.data.filter(key => key !== removing).map(({ provider }) => provider) ?? []
  const mayChange = may(project, 'owner')

  return (
    <>
      <PageHeader title="Provider keys">
        With its own key for a provider, a project’s requests for that provider’s native models go there directly. Keys
        are encrypted before they are stored and never shown again; changes apply from the next request on. Several keys
        of one provider share its requests by their weights.
      </PageHeader>
      <Problem error={stored.error} />
      {stored.isPending && <Loading />}
      <ul className="grid gap-4 lg:grid-cols-3">
        {stored.data?.providers.map(provider => (
          <li key={provider}>
            <ProviderCard
              provider={provider}
              projectId={project?.id ?? ''}
              keys={stored.data.data.filter(each => each.provider === provider)}
              actions={mayChange ? { store: setStoring, remove: setRemoving } : null}
            />
          </li>
        ))}
      </ul>
      {!mayChange && <p className="mt-4 text-muted">Only owners of the project can change provider keys.</p>}
      {storing && (
        <StoreKey
          {...storing}
          path={`${path}/${storing.provider}`}
          onDone={() => {
            setStoring(null)
            refresh()
          }}
          onClose={() => setStoring(null)}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove the ${titleOf(removing)} key?`}
          action="Remove key"
          run={() => call('DELETE', `${path}/${removing.provider}?name=${encodeURIComponent(removing.name)}`)}
          onDone={refresh}
          onClose={() => setRemoving(null)}
        >
          <p className="mb-2">From the next request on, until another key is stored:</p>
          <WaysOfNative
            projectId={project?.id ?? ''}
            provider={removing.provider}
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

/** `name` is null for one that is to be named. */
interface KeyToStore {
  provider: string
  name: string | null
}

interface ProviderCardProps {
  projectId: string
  provider: string
  keys: readonly ProviderKey[]
  /** Null when the user may change nothing. */
  actions: { store(key: KeyToStore): void; remove(key: ProviderKey): void } | null
}

/** The name of a key that was stored without one. */
const DEFAULT_KEY = 'default'

function titleOf({ provider, name }: Pick<ProviderKey, 'provider' | 'name'>): string {
  const title = TITLES[provider] ?? provider
  return name === DEFAULT_KEY ? title : `${title} ${name}`
}

function ProviderCard({ projectId, provider, keys, actions }: ProviderCardProps) {
  const title = TITLES[provider] ?? provider
  const isFirst = keys.length === 0
  return (
    <Card className="flex h-full flex-col p-4">
      <div className="flex items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {isFirst ? <Badge>Not set</Badge> : <Badge look="good">Stored</Badge>}
      </div>
      {keys.map(key => (
        <div key={key.name} className="mt-2 flex flex-wrap items-center justify-between gap-2">
          <p>
            <code className="font-mono">{key.redacted_value}</code>
            {keys.length > 1 && ` ${isolated(key.name)}, weight ${key.weight}`}
            <span className="mt-0.5 block text-xs text-muted">Since {formatTime(key.updated_at)}</span>
          </p>
          {actions && (
            <span className="flex gap-2">
              <Button onClick={() => actions.store(key)}>
                Replace<span className="sr-only"> for {titleOf(key)}</span>
              </Button>
              <Button look="danger" onClick={() => actions.remove(key)}>
                Remove<span className="sr-only"> for {titleOf(key)}</span>
              </Button>
            </span>
          )}
        </div>
      ))}
      <div className="mt-3 flex-1">
        <WaysOfNative projectId={projectId} provider={provider} />
      </div>
      {actions && (
        <div className="mt-4">
          <Button
            look={isFirst ? 'primary' : 'plain'}
            onClick={() => actions.store({ provider, name: isFirst ? DEFAULT_KEY : null })}
          >
            {isFirst ? 'Store key' : 'Add another key'}
            <span className="sr-only"> for {title}</span>
          </Button>
        </div>
      )}
    </Card>
  )
}

function StoreKey({
  provider,
  name,
  path,
  onDone,
  onClose,
}: KeyToStore & { path: string; onDone(): void; onClose(): void }) {
  const [value, setValue] = useState('')
  const [chosen, setChosen] = useState('')
  const [weight, setWeight] = useState('1')
  const isNew = name === null
  const named = isNew ? { name: chosen.trim(), weight: Number(weight) } : { name }
  const storing = useMutation({
    mutationFn: () => call('POST', path, { value: value.trim(), ...named }),
    onSuccess: onDone,
  })
  return (
    <FormDialog
      title={`${isNew ? (TITLES[provider] ?? provider) : titleOf({ provider, name })} key`}
      action="Store key"
      sending={storing}
      onClose={onClose}
    >
      {isNew && (
        <>
          <TextField
            label="Name"
            required
            autoComplete="off"
            hint="Letters, digits, dots, dashes and underscores. Replaces a key of the same name."
            value={chosen}
            onChange={setChosen}
          />
          <TextField
            label="Weight"
            type="number"
            required
            min={1}
            max={1000}
            hint="Its share of the requests, against the other keys."
            value={weight}
            onChange={setWeight}
          />
        </>
      )}
      <TextField
        label="Key"
        type="password"
        required
        autoComplete="off"
        spellCheck={false}
        hint={
          isNew
            ? 'Only its last four characters are shown afterwards.'
            : 'Replaces the stored key. Only its last four characters are shown afterwards.'
        }
        value={value}
        onChange={setValue}
      />
    </FormDialog>
  )
}
