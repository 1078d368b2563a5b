/** A dialog that shows a secret once. Only its own button closes it. */
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { Button, CopyButton } from './elements.tsx'

interface SecretDialogProps {
  title: string
  /** Tells the user what to do with the secret. Defaults to a notice about keys. */
  notice?: string
  value: string
  /** The copy button's label. */
  copy?: string
  onClose(): void
  /** Usage instructions. */
  children?: ReactNode
}

const KEY_NOTICE = 'Copy this key now. It is shown only once and cannot be recovered.'

export function SecretDialog({
  title,
  notice = KEY_NOTICE,
  value,
  copy = 'Copy key',
  onClose,
  children,
}: SecretDialogProps) {
  // Navigation inside the dashboard is blocked, and the browser asks before the page is closed.
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true })
  return (
    <Dialog title={title} onClose={onClose} wide={children !== undefined} mustBeAnswered>
      <div className="space-y-4">
        <p className="rounded-lg bg-warn-soft px-3 py-2 text-warn">{notice}</p>
        <div className="flex flex-wrap items-center gap-2">
          <output
            className="min-w-0 flex-1 rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs break-all"
            data-testid="shown-once"
          >
            {value}
          </output>
          <CopyButton text={value} label={copy} />
        </div>
        {children}
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
