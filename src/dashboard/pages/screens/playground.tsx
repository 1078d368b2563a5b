/** The playground: sends requests to one model, or to two side by side, like a client of the project, and shows the cache decisions. */
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { Button, Card, ErrorMessage, PageHeader, Pending } from '../components/elements.tsx'
import { SegmentedControl, TextArea } from '../components/fields.tsx'
import { NoModelNotice } from '../components/request-snippets.tsx'
import { useFollowedPage } from '../followed-page.ts'
import { chooseRoute, useModelRoutes } from '../routes.ts'
import type { ChatMessage } from '../send-chat.ts'
import { hasRole, useProject, useSession } from '../session.ts'
import { type ChatThread, type ThreadOptions, useThread } from '../threads.ts'
import type { ApiKey, Project } from '../types.ts'
import { Conversation } from './conversation.tsx'
import { DEFAULT_PLAYGROUND_SETTINGS, PlaygroundSettingsForm, toConversationOptions } from './playground-settings.tsx'

/** Images are part of every later turn of a conversation, so their size is limited. */
const MAX_IMAGE_BYTES = 4 * 1024 * 1024

export default function Playground() {
  const project = useProject()
  const session = useSession()
  return (
    <>
      <PageHeader title="Playground">
        Sends requests in the same way as your clients, with a temporary key. The key is valid for one hour and is
        deactivated when you log out. The built-in sandbox is free; providers charge their usual prices.
      </PageHeader>
      {project &&
        session.data &&
        (project.status === 'active' && hasRole(project, 'member') ? (
          <Workspace key={project.id} project={project} baseUrl={session.data.base_url} />
        ) : (
          <p className="text-muted">
            {project.status === 'archived'
              ? 'Requests with the keys of an archived project are rejected.'
              : `Only members of the project can send requests. Your role is ${project.your_role}.`}
          </p>
        ))}
    </>
  )
}

const TYPES = [
  ['test', 'Sandbox, free'],
  ['project', 'Providers'],
] as const

function Workspace({ project, baseUrl }: { project: Project; baseUrl: string }) {
  const [keyType, setKeyType] = useState<ApiKey['type']>('test')
  const [settings, setSettings] = useState(DEFAULT_PLAYGROUND_SETTINGS)
  const [isCompared, setCompared] = useState(false)
  const [models, setModels] = useState<(string | null)[]>([null, null])
  const threads = [useThread(), useThread()]
  const [error, setError] = useState<Error | null>(null)
  const routes = useModelRoutes(project.id, { key_type: keyType })
  const shown = threads.slice(0, isCompared ? 2 : 1)
  const follow = useFollowedPage(threads.flatMap(({ turns }) => turns))
  if (routes.data === undefined) return <Pending error={routes.error} />
  const first = chooseRoute(routes.data, models[0] ?? null)
  const chosen = [first, chooseRoute(routes.data, models[1] ?? null, first.route?.id)]

  /** Sends messages to all visible threads, or to the given ones. With `isSent` false, only the cache decision is requested. */
  function send(messages: ChatMessage[], isSent: boolean, targets: readonly ChatThread[] = shown): void {
    try {
      const options: ThreadOptions = { projectId: project.id, baseUrl, keyType, ...toConversationOptions(settings) }
      setError(null)
      follow()
      for (const thread of targets) {
        const { route } = chosen[threads.indexOf(thread)] ?? {}
        if (route) void thread.send(route.id, messages, options, isSent)
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
            label="Send to"
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
                title={at === 0 ? 'Conversation' : 'Comparison'}
                thread={thread}
                usable={usable}
                route={route}
                baseUrl={baseUrl}
                action={
                  at === shown.length - 1 && (
                    <Button look="quiet" onClick={() => setCompared(!isCompared)}>
                      {isCompared ? 'Close comparison' : 'Compare with another model'}
                    </Button>
                  )
                }
                onModel={model => setModels(before => before.with(at, model))}
                onResults={results => send(results, true, [thread])}
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
          onSend={send}
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
  onSend(messages: ChatMessage[], isSent: boolean): void
  onClear(): void
}

/** The form for the next message, with images. */
function Composer({ threads, error, onSend, onClear }: ComposerProps) {
  const [text, setText] = useState('What is the capital of France?')
  const [images, setImages] = useState<readonly string[]>([])
  /** The number of sent messages. It is the key of the file input, so that each message starts with an empty one. */
  const [sent, setSent] = useState(0)
  const [problem, setProblem] = useState<Error | null>(null)
  const isBusy = threads.some(thread => thread.isBusy)
  function send(isSent: boolean): void {
    const parts = images.map(url => ({ type: 'image_url' as const, image_url: { url } }))
    const content = images.length === 0 ? text : [{ type: 'text' as const, text }, ...parts]
    onSend([{ role: 'user', content }], isSent)
    if (!isSent) return
    setImages([])
    setSent(sent + 1)
  }
  function stop(): void {
    for (const thread of threads) thread.stop()
  }
  async function attach(files: readonly File[]): Promise<void> {
    const isTooLarge = files.reduce((bytes, { size }) => bytes + size, 0) > MAX_IMAGE_BYTES
    setProblem(isTooLarge ? new Error('Attach at most 4 MiB of images at once.') : null)
    setImages(isTooLarge ? [] : await Promise.all(files.map(readAsDataUrl)))
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    send(true)
  }
  function sendOnEnter(event: KeyboardEvent) {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (!isBusy && text !== '') send(true)
  }
  return (
    <Card className="lg:sticky lg:bottom-3 lg:shadow-lg">
      <form onSubmit={submit} className="space-y-3 p-4">
        <TextArea
          label="Message"
          hint="Ctrl+Enter or ⌘+Enter sends the message."
          aria-keyshortcuts="Control+Enter Meta+Enter"
          required
          rows={2}
          value={text}
          onChange={setText}
          onKeyDown={sendOnEnter}
        />
        <ErrorMessage error={error ?? problem} />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <label className="mr-auto flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
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
          {threads.some(({ turns }) => turns.length > 0) && (
            <Button look="quiet" onClick={onClear}>
              Clear conversations
            </Button>
          )}
          <Button disabled={isBusy || text === ''} onClick={() => send(false)}>
            Preview cache decision
          </Button>
          {isBusy ? (
            // The keys differ, so that a click on Stop cannot end on Send and submit the form.
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

function readAsDataUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
