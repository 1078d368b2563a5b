/** What buttons do: at once, or after a question; what is asked for again afterwards, and what is shown only then. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { call } from '../api.ts'
import { may } from '../session.ts'
import type { Project, Role } from '../types.ts'
import { Ask, type Question } from './ask.tsx'
import { Button } from './basics.tsx'
import { ShownOnce } from './shown-once.tsx'

export interface Action<Subject> {
  /** The button's label. */
  title: string
  /** What screen readers say before the subject's name, where it is not the title. */
  label?: string
  look?: 'plain' | 'danger'
  /** The least role in the project that may do it; none: whoever sees the page. */
  needs?: Role
  isFor?(subject: Subject): boolean
  /** POST, unless it is said. */
  method?: 'DELETE'
  /** Where it is sent, below the subject's own address. */
  at?: string
  ask?(subject: Subject): Question
  /** A secret in the answer; null where it has none. */
  showOnce?(answer: unknown, subject: Subject): Omit<ComponentProps<typeof ShownOnce>, 'onClose'> | null
  /** Called before anything is asked for again. */
  onDone?(answer: unknown): Promise<unknown>
}

export function mayDo({ needs }: Action<never>, project: Project | null): boolean {
  return needs === undefined || may(project, needs)
}

interface Done<Subject> {
  action: Action<Subject>
  subject: Subject
  /** The subject's, in the API. */
  address: string
}

interface Actions<Subject> {
  /** Without a question, `body` is what is sent. */
  act(done: Done<Subject>, body?: unknown): void
  /** Of what is done without a question. */
  error: Error | null
  /** To be put anywhere on the page. */
  dialog: ReactNode
}

/** `refreshes`: how the addresses begin whose answers are asked for again after each action. */
export function useActions<Subject>(refreshes: readonly string[]): Actions<Subject> {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<Done<Subject> | null>(null)
  const sending = useMutation({
    mutationFn: ({ action, address, body }: Done<Subject> & { body: unknown }) => {
      const path = `${address}${action.at ?? ''}`
      return action.method ? call(action.method, path) : call('POST', path, body)
    },
    onSuccess: async (answer, { action, subject }) => {
      await action.onDone?.(answer)
      if (!action.showOnce?.(answer, subject)) setAsked(null)
    },
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => refreshes.some(start => String(queryKey[0]).startsWith(start)),
      }),
  })
  function close() {
    setAsked(null)
    sending.reset()
  }
  const { data, variables: done } = sending
  const secret = data !== undefined && done?.action.showOnce?.(data, done.subject)
  const question = asked?.action.ask?.(asked.subject)
  return {
    act(chosen, body = {}) {
      sending.reset()
      if (chosen.action.ask) setAsked(chosen)
      else sending.mutate({ ...chosen, body })
    },
    error: asked ? null : sending.error,
    dialog: secret ? (
      <ShownOnce {...secret} onClose={close} />
    ) : (
      asked &&
      question && (
        <Ask
          {...question}
          sending={{ ...sending, mutate: body => sending.mutate({ ...asked, body }) }}
          onClose={close}
        />
      )
    ),
  }
}

interface ActionButtonProps<Subject> extends Done<Subject> {
  refreshes: readonly string[]
  look: 'primary' | 'plain' | 'danger'
}

/** A button with what it asks, outside of any list. */
export function ActionButton<Subject>({ refreshes, look, ...done }: ActionButtonProps<Subject>) {
  const { act, dialog } = useActions<Subject>(refreshes)
  return (
    <>
      <Button look={look} onClick={() => act(done)}>
        {done.action.title}
      </Button>
      {dialog}
    </>
  )
}
