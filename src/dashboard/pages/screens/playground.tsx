/** Sends a question with a test key, and shows the response as it arrives, its headers, and the cache's explanation. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useDeferredValue, useRef, useState } from 'react'
import { call } from '../api.ts'
import { type Answered, type Chat, type Explanation, explainChat, sendChat } from '../ask-model.ts'
import { Button, Card, PageHeader, Problem } from '../components/basics.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { Way } from '../components/ways.tsx'
import { useRoutes } from '../routes.ts'
import { may, useProject, useSession } from '../session.ts'
import type { ApiKey, Project } from '../types.ts'
import { Explained } from './explained.tsx'

const CACHE_CONTROLS = [
  ['', 'As the project’s policy says'],
  ['no-cache', 'Ask the provider and store the answer (no-cache)'],
  ['no-store', 'Ask the provider and store nothing (no-store)'],
  ['only-if-cached', 'Only from the cache (only-if-cached)'],
] as const

const HOUR_SECONDS = 3600
const MODEL = 'openai/gpt-4o-mini'

interface Outcome {
  explanation: Explanation | null
  answered: Answered | null
  text: string
}

const NOTHING: Outcome = { explanation: null, answered: null, text: '' }

export function Playground() {
  const project = useProject()
  const session = useSession()
  return (
    <>
      <PageHeader title="Playground">
        Ask with a test key: the built-in sandbox answers, free of charge, through the same cache as everything else.
      </PageHeader>
      {project && session.data && <Trial key={project.id} project={project} baseUrl={session.data.base_url} />}
    </>
  )
}

function Trial({ project, baseUrl }: { project: Project; baseUrl: string }) {
  const [apiKey, setApiKey] = useState('')
  const [model, setModel] = useState(MODEL)
  const [message, setMessage] = useState('What is the capital of France?')
  const [isStreamed, setStreamed] = useState(true)
  const [control, setControl] = useState('')
  const [outcome, setOutcome] = useState(NOTHING)
  const running = useRef<AbortController | null>(null)
  const note = (change: Partial<Outcome>) => setOutcome(before => ({ ...before, ...change }))

  const asking = useMutation({
    mutationFn: async (isSent: boolean) => {
      running.current?.abort()
      running.current = new AbortController()
      const { signal } = running.current
      const chat: Chat = { baseUrl, apiKey, model, message, stream: isStreamed, headers: { 'cache-control': control } }
      setOutcome(NOTHING)
      // The explanation comes first: after the request is sent, the question is an exact hit.
      note({ explanation: await explainChat(chat, signal) })
      if (isSent)
        await sendChat(chat, { onHeaders: answered => note({ answered }), onText: text => note({ text }), signal })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    asking.mutate(true)
  }
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
      <Card title="Question">
        <form onSubmit={submit} className="space-y-4 p-4">
          <KeyField project={project} value={apiKey} onChange={setApiKey} />
          <div>
            <TextField label="Model" required autoComplete="off" value={model} onChange={setModel} />
            <ModelsWay projectId={project.id} model={model} apiKey={apiKey} />
          </div>
          <MessageField value={message} onChange={setMessage} />
          <SelectField label="Cache" value={control} choices={CACHE_CONTROLS} onChange={setControl} />
          <StreamField checked={isStreamed} onChange={setStreamed} />
          <Problem error={asking.error} />
          <div className="flex flex-wrap justify-end gap-2">
            <Button disabled={asking.isPending || apiKey === ''} onClick={() => asking.mutate(false)}>
              Explain only
            </Button>
            <Button type="submit" look="primary" disabled={asking.isPending || apiKey === ''}>
              {asking.isPending ? 'Asking…' : 'Send'}
            </Button>
          </div>
        </form>
      </Card>
      <div className="space-y-5">
        <AnswerCard outcome={outcome} />
        {outcome.explanation && <Explained explanation={outcome.explanation} asked={message} />}
      </div>
    </div>
  )
}

function ModelsWay({ projectId, model, apiKey }: { projectId: string; model: string; apiKey: string }) {
  const asked = useDeferredValue(model.trim())
  const key_type = apiKey.startsWith('lgw_proj_') ? 'project' : 'test'
  const routes = useRoutes(projectId, { key_type, 'models[]': [asked] }, asked !== '')
  const [route] = routes.data ?? []
  return route ? <Way route={route} /> : null
}

function MessageField({ value, onChange }: { value: string; onChange(message: string): void }) {
  return (
    <label className="block">
      <span className="mb-1 block font-medium">Message</span>
      <textarea
        required
        rows={5}
        value={value}
        onChange={event => onChange(event.target.value)}
        className="w-full rounded-lg border border-line bg-surface px-3 py-2 text-ink"
      />
    </label>
  )
}

function StreamField({ checked, onChange }: { checked: boolean; onChange(isStreamed: boolean): void }) {
  return (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        checked={checked}
        onChange={event => onChange(event.target.checked)}
        className="size-4 accent-(--accent)"
      />
      Stream the answer
    </label>
  )
}

/** The key is pasted, or created here for an hour. It never leaves this page's memory. */
function KeyField({ project, value, onChange }: { project: Project; value: string; onChange(key: string): void }) {
  const making = useMutation({
    mutationFn: () =>
      call<ApiKey & { value: string }>('POST', `/v1/organization/projects/${project.id}/api_keys`, {
        name: `playground ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`,
        type: 'test',
        expires_in_seconds: HOUR_SECONDS,
      }),
    onSuccess: made => onChange(made.value),
  })
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-end gap-2">
        <TextField
          label="Test key"
          className="min-w-48 flex-1"
          required
          autoComplete="off"
          placeholder="lgw_test_…"
          value={value}
          onChange={value => onChange(value.trim())}
        />
        {may(project, 'member') && (
          <Button disabled={making.isPending} onClick={() => making.mutate()}>
            Create one for an hour
          </Button>
        )}
      </div>
      <Problem error={making.error} />
    </div>
  )
}

function AnswerCard({ outcome: { answered, text } }: { outcome: Outcome }) {
  if (answered === null) {
    return (
      <Card title="Answer">
        <p className="p-4 text-muted">The answer appears here as it arrives, with the response headers.</p>
      </Card>
    )
  }
  return (
    <Card title="Answer">
      <output className="block px-4 py-3 break-words whitespace-pre-wrap">{text}</output>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 border-t border-line px-4 py-3 font-mono text-xs">
        <dt className="text-muted">status</dt>
        <dd>{answered.status}</dd>
        {answered.headers.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
