/** A modal dialog, based on the browser's `dialog` element. It traps the focus, and closes on Escape unless `mustBeAnswered` is set. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'

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
