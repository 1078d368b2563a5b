/** How to send a first request: in several languages, for a model that the project can reach, with the way that the model takes. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRoutes } from '../routes.ts'
import { useSession } from '../session.ts'
import { SNIPPETS } from '../snippets.ts'
import type { ApiKey } from '../types.ts'
import { CopyButton, Loading, Problem } from './basics.tsx'
import { SelectField } from './fields.tsx'
import { Segments } from './segments.tsx'
import { Way } from './ways.tsx'

/** Shown first, where they can be reached: they cost little. */
const PREFERRED = ['openai/gpt-4o-mini', 'gpt-4o-mini']

interface SnippetsProps {
  projectId: string
  keyType: ApiKey['type']
  /** Null where it is not known any more: snippets read it from the environment then. */
  apiKey: string | null
}

export function Snippets({ projectId, keyType, apiKey }: SnippetsProps) {
  const session = useSession()
  const [language, setLanguage] = useState('curl')
  const [chosen, setChosen] = useState<string | null>(null)
  const routes = useRoutes(projectId, { key_type: keyType })
  if (routes.error) return <Problem error={routes.error} />
  if (routes.data === undefined || !session.data) return <Loading />
  const usable = routes.data.filter(({ kind }) => kind === 'chat')
  const route =
    usable.find(({ id }) => id === chosen) ?? usable.find(({ id }) => PREFERRED.includes(id)) ?? usable.at(0)
  if (route === undefined) return <NoModel projectId={projectId} />
  const snippet = SNIPPETS[language]?.({ baseUrl: session.data.base_url, model: route.id, apiKey }) ?? ''
  return (
    <div className="space-y-3">
      <div>
        <SelectField label="Model" value={route.id} choices={usable.map(({ id }) => id)} onChange={setChosen} />
        <Way route={route} />
      </div>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segments
          label="Language"
          value={language}
          choices={Object.keys(SNIPPETS).map(name => [name, name] as const)}
          onChange={setLanguage}
        />
        <CopyButton text={snippet} label="Copy snippet" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre className="overflow-x-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs" tabIndex={0}>
        {snippet}
      </pre>
    </div>
  )
}

function NoModel({ projectId }: { projectId: string }) {
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
