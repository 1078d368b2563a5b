/** One conversation of the playground: its model, and its turns. Each turn has the cache decision, the response headers and the request as code. */
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button, Card, ErrorMessage } from '../components/elements.tsx'
import { TextField } from '../components/fields.tsx'
import { ModelPicker } from '../components/model-routes.tsx'
import { CodeSample } from '../components/request-snippets.tsx'
import { escapeControlCharacters, isolateDirection } from '../format.ts'
import type { ChatMessage, ToolCall } from '../send-chat.ts'
import type { ChatThread, ThreadTurn } from '../threads.ts'
import type { Route } from '../types.ts'
import { CacheExplanationCard } from './cache-explanation.tsx'

interface ConversationProps {
  title: string
  thread: ChatThread
  /** The models to choose from. */
  usable: readonly Route[]
  /** The chosen model. */
  route: Route
  baseUrl: string
  action?: ReactNode
  onModel(id: string): void
  /** Sends the results of tool calls to the model. */
  onResults(results: ChatMessage[]): void
}

export function Conversation({
  title,
  thread: { turns, isBusy },
  usable,
  route,
  baseUrl,
  action,
  onModel,
  onResults,
}: ConversationProps) {
  const calls = isBusy ? [] : (turns.at(-1)?.output.toolCalls ?? [])
  return (
    <Card title={title} action={action} className="flex flex-col">
      <div className="border-b border-line p-4">
        <ModelPicker usable={usable} route={route} onChange={onModel} />
      </div>
      {turns.length === 0 && (
        <p className="p-4 text-muted">
          Responses appear here with the cache decision, the response headers, and the same request as code.
        </p>
      )}
      <ol className="divide-y divide-line">
        {turns.map((turn, at) => (
          <li key={at} className="space-y-3 p-4">
            <TurnView turn={turn} isLast={at === turns.length - 1} isBusy={isBusy} baseUrl={baseUrl} />
          </li>
        ))}
      </ol>
      {calls.length > 0 && <ToolResults key={turns.length} calls={calls} onResults={onResults} />}
    </Card>
  )
}

interface TurnViewProps {
  turn: ThreadTurn
  isLast: boolean
  isBusy: boolean
  baseUrl: string
}

function TurnView({ turn, isLast, isBusy, baseUrl }: TurnViewProps) {
  const { messages, output, response, explanation, error } = turn
  return (
    <>
      {messages.map((message, at) => (
        <MessageView key={at} message={message} />
      ))}
      {response && (
        <output className="block break-words whitespace-pre-wrap" aria-busy={isLast && isBusy}>
          {escapeControlCharacters(output.text)}
          {output.toolCalls.map(({ id, function: { name, arguments: args } }) => (
            <code key={id} className="block font-mono text-xs [overflow-wrap:anywhere]">
              {isolateDirection(name)}({isolateDirection(args)})
            </code>
          ))}
        </output>
      )}
      <ErrorMessage error={error} />
      {explanation && (
        <Disclosure title="Cache" isOpen={isLast}>
          <CacheExplanationCard explanation={explanation} question={textOf(messages.at(-1))} />
        </Disclosure>
      )}
      {response && (
        <Disclosure title="Response headers" isOpen={isLast}>
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 font-mono text-xs">
            <dt className="text-muted">status</dt>
            <dd>{response.status}</dd>
            {response.headers.map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-muted">{name}</dt>
                <dd className="[overflow-wrap:anywhere]">{value}</dd>
              </div>
            ))}
          </dl>
        </Disclosure>
      )}
      <Disclosure title="Code" isOpen={false}>
        <p className="mb-2 text-xs text-muted">Set OPENAI_API_KEY to an API key of this project.</p>
        <CodeSample
          use={{
            baseUrl,
            body: turn.body,
            apiKey: null,
            ...(Object.keys(turn.headers).length > 0 && { headers: turn.headers }),
          }}
        />
      </Disclosure>
    </>
  )
}

/** A collapsible section. Its content is rendered only while it is open. */
function Disclosure({ title, isOpen, children }: { title: string; isOpen: boolean; children: ReactNode }) {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const open = chosen ?? isOpen
  return (
    <details open={open} onToggle={event => event.currentTarget.open !== open && setChosen(event.currentTarget.open)}>
      <summary className="py-1 text-xs font-medium text-muted hover:text-ink">{title}</summary>
      {open && <div className="pt-1">{children}</div>}
    </details>
  )
}

function MessageView({ message }: { message: ChatMessage }) {
  const images = Array.isArray(message.content) ? message.content.filter(part => part.type === 'image_url') : []
  return (
    <div className="rounded-lg bg-sunken px-3 py-2">
      <p className="text-xs text-muted">{message.role === 'tool' ? 'Tool result' : 'You'}</p>
      <p className="break-words whitespace-pre-wrap">{escapeControlCharacters(textOf(message))}</p>
      {images.map(({ image_url: { url } }) => (
        <img key={url} src={url} alt="Attachment" className="mt-2 max-h-40 max-w-full rounded-md" />
      ))}
    </div>
  )
}

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? ''
  return Array.isArray(content) ? content.map(part => (part.type === 'text' ? part.text : '')).join('') : content
}

/** The form for the results of the model's tool calls. */
function ToolResults({ calls, onResults }: { calls: readonly ToolCall[]; onResults(results: ChatMessage[]): void }) {
  const [results, setResults] = useState<Record<string, string>>({})
  function submit(event: FormEvent) {
    event.preventDefault()
    onResults(calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: results[id] ?? '' })))
  }
  return (
    <form onSubmit={submit} className="space-y-3 border-t border-line p-4">
      {calls.map(({ id, function: { name } }) => (
        <TextField
          key={id}
          label={`Result of ${isolateDirection(name)}`}
          required
          autoComplete="off"
          value={results[id] ?? ''}
          onChange={value => setResults(before => ({ ...before, [id]: value }))}
        />
      ))}
      <div className="flex justify-end">
        <Button type="submit">Send results</Button>
      </div>
    </form>
  )
}
