/** A dialog that asks for input, sends it, and shows the error if that fails. */
import type { FormEvent, ReactNode } from 'react'
import { Button, Problem } from './basics.tsx'
import { Dialog } from './dialog.tsx'

interface FormDialogProps {
  title: string
  /** The button's label. */
  action: string
  sending: { mutate(): void; isPending: boolean; error: Error | null }
  onClose(): void
  children: ReactNode
}

export function FormDialog({ title, action, sending, onClose, children }: FormDialogProps) {
  function submit(event: FormEvent) {
    event.preventDefault()
    sending.mutate()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="space-y-4">
        {children}
        <Problem error={sending.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={sending.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
