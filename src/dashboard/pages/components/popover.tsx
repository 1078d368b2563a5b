/** A button with a panel below it. The panel closes on Escape, and when the focus or a click leaves it. */
import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from './elements.tsx'

interface PopoverProps {
  /** The content of the button. */
  label: ReactNode
  /** The name of the panel for screen readers. */
  title: string
  isOpen: boolean
  onOpenChange(isOpen: boolean): void
  /** The edge of the button at which the panel is aligned. */
  align?: 'left' | 'right'
  children: ReactNode
}

export function Popover({ label, title, isOpen, onOpenChange, align = 'left', children }: PopoverProps) {
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const close = ({ target }: Event) => {
      if (target instanceof Node && !root.current?.contains(target)) onOpenChange(false)
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('focusin', close)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('focusin', close)
    }
  }, [isOpen, onOpenChange])
  const wasOpen = useRef(false)
  useEffect(() => {
    // A choice removes the focused element together with the panel.
    if (wasOpen.current && !isOpen && document.activeElement === document.body) {
      button.current?.querySelector('button')?.focus()
    }
    wasOpen.current = isOpen
  }, [isOpen])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is handled for all controls inside
    <div
      ref={root}
      className="relative"
      onKeyDown={event => {
        if (event.key !== 'Escape' || !isOpen || event.defaultPrevented) return
        event.stopPropagation()
        onOpenChange(false)
        button.current?.querySelector('button')?.focus()
      }}
    >
      <div ref={button}>
        <Button aria-haspopup="dialog" aria-expanded={isOpen} onClick={() => onOpenChange(!isOpen)}>
          {label}
        </Button>
      </div>
      {isOpen && (
        <div
          role="dialog"
          aria-label={title}
          className={`fixed inset-x-4 z-20 mt-1 rounded-xl border border-line bg-surface shadow-xl sm:absolute sm:w-80 ${align === 'left' ? 'sm:right-auto sm:left-0' : 'sm:right-0 sm:left-auto'}`}
        >
          {children}
        </div>
      )}
    </div>
  )
}
