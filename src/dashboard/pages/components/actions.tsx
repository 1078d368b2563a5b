/** Actions of buttons: the request, an optional confirmation dialog, the lists to refetch, and a secret to show once. */
import { useMutation } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { sendRequest } from '../api.ts'
import { useInvalidateQueries } from '../queries.ts'
import { hasRole } from '../session.ts'
import type { Project, Role } from '../types.ts'
import { type DialogContent, FormDialog, SecretDialog } from './dialog.tsx'
import { Button } from './elements.tsx'

export interface Action<Subject> {
  /** The button's label. */
  title: string
  /** The label for screen readers, before the subject's name. Defaults to `title`. */
  label?: string
  look?: 'plain' | 'danger'
  /** The minimum project role. Without it, everyone who can see the page may run the action. */
  requiredRole?: Role
  isAvailable?(subject: Subject): boolean
  /** Defaults to POST. */
  method?: 'DELETE'
  /** A path below the subject's own URL. */
  path?: string
  /** Replaces the subject's own URL. */
  url?: string
  /** The confirmation dialog. Its title defaults to the title of the action. */
  confirmation?(subject: Subject): Omit<DialogContent, 'title'> & { title?: string }
  /** Describes the dialog for a secret in the response. Returns null when the response has none. */
  showOnce?(response: unknown, subject: Subject): Omit<ComponentProps<typeof SecretDialog>, 'onClose'> | null
  /** Called after the request succeeded, before lists are refetched. */
  onDone?(response: unknown): Promise<unknown>
}

export function isActionAllowed({ requiredRole }: Action<never>, project: Project | null): boolean {
  return requiredRole === undefined || hasRole(project, requiredRole)
}

/** Runs an action. Without a confirmation dialog, `body` is the request body. */
export type RunAction<Subject> = (action: Action<Subject>, subject: Subject, body?: unknown) => void

interface Actions<Subject> {
  act: RunAction<Subject>
  /** The error of an action without a confirmation dialog. */
  error: Error | null
  /** The open dialog. It can be rendered anywhere on the page. */
  dialog: ReactNode
}

interface PendingAction<Subject> {
  action: Action<Subject>
  subject: Subject
}

/** `refreshes` are URL prefixes. Queries of matching URLs are refetched after each action. */
export function useActions<Subject>(
  urlOf: (subject: Subject) => string,
  refreshes: readonly string[],
): Actions<Subject> {
  const [pending, setPending] = useState<PendingAction<Subject> | null>(null)
  const sending = useMutation({
    mutationFn: ({ action, subject, body }: PendingAction<Subject> & { body: unknown }) => {
      const path = `${action.url ?? urlOf(subject)}${action.path ?? ''}`
      return action.method ? sendRequest(action.method, path) : sendRequest('POST', path, body)
    },
    onSuccess: async (response, { action, subject }) => {
      await action.onDone?.(response)
      if (!action.showOnce?.(response, subject)) setPending(null)
    },
    onSettled: useInvalidateQueries(refreshes),
  })
  function close() {
    setPending(null)
    sending.reset()
  }
  const { data, variables: done } = sending
  const secret = data !== undefined && done?.action.showOnce?.(data, done.subject)
  const confirmation = pending?.action.confirmation?.(pending.subject)
  return {
    act(action, subject, body = {}) {
      sending.reset()
      if (action.confirmation) setPending({ action, subject })
      else sending.mutate({ action, subject, body })
    },
    error: pending ? null : sending.error,
    dialog: secret ? (
      <SecretDialog {...secret} onClose={close} />
    ) : (
      pending &&
      confirmation && (
        <FormDialog
          title={pending.action.title}
          {...confirmation}
          sending={{ ...sending, mutate: body => sending.mutate({ ...pending, body }) }}
          onClose={close}
        />
      )
    ),
  }
}

interface ActionButtonProps<Subject> extends PendingAction<Subject> {
  url: string
  refreshes: readonly string[]
  look: 'primary' | 'plain' | 'danger'
}

/** A button that runs an action outside of a list, with its dialogs. */
export function ActionButton<Subject>({ action, subject, url, refreshes, look }: ActionButtonProps<Subject>) {
  const { act, dialog } = useActions<Subject>(() => url, refreshes)
  return (
    <>
      <Button look={look} onClick={() => act(action, subject)}>
        {action.title}
      </Button>
      {dialog}
    </>
  )
}
