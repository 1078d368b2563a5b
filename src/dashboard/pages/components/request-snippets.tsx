/** How to send a first request: in several languages, for a model that the project can reach, with the way that the model takes. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { chooseRoute, useRoutes } from '../routes.ts'
import { useSession } from '../session.ts'
import type { ApiKey } from '../types.ts'
import { CodeSample } from './code-sample.tsx'
import { ErrorMessage, Loading } from './elements.tsx'
import { SelectField } from './fields.tsx'
import { ModelRoute } from './model-routes.tsx'

interface SnippetsProps {
  projectId: string
  keyType: ApiKey['type']
  /** Null where it is not known any more: snippets read it from the environment then. */
  apiKey: string | null
}

export function RequestSnippets({ projectId, keyType, apiKey }: SnippetsProps) {
  const session = useSession()
  const [chosen, setChosen] = useState<string | null>(null)
  const routes = useRoutes(projectId, { key_type: keyType })
  if (routes.error) return <ErrorMessage error={routes.error} />
  if (routes.data === undefined || !session.data) return <Loading />
  const { usable, route } = chooseRoute(routes.data, chosen)
  if (route === undefined) return <NoModelNotice projectId={projectId} />
  const body = { model: route.id, messages: [{ role: 'user' as const, content: 'Hello' }] }
  return (
    <div className="space-y-3">
      <div>
        <SelectField label="Model" value={route.id} choices={usable.map(({ id }) => id)} onChange={setChosen} />
        <ModelRoute route={route} />
      </div>
      <CodeSample use={{ baseUrl: session.data.base_url, body, apiKey }} />
    </div>
  )
}

export function NoModelNotice({ projectId }: { projectId: string }) {
  return (
    <p className="text-muted">
      Project keys reach no model yet: have the operator set AGGREGATOR_API_KEY, or{' '}
      <Link to={`/${projectId}/settings/provider-keys` as never} className="text-accent underline">
        store a key of a provider
      </Link>
      . Test keys are answered by the built-in sandbox.
    </p>
  )
}
