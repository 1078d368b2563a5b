/** One conversation of the Playground: its model, and its turns, each with what the cache said of it and how it would be sent by a program. */
import { type FormEvent, type ReactNode, useState } from 'react'
import { CodeSample } from '../components/code-sample.tsx'
import { Button, Card, ErrorMessage } from '../components/elements.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { ModelRoute } from '../components/model-routes.tsx'
import { escapeControlCharacters, isolateDirection } from '../format.ts'
import type { ChatMessage, ToolCall } from '../send-chat.ts'
import type { ChatThread, ThreadTurn } from '../threads.ts'
import type { Route } from '../types.ts'
import { CacheExplanationCard } from './cache-explanation.tsx'

interface ConversationProps {
  title: string
  thread: ChatThread
  /** Those that can be chosen, and the one that is. */
  usable: readonly Route[]
  route: Route
  baseUrl: string
  action?: ReactNode
  onModel(id: string): void
  /** Gives the model what its tools found. */
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
        <SelectField label="Model" value={route.id} choices={usable.map(({ id }) => id)} onChange={onModel} />
        <ModelRoute route={route} />
      </div>
      {turns.length === 0 && (
        <p className="p-4 text-muted">
          Answers appear here as they arrive, each with what the cache made of the question, the response’s headers, and
          the same request as code.
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
  const { messages, output: said, response, explanation, error } = turn
  return (
    <>
      {messages.map((message, at) => (
        <Asked key={at} message={message} />
      ))}
      {response && (
        <output className="block break-words whitespace-pre-wrap" aria-busy={isLast && isBusy}>
          {escapeControlCharacters(said.text)}
          {said.toolCalls.map(({ id, function: { name, arguments: given } }) => (
            <code key={id} className="block font-mono text-xs [overflow-wrap:anywhere]">
              {isolateDirection(name)}({isolateDirection(given)})
            </code>
          ))}
        </output>
      )}
      <ErrorMessage error={error} />
      {explanation && (
        <Fold title="What the cache made of it" isOpen={isLast}>
          <CacheExplanationCard explanation={explanation} asked={textOf(messages.at(-1))} />
        </Fold>
      )}
      {response && (
        <Fold title="Response headers" isOpen={isLast}>
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
        </Fold>
      )}
      <Fold title="As code" isOpen={false}>
        <p className="mb-2 text-xs text-muted">It takes a key of the project from OPENAI_API_KEY.</p>
        <CodeSample
          use={{
            baseUrl,
            body: turn.body,
            apiKey: null,
            ...(Object.keys(turn.headers).length > 0 && { headers: turn.headers }),
          }}
        />
      </Fold>
    </>
  )
}

/** Its content is made when it is opened. */
function Fold({ title, isOpen, children }: { title: string; isOpen: boolean; children: ReactNode }) {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const open = chosen ?? isOpen
  return (
    <details open={open} onToggle={event => event.currentTarget.open !== open && setChosen(event.currentTarget.open)}>
      <summary className="py-1 text-xs font-medium text-muted hover:text-ink">{title}</summary>
      {open && <div className="pt-1">{children}</div>}
    </details>
  )
}

function Asked({ message }: { message: ChatMessage }) {
  const images = Array.isArray(message.content) ? message.content.filter(part => part.type === 'image_url') : []
  return (
    <div className="rounded-lg bg-sunken px-3 py-2">
      <p className="text-xs text-muted">{message.role === 'tool' ? 'Result of a tool' : 'You'}</p>
      <p className="break-words whitespace-pre-wrap">{escapeControlCharacters(textOf(message))}</p>
      {images.map(({ image_url: { url } }) => (
        <img key={url} src={url} alt="Attached" className="mt-2 max-h-40 max-w-full rounded-md" />
      ))}
    </div>
  )
}

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? ''
  return Array.isArray(content) ? content.map(part => (part.type === 'text' ? part.text : '')).join('') : content
}

/** The model waits for what its tools found. */
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
