/** Lists the steps to a project's first request: provider, API key, request. */
import type { ReactNode } from 'react'
import { Card, TextLink } from '../components/elements.tsx'

/** The steps that are done. */
export interface StepsDone {
  hasModels: boolean
  hasKey: boolean
  isUsed: boolean
}

export default function FirstSteps({ projectId, hasModels, hasKey, isUsed }: StepsDone & { projectId: string }) {
  return (
    <Card title="Get started" className="mb-5">
      <ol className="divide-y divide-line">
        <Step
          isDone={hasModels}
          title="Connect a provider"
          to={`/${projectId}/settings/provider-keys`}
          action="Provider keys"
        >
          Add a provider key, or ask the operator of the proxy to connect an aggregator such as OpenRouter
          (AGGREGATOR_API_KEY). Test keys need neither: they use the built-in sandbox.
        </Step>
        <Step isDone={hasKey} title="Create an API key" to={`/${projectId}/settings/keys`} action="API keys">
          Clients send the key with every request. Create a separate key for each service and environment.
        </Step>
        <Step isDone={isUsed} title="Send a request" to={`/${projectId}/settings/keys#use`} action="Code examples">
          The request appears here within two seconds of its response.
        </Step>
      </ol>
    </Card>
  )
}

interface StepProps {
  isDone: boolean
  title: string
  to: string
  action: string
  children: ReactNode
}

function Step({ isDone, title, to, action, children }: StepProps) {
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <span
        aria-hidden="true"
        className={`mt-0.5 grid size-5 shrink-0 place-items-center rounded-full border text-xs ${isDone ? 'border-transparent bg-accent text-surface' : 'border-line'}`}
      >
        {isDone ? '✓' : ''}
      </span>
      <div className="min-w-0 flex-1">
        <p className={isDone ? 'text-muted' : 'font-medium'}>
          {title}
          <span className="sr-only">{isDone ? ': done' : ': to do'}</span>
        </p>
        {!isDone && (
          <p className="mt-0.5 text-muted">
            {children} <TextLink to={to}>{action}</TextLink>
          </p>
        )}
      </div>
    </li>
  )
}
