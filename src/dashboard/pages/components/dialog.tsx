/** Modal dialogs, based on the browser's `dialog` element. */
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Button, CopyButton } from './elements.tsx'
import { Form, type FormProps } from './form.tsx'
import { Picker } from './picker.tsx'

/** A dialog. It traps the focus, and closes on Escape unless `mustBeAnswered` is set. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
  mustBeAnswered = false,
}: {
  title: string
  onClose(): void
  children: ReactNode
  wide?: boolean
  /** Only buttons inside the dialog close it. */
  mustBeAnswered?: boolean
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const isShown = useRef(false)
  // A layout effect closes the dialog before it is removed, so that the browser returns the focus to the button that opened it.
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    opened?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    isShown.current = true
    return () => {
      isShown.current = false
      opened?.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={event => mustBeAnswered && event.preventDefault()}
      // Browsers close a dialog on a second Escape even if the first was prevented.
      onClose={() => isShown.current && (mustBeAnswered ? dialog.current?.showModal() : onClose())}
      className={`m-auto w-[calc(100vw-2rem)] rounded-xl border border-line bg-surface p-0 text-ink shadow-xl ${wide ? 'max-w-2xl' : 'max-w-md'}`}
    >
      <div className="max-h-[85dvh] overflow-y-auto p-5 [overflow-wrap:anywhere]">
        <div className="mb-4 flex items-start justify-between gap-4">
          <h2 id={id} className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]">
            {title}
          </h2>
          {mustBeAnswered || (
            <button
              type="button"
              onClick={onClose}
              aria-label="Close"
              className="-m-1 rounded-md p-1 text-lg leading-none text-muted hover:text-ink"
            >
              ×
            </button>
          )}
        </div>
        {children}
      </div>
    </dialog>
  )
}

/** The content of a dialog. Without fields, it asks to confirm a destructive action. */
export interface DialogContent extends Pick<FormProps, 'text' | 'fields' | 'toBody'> {
  title: string
  /** The label of the submit button. Defaults to the title. */
  action?: string
}

interface FormDialogProps extends DialogContent {
  sending: FormProps['sending']
  onClose(): void
}

/** A dialog that confirms an action or asks for its input. */
export function FormDialog({ title, action = title, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} Picker={Picker}>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={form.fields ? 'primary' : 'danger'} disabled={form.sending.isPending}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

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

/** A dialog that shows a secret once. Only its own button closes it. */
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
