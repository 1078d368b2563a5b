/** Code examples of a first request, in several languages, for a selectable model that the project can reach. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { chooseRoute, useModelRoutes } from '../routes.ts'
import { useSession } from '../session.ts'
import type { ApiKey } from '../types.ts'
import { CodeSample } from './code-sample.tsx'
import { ErrorMessage, Loading } from './elements.tsx'
import { ModelPicker } from './model-picker.tsx'

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
      <ModelPicker usable={usable} route={route} onChange={setChosen} />
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
