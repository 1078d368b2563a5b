/** Code examples of a first request, in several languages, for a selectable model that the project can reach. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { chooseRoute, useModelRoutes } from '../routes.ts'
import { useSession } from '../session.ts'
import type { ApiKey } from '../types.ts'
import { CodeSample } from './code-sample.tsx'
import { ErrorMessage, Loading } from './elements.tsx'
import { ModelRoute } from './model-routes.tsx'
import { Picker } from './picker.tsx'
import { searchList } from './picker-sources.ts'

interface RequestSnippetsProps {
  projectId: string
  keyType: ApiKey['type']
  /** Null when the value is no longer known. The code then reads it from the environment. */
  apiKey: string | null
}

export function RequestSnippets({ projectId, keyType, apiKey }: RequestSnippetsProps) {
  const session = useSession()
  const [chosen, setChosen] = useState<string | null>(null)
  const routes = useModelRoutes(projectId, { key_type: keyType })
  if (routes.error) return <ErrorMessage error={routes.error} />
  if (routes.data === undefined || !session.data) return <Loading />
  const { usable, route } = chooseRoute(routes.data, chosen)
  if (route === undefined) return <NoModelNotice projectId={projectId} />
  const body = { model: route.id, messages: [{ role: 'user' as const, content: 'Hello' }] }
  return (
    <div className="space-y-3">
      <div>
        <Picker
          label="Model"
          {...searchList(
            'model',
            usable.map(({ id, provider }) => ({ value: id, name: id, detail: provider })),
          )}
          values={[route.id]}
          onChange={([id = route.id]) => setChosen(id)}
        />
        <ModelRoute route={route} />
      </div>
      <CodeSample use={{ baseUrl: session.data.base_url, body, apiKey }} />
    </div>
  )
}

export function NoModelNotice({ projectId }: { projectId: string }) {
  return (
    <p className="text-muted">
      No models are available to project keys. Ask the operator to set AGGREGATOR_API_KEY, or{' '}
      <Link to={`/${projectId}/settings/provider-keys` as never} className="text-accent underline">
        add a provider key
      </Link>
      . Test keys use the built-in sandbox.
    </p>
  )
}
