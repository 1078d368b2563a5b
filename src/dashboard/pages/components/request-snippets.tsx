/** Code examples of requests, in several languages. */
import { useState } from 'react'
import { chooseRoute, useModelRoutes } from '../routes.ts'
import { useSession } from '../session.ts'
import { SNIPPET_WRITERS, type SnippetOptions } from '../snippet-writers.ts'
import type { ApiKey } from '../types.ts'
import { CopyButton, ErrorMessage, Loading, TextLink } from './elements.tsx'
import { SegmentedControl } from './fields.tsx'
import { ModelPicker } from './model-routes.tsx'

interface RequestSnippetsProps {
  projectId: string
  keyType: ApiKey['type']
  /** Null when the value is no longer known. The code then reads it from the environment. */
  apiKey: string | null
}

/** A first request for a selectable model that the project can reach. */
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
      <TextLink to={`/${projectId}/settings/provider-keys`}>add a provider key</TextLink>. Test keys use the built-in
      sandbox.
    </p>
  )
}

/** A chat request as code in a selectable language, with a copy button. */
export function CodeSample({ use }: { use: SnippetOptions }) {
  const [language, setLanguage] = useState('curl')
  const snippet = SNIPPET_WRITERS[language]?.(use) ?? ''
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <SegmentedControl
          label="Language"
          value={language}
          choices={Object.keys(SNIPPET_WRITERS).map(name => [name, name] as const)}
          onChange={setLanguage}
        />
        <CopyButton text={snippet} label="Copy snippet" />
      </div>
      <pre
        className="max-h-96 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
      >
        {snippet}
      </pre>
    </div>
  )
}
