/** The options of a combobox. The combobox handles the keyboard; the pointer activates and chooses. */
import { useLayoutEffect, useRef } from 'react'
import { escapeControlCharacters } from '../format.ts'

export interface ListboxOption {
  key: string
  title: string
  /** Muted text in front of the title, such as the kind of a value. */
  prefix?: string | undefined
  /** A note at the end of the line, such as a count or a provider. */
  detail?: string | null | undefined
  /** Whether the option is among the values of the field. Undefined if options are commands. */
  isChosen?: boolean
}

interface ListboxProps {
  /** The id of the list. Each option has the id of the list, a dash and its index. */
  id: string
  label: string
  options: readonly ListboxOption[]
  /** The index of the option that Enter chooses; -1 for none. */
  active: number
  isMultiple?: boolean
  className?: string
  onActivate(index: number): void
  onChoose(index: number): void
}

export function Listbox({ id, label, options, active, isMultiple, className, onActivate, onChoose }: ListboxProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (active >= 0) list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label={label}
      aria-multiselectable={isMultiple || undefined}
      className={className}
    >
      {options.map(({ key, title, prefix, detail, isChosen }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keyboard
        <div
          key={key}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={isChosen ?? index === active}
          onMouseMove={() => index !== active && onActivate(index)}
          // The focus stays in the combobox.
          onMouseDown={event => event.preventDefault()}
          onClick={() => onChoose(index)}
          className={`flex min-h-9 cursor-pointer items-center gap-2 rounded-md px-2.5 py-1.5 ${index === active ? 'bg-accent-soft' : ''}`}
        >
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            {prefix !== undefined && <span className="text-muted">{prefix} </span>}
            <bdi>{escapeControlCharacters(title)}</bdi>
          </span>
          {detail && <bdi className="shrink-0 text-xs text-muted tabular-nums">{escapeControlCharacters(detail)}</bdi>}
          {isChosen && (
            <span aria-hidden="true" className="shrink-0 text-accent">
              ✓
            </span>
          )}
        </div>
      ))}
    </div>
  )
}

/** Returns the index of the next option (`step` 1) or the previous one (-1), from the last to the first and back. */
export function moveActive(active: number, step: 1 | -1, count: number): number {
  if (count === 0) return -1
  return active < 0 && step < 0 ? count - 1 : (active + step + count) % count
}
