/** Asks before something that cannot be undone, and shows the error if it fails. */
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button, Problem } from './basics.tsx'
import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  title: string
  children: ReactNode
  /** The button's label. */
  action: string
  run(): Promise<unknown>
  /** Called after `run` has succeeded and the dialog is closed. */
  onDone(): void
  onClose(): void
}

export function Confirm({ title, children, action, run, onDone, onClose }: ConfirmProps) {
  const running = useMutation({
    mutationFn: run,
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="space-y-4">
        <div className="text-muted">{children}</div>
        <Problem error={running.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={running.isPending} onClick={() => running.mutate()}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
