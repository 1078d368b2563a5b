/** What buttons do: at once, or after a question; what is asked for again afterwards, and what is shown only then. */
import { useMutation } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { sendRequest } from '../api.ts'
import { useInvalidateQueries } from '../paged-list.ts'
import { hasRole } from '../session.ts'
import type { Project, Role } from '../types.ts'
import { Button } from './elements.tsx'
import { type DialogContent, FormDialog } from './form-dialog.tsx'
import { SecretDialog } from './secret-dialog.tsx'

export interface Action<Subject> {
  /** The button's label. */
  title: string
  /** What screen readers say before the subject's name, where it is not the title. */
  label?: string
  look?: 'plain' | 'danger'
  /** The least role in the project that may do it; none: whoever sees the page. */
  requiredRole?: Role
  isAvailable?(subject: Subject): boolean
  /** POST, unless it is said. */
  method?: 'DELETE'
  /** Where it is sent, below the subject's own address. */
  path?: string
  /** The question's title is the action's, unless it is said. */
  confirmation?(subject: Subject): Omit<DialogContent, 'title'> & { title?: string }
  /** A secret in the answer; null where it has none. */
  showOnce?(answer: unknown, subject: Subject): Omit<ComponentProps<typeof SecretDialog>, 'onClose'> | null
  /** Called before anything is asked for again. */
  onDone?(answer: unknown): Promise<unknown>
}

export function isActionAllowed({ requiredRole }: Action<never>, project: Project | null): boolean {
  return requiredRole === undefined || hasRole(project, requiredRole)
}

/** Without a question, `body` is what is sent. */
export type RunAction<Subject> = (action: Action<Subject>, subject: Subject, body?: unknown) => void

interface Actions<Subject> {
  act: RunAction<Subject>
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
      const path = `${addressOf(subject)}${action.path ?? ''}`
      return action.method ? sendRequest(action.method, path) : sendRequest('POST', path, body)
    },
    onSuccess: async (answer, { action, subject }) => {
      await action.onDone?.(answer)
      if (!action.showOnce?.(answer, subject)) setAsked(null)
    },
    onSettled: useInvalidateQueries(refreshes),
  })
  function close() {
    setAsked(null)
    sending.reset()
  }
  const { data, variables: done } = sending
  const secret = data !== undefined && done?.action.showOnce?.(data, done.subject)
  const question = asked?.action.confirmation?.(asked.subject)
  return {
    act(action, subject, body = {}) {
      sending.reset()
      if (action.confirmation) setAsked({ action, subject })
      else sending.mutate({ action, subject, body })
    },
    error: asked ? null : sending.error,
    dialog: secret ? (
      <SecretDialog {...secret} onClose={close} />
    ) : (
      asked &&
      question && (
        <FormDialog
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
