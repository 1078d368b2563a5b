/** What buttons do: at once, or after a question; what is asked for again afterwards, and what is shown only then. */
import { useMutation } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { call } from '../api.ts'
import { useRefresh } from '../paged.ts'
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
  /** The question's title is the action's, unless it is said. */
  ask?(subject: Subject): Omit<Question, 'title'> & { title?: string }
  /** A secret in the answer; null where it has none. */
  showOnce?(answer: unknown, subject: Subject): Omit<ComponentProps<typeof ShownOnce>, 'onClose'> | null
  /** Called before anything is asked for again. */
  onDone?(answer: unknown): Promise<unknown>
}

export function mayDo({ needs }: Action<never>, project: Project | null): boolean {
  return needs === undefined || may(project, needs)
}

/** Without a question, `body` is what is sent. */
export type Act<Subject> = (action: Action<Subject>, subject: Subject, body?: unknown) => void

interface Actions<Subject> {
  act: Act<Subject>
  /** Of what is done without a question. */
  error: Error | null
  /** To be put anywhere on the page. */
  dialog: ReactNode
}

interface Asked<Subject> {
  action: Action<Subject>
  subject: Subject
}

/** `refreshes`: how the addresses begin whose answers are asked for again after each action. */
export function useActions<Subject>(
  addressOf: (subject: Subject) => string,
  refreshes: readonly string[],
): Actions<Subject> {
  const [asked, setAsked] = useState<Asked<Subject> | null>(null)
  const sending = useMutation({
    mutationFn: ({ action, subject, body }: Asked<Subject> & { body: unknown }) => {
      const path = `${addressOf(subject)}${action.at ?? ''}`
      return action.method ? call(action.method, path) : call('POST', path, body)
    },
    onSuccess: async (answer, { action, subject }) => {
      await action.onDone?.(answer)
      if (!action.showOnce?.(answer, subject)) setAsked(null)
    },
    onSettled: useRefresh(refreshes),
  })
  function close() {
    setAsked(null)
    sending.reset()
  }
  const { data, variables: done } = sending
  const secret = data !== undefined && done?.action.showOnce?.(data, done.subject)
  const question = asked?.action.ask?.(asked.subject)
  return {
    act(action, subject, body = {}) {
      sending.reset()
      if (action.ask) setAsked({ action, subject })
      else sending.mutate({ action, subject, body })
    },
    error: asked ? null : sending.error,
    dialog: secret ? (
      <ShownOnce {...secret} onClose={close} />
    ) : (
      asked &&
      question && (
        <Ask
          title={asked.action.title}
          {...question}
          sending={{ ...sending, mutate: body => sending.mutate({ ...asked, body }) }}
          onClose={close}
        />
      )
    ),
  }
}

interface ActionButtonProps<Subject> extends Asked<Subject> {
  address: string
  refreshes: readonly string[]
  look: 'primary' | 'plain' | 'danger'
}

/** A button with what it asks, outside of any list. */
export function ActionButton<Subject>({ action, subject, address, refreshes, look }: ActionButtonProps<Subject>) {
  const { act, dialog } = useActions<Subject>(() => address, refreshes)
  return (
    <>
      <Button look={look} onClick={() => act(action, subject)}>
        {action.title}
      </Button>
      {dialog}
    </>
  )
}
