/** Conversations of the playground: messages, cache explanations and responses. */
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

/** The options of all turns, independent of the model. */
export interface ThreadOptions {
  projectId: string
  /** The base URL of the proxy, which ends in /v1. */
  baseUrl: string
  keyType: ApiKey['type']
  system: string
  /** Fields of the request body, such as temperature and tools. */
  parameters: Record<string, unknown>
  headers: Record<string, string>
}

export interface ThreadTurn {
  /** A message of the user, or the results of tool calls. */
  messages: readonly ChatMessage[]
  /** The request body as sent. */
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
  /** Requests the cache explanation, and with `isSent` also sends the chat request. */
  send(model: string, messages: readonly ChatMessage[], options: ThreadOptions, isSent: boolean): Promise<void>
  stop(): void
  clear(): void
}

export function useThread(): ChatThread {
  const queries = useQueryClient()
  const [turns, setTurns] = useState<readonly ThreadTurn[]>([])
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController | null>(null)

  async function send(
    model: string,
    messages: readonly ChatMessage[],
    options: ThreadOptions,
    isSent: boolean,
  ): Promise<void> {
    running.current?.abort()
    running.current = new AbortController()
    const { signal } = running.current
    const body: ChatBody = { model, messages: buildMessages(options.system, turns, messages), ...options.parameters }
    const { baseUrl, headers } = options
    const turn: ThreadTurn = {
      messages,
      body,
      headers,
      explanation: null,
      response: null,
      output: { text: '', toolCalls: [] },
      error: null,
    }
    setTurns([...turns, turn])
    setBusy(true)
    const update = (change: Partial<ThreadTurn>) => {
      if (!signal.aborted) setTurns(all => all.with(-1, { ...(all.at(-1) ?? turn), ...change }))
    }
    try {
      const chat = { baseUrl, headers, body, apiKey: await readKey(queries, options) }
      // The explanation comes first: after the request is sent, the question is an exact hit.
      update({ explanation: await explainChat(chat, signal) })
      if (isSent)
        await sendChat(chat, {
          onHeaders: response => update({ response }),
          onOutput: output => update({ output }),
          signal,
        })
    } catch (error) {
      if (error instanceof ApiError && [401, 403].includes(error.status)) discardKey(queries, options)
      update({ error: error instanceof Error ? error : new Error(String(error)) })
    } finally {
      if (running.current?.signal === signal) setBusy(false)
    }
  }
  return {
    turns,
    isBusy,
    send,
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

/** Builds the messages of a request from the conversation. Turns without a response, and tool calls without results, are omitted. */
function buildMessages(system: string, turns: readonly ThreadTurn[], messages: readonly ChatMessage[]): ChatMessage[] {
  const answered = turns.filter(turn => turn.response !== null && turn.error === null)
  const before = answered.flatMap(({ messages: question, output }, at): ChatMessage[] => {
    const next = answered[at + 1]?.messages ?? messages
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
  return [...(system ? [{ role: 'system' as const, content: system }] : []), ...before, ...messages]
}

/** A playground key is valid for an hour. It is stored in the memory of the page only. */
const KEY_CACHE_MS = 50 * 60_000

const keyQuery = ({ projectId, keyType }: ThreadOptions) => ['playground key', projectId, keyType]

function readKey(queries: QueryClient, options: ThreadOptions): Promise<string> {
  return queries.fetchQuery({
    queryKey: keyQuery(options),
    queryFn: () =>
      sendRequest<{ value: string }>('POST', '/dashboard/api/playground-key', {
        project_id: options.projectId,
        type: options.keyType,
      }).then(({ value }) => value),
    staleTime: KEY_CACHE_MS,
    gcTime: KEY_CACHE_MS,
  })
}

function discardKey(queries: QueryClient, options: ThreadOptions): void {
  queries.removeQueries({ queryKey: keyQuery(options) })
}
