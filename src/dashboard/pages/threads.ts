/** Conversations of the Playground: what was asked, what the cache said of it, and what was answered. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError, sendRequest } from './api.ts'
import {
  type CacheExplanation,
  type ChatBody,
  type ChatMessage,
  explainChat,
  type ModelOutput,
  type ResponseStatus,
  sendChat,
} from './send-chat.ts'
import type { ApiKey } from './types.ts'

/** What all turns have in common, whatever the model. */
export interface ThreadOptions {
  projectId: string
  /** The proxy's; ends in /v1. */
  baseUrl: string
  keyType: ApiKey['type']
  system: string
  /** Fields of the body, such as temperature and tools. */
  parameters: Record<string, unknown>
  headers: Record<string, string>
}

export interface ThreadTurn {
  /** One message of the user, or the results of tools. */
  messages: readonly ChatMessage[]
  /** As it was sent. */
  body: ChatBody
  headers: Record<string, string>
  explanation: CacheExplanation | null
  response: ResponseStatus | null
  output: ModelOutput
  error: Error | null
}

export interface ChatThread {
  turns: readonly ThreadTurn[]
  isBusy: boolean
  /** `isSent`: whether the model is asked too, not the cache alone. */
  send(model: string, asked: readonly ChatMessage[], frame: ThreadOptions, isSent: boolean): Promise<void>
  stop(): void
  clear(): void
}

export function useThread(): ChatThread {
  const queries = useQueryClient()
  const [turns, setTurns] = useState<readonly ThreadTurn[]>([])
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController | null>(null)

  async function ask(
    model: string,
    asked: readonly ChatMessage[],
    frame: ThreadOptions,
    isSent: boolean,
  ): Promise<void> {
    running.current?.abort()
    running.current = new AbortController()
    const { signal } = running.current
    const body: ChatBody = { model, messages: writeMessages(frame.system, turns, asked), ...frame.parameters }
    const { baseUrl, headers } = frame
    const turn: ThreadTurn = {
      messages: asked,
      body,
      headers,
      explanation: null,
      response: null,
      output: { text: '', toolCalls: [] },
      error: null,
    }
    setTurns([...turns, turn])
    setBusy(true)
    const note = (change: Partial<ThreadTurn>) => {
      if (!signal.aborted) setTurns(all => all.with(-1, { ...(all.at(-1) ?? turn), ...change }))
    }
    try {
      const chat = { baseUrl, headers, body, apiKey: await readKey(queries, frame) }
      // The explanation comes first: after the request is sent, the question is an exact hit.
      note({ explanation: await explainChat(chat, signal) })
      if (isSent)
        await sendChat(chat, {
          onHeaders: answered => note({ response: answered }),
          onSaid: said => note({ output: said }),
          signal,
        })
    } catch (error) {
      if (error instanceof ApiError && [401, 403].includes(error.status)) forgetKey(queries, frame)
      note({ error: error instanceof Error ? error : new Error(String(error)) })
    } finally {
      if (running.current?.signal === signal) setBusy(false)
    }
  }
  return {
    turns,
    isBusy,
    send: ask,
    stop() {
      running.current?.abort()
      setBusy(false)
    },
    clear() {
      running.current?.abort()
      setBusy(false)
      setTurns([])
    },
  }
}

/** Turns without an answer are left out, and so are calls of tools whose results were never given. */
function writeMessages(system: string, turns: readonly ThreadTurn[], asked: readonly ChatMessage[]): ChatMessage[] {
  const answered = turns.filter(turn => turn.response !== null && turn.error === null)
  const before = answered.flatMap(({ messages: question, output }, at): ChatMessage[] => {
    const next = answered[at + 1]?.messages ?? asked
    const hasResults = next[0]?.role === 'tool'
    return [
      ...question,
      {
        role: 'assistant',
        content: output.text || (hasResults ? null : ''),
        ...(hasResults && { tool_calls: output.toolCalls }),
      },
    ]
  })
  return [...(system ? [{ role: 'system' as const, content: system }] : []), ...before, ...asked]
}

/** A key lives for an hour, in this page's memory alone. */
const KEPT_MS = 50 * 60_000

const nameKey = ({ projectId, keyType }: ThreadOptions) => ['playground key', projectId, keyType]

function readKey(queries: QueryClient, frame: ThreadOptions): Promise<string> {
  return queries.fetchQuery({
    queryKey: nameKey(frame),
    queryFn: () =>
      sendRequest<{ value: string }>('POST', '/dashboard/api/playground-key', {
        project_id: frame.projectId,
        type: frame.keyType,
      }).then(({ value }) => value),
    staleTime: KEPT_MS,
    gcTime: KEPT_MS,
  })
}

function forgetKey(queries: QueryClient, frame: ThreadOptions): void {
  queries.removeQueries({ queryKey: nameKey(frame) })
}
