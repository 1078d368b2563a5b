/** Conversations of the Playground: what was asked, what the cache said of it, and what was answered. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError, call } from './api.ts'
import {
  type Answered,
  type ChatBody,
  type Explanation,
  explainChat,
  type Message,
  type Said,
  sendChat,
} from './ask-model.ts'
import type { ApiKey } from './types.ts'

/** What all turns have in common, whatever the model. */
export interface Frame {
  projectId: string
  /** The proxy's; ends in /v1. */
  baseUrl: string
  keyType: ApiKey['type']
  system: string
  /** Fields of the body, such as temperature and tools. */
  parameters: Record<string, unknown>
  headers: Record<string, string>
}

export interface Turn {
  /** One message of the user, or the results of tools. */
  asked: readonly Message[]
  /** As it was sent. */
  body: ChatBody
  headers: Record<string, string>
  explanation: Explanation | null
  answered: Answered | null
  said: Said
  error: Error | null
}

export interface Thread {
  turns: readonly Turn[]
  isBusy: boolean
  /** `isSent`: whether the model is asked too, not the cache alone. */
  ask(model: string, asked: readonly Message[], frame: Frame, isSent: boolean): Promise<void>
  stop(): void
  clear(): void
}

export function useThread(): Thread {
  const queries = useQueryClient()
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController | null>(null)

  async function ask(model: string, asked: readonly Message[], frame: Frame, isSent: boolean): Promise<void> {
    running.current?.abort()
    running.current = new AbortController()
    const { signal } = running.current
    const body: ChatBody = { model, messages: writeMessages(frame.system, turns, asked), ...frame.parameters }
    const { baseUrl, headers } = frame
    const turn: Turn = {
      asked,
      body,
      headers,
      explanation: null,
      answered: null,
      said: { text: '', toolCalls: [] },
      error: null,
    }
    setTurns([...turns, turn])
    setBusy(true)
    const note = (change: Partial<Turn>) => {
      if (!signal.aborted) setTurns(all => all.with(-1, { ...(all.at(-1) ?? turn), ...change }))
    }
    try {
      const chat = { baseUrl, headers, body, apiKey: await readKey(queries, frame) }
      // The explanation comes first: after the request is sent, the question is an exact hit.
      note({ explanation: await explainChat(chat, signal) })
      if (isSent)
        await sendChat(chat, { onHeaders: answered => note({ answered }), onSaid: said => note({ said }), signal })
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
    ask,
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
function writeMessages(system: string, turns: readonly Turn[], asked: readonly Message[]): Message[] {
  const answered = turns.filter(turn => turn.answered !== null && turn.error === null)
  const before = answered.flatMap(({ asked: question, said }, at): Message[] => {
    const next = answered[at + 1]?.asked ?? asked
    const hasResults = next[0]?.role === 'tool'
    return [
      ...question,
      {
        role: 'assistant',
        content: said.text || (hasResults ? null : ''),
        ...(hasResults && { tool_calls: said.toolCalls }),
      },
    ]
  })
  return [...(system ? [{ role: 'system' as const, content: system }] : []), ...before, ...asked]
}

/** A key lives for an hour, in this page's memory alone. */
const KEPT_MS = 50 * 60_000

const nameKey = ({ projectId, keyType }: Frame) => ['playground key', projectId, keyType]

function readKey(queries: QueryClient, frame: Frame): Promise<string> {
  return queries.fetchQuery({
    queryKey: nameKey(frame),
    queryFn: () =>
      call<{ value: string }>('POST', '/dashboard/api/playground-key', {
        project_id: frame.projectId,
        type: frame.keyType,
      }).then(({ value }) => value),
    staleTime: KEPT_MS,
    gcTime: KEPT_MS,
  })
}

function forgetKey(queries: QueryClient, frame: Frame): void {
  queries.removeQueries({ queryKey: nameKey(frame) })
}
