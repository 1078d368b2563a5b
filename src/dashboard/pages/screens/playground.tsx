/** Talks to one model, or to two side by side, as a client of the project would, with what the cache makes of each question. */
import { type FormEvent, useState } from 'react'
import { Button, Card, ErrorMessage, Loading, PageHeader } from '../components/elements.tsx'
import { TextArea } from '../components/fields.tsx'
import { NoModelNotice } from '../components/request-snippets.tsx'
import { SegmentedControl } from '../components/segmented-control.tsx'
import { chooseRoute, useRoutes } from '../routes.ts'
import type { ChatMessage } from '../send-chat.ts'
import { hasRole, useProject, useSession } from '../session.ts'
import { type ChatThread, type ThreadOptions, useThread } from '../threads.ts'
import type { ApiKey, Project } from '../types.ts'
import { Conversation } from './conversation.tsx'
import { DEFAULT_PLAYGROUND_SETTINGS, PlaygroundSettingsForm, toThreadOptions } from './playground-settings.tsx'

/** What a browser keeps, sends and repeats in each turn without effort. */
const MOST_IMAGE_BYTES = 4 * 1024 * 1024

export default function Playground() {
  const project = useProject()
  const session = useSession()
  return (
    <>
      <PageHeader title="Playground">
        Asks as your clients do, with a key that ends with your login: the built-in sandbox, free of charge, or the
        project’s providers, at their price.
      </PageHeader>
      {project &&
        session.data &&
        (project.status === 'active' && hasRole(project, 'member') ? (
          <Trial key={project.id} project={project} baseUrl={session.data.base_url} />
        ) : (
          <p className="text-muted">
            {project.status === 'archived'
              ? 'The keys of an archived project are refused.'
              : `Members of the project may ask. You are ${project.your_role} of it.`}
          </p>
        ))}
    </>
  )
}

const TYPES = [
  ['test', 'Sandbox, free'],
  ['project', 'Providers'],
] as const

function Trial({ project, baseUrl }: { project: Project; baseUrl: string }) {
  const [keyType, setKeyType] = useState<ApiKey['type']>('test')
  const [settings, setSettings] = useState(DEFAULT_PLAYGROUND_SETTINGS)
  const [isCompared, setCompared] = useState(false)
  const [models, setModels] = useState<(string | null)[]>([null, null])
  const threads = [useThread(), useThread()]
  const [error, setError] = useState<Error | null>(null)
  const routes = useRoutes(project.id, { key_type: keyType })
  const shown = threads.slice(0, isCompared ? 2 : 1)
  if (routes.data === undefined) return routes.error ? <ErrorMessage error={routes.error} /> : <Loading />
  const first = chooseRoute(routes.data, models[0] ?? null)
  const chosen = [first, chooseRoute(routes.data, models[1] ?? null, first.route?.id)]

  /** Asks all threads that are shown, or one of them. */
  function ask(asked: ChatMessage[], isSent: boolean, which: readonly ChatThread[] = shown): void {
    try {
      const frame: ThreadOptions = { projectId: project.id, baseUrl, keyType, ...toThreadOptions(settings) }
      setError(null)
      for (const thread of which) {
        const { route } = chosen[threads.indexOf(thread)] ?? {}
        if (route) void thread.send(route.id, asked, frame, isSent)
      }
    } catch (problem) {
      setError(problem as Error)
    }
  }
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[17rem_minmax(0,1fr)]">
      <Card title="Request">
        <div className="space-y-4 p-4">
          <SegmentedControl
            label="Answered by"
            value={keyType}
            choices={TYPES}
            onChange={type => setKeyType(type as ApiKey['type'])}
          />
          <PlaygroundSettingsForm settings={settings} onChange={setSettings} />
        </div>
      </Card>
      <div className="min-w-0 space-y-5">
        <div className={`grid items-start gap-5 ${isCompared ? 'xl:grid-cols-2' : ''}`}>
          {shown.map((thread, at) => {
            const { usable = [], route } = chosen[at] ?? {}
            return route ? (
              <Conversation
                key={at}
                title={at === 0 ? 'Conversation' : 'Beside it'}
                thread={thread}
                usable={usable}
                route={route}
                baseUrl={baseUrl}
                action={
                  at === shown.length - 1 && (
                    <Button look="quiet" onClick={() => setCompared(!isCompared)}>
                      {isCompared ? 'Close' : 'Compare with another model'}
                    </Button>
                  )
                }
                onModel={model => setModels(before => before.with(at, model))}
                onResults={results => ask(results, true, [thread])}
              />
            ) : (
              <Card key="none" className="p-4">
                <NoModelNotice projectId={project.id} />
              </Card>
            )
          })}
        </div>
        <Composer
          threads={shown}
          error={error}
          onAsk={ask}
          onClear={() => {
            for (const thread of threads) thread.clear()
          }}
        />
      </div>
    </div>
  )
}

interface ComposerProps {
  threads: readonly ChatThread[]
  error: Error | null
  onAsk(asked: ChatMessage[], isSent: boolean): void
  onClear(): void
}

/** Writes the next question, and attaches images to it. */
function Composer({ threads, error, onAsk, onClear }: ComposerProps) {
  const [text, setText] = useState('What is the capital of France?')
  const [images, setImages] = useState<readonly string[]>([])
  /** Counts what was sent: each message has a field for images of its own. */
  const [sent, setSent] = useState(0)
  const [problem, setProblem] = useState<Error | null>(null)
  const isBusy = threads.some(thread => thread.isBusy)
  function ask(isSent: boolean): void {
    const parts = images.map(url => ({ type: 'image_url' as const, image_url: { url } }))
    const content = images.length === 0 ? text : [{ type: 'text' as const, text }, ...parts]
    onAsk([{ role: 'user', content }], isSent)
    if (!isSent) return
    setImages([])
    setSent(sent + 1)
  }
  function stop(): void {
    for (const thread of threads) thread.stop()
  }
  async function attach(files: readonly File[]): Promise<void> {
    const isTooMuch = files.reduce((bytes, { size }) => bytes + size, 0) > MOST_IMAGE_BYTES
    setProblem(isTooMuch ? new Error('Attach at most 4 MiB of images at once.') : null)
    setImages(isTooMuch ? [] : await Promise.all(files.map(readAsUrl)))
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    ask(true)
  }
  return (
    <Card className="lg:sticky lg:bottom-3 lg:shadow-lg">
      <form onSubmit={submit} className="space-y-3 p-4">
        <TextArea label="Message" required rows={3} value={text} onChange={setText} />
        <label className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
          Images
          <input
            key={sent}
            type="file"
            accept="image/png,image/jpeg,image/webp,image/gif"
            multiple
            className="max-w-full min-w-0 rounded-md border border-line p-1 text-ink"
            onChange={event => void attach([...(event.target.files ?? [])])}
          />
        </label>
        <ErrorMessage error={error ?? problem} />
        <div className="flex flex-wrap justify-end gap-2">
          {threads.some(({ turns }) => turns.length > 0) && (
            <Button look="quiet" onClick={onClear}>
              Start again
            </Button>
          )}
          <Button disabled={isBusy || text === ''} onClick={() => ask(false)}>
            Explain only
          </Button>
          {isBusy ? (
            // Another element than the one below: a click on it must not end as one that submits.
            <Button key="stop" look="danger" onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button key="send" type="submit" look="primary">
              Send
            </Button>
          )}
        </div>
      </form>
    </Card>
  )
}

function readAsUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
