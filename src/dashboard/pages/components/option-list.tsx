/** The list of a picker, in the top layer below or above its field, so that neither a dialog nor a card clips it. */
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import { Listbox } from './listbox.tsx'

export interface PickerOption {
  value: string
  name: string
  /** What distinguishes options of the same name. */
  detail?: string | null
}

interface OptionListProps {
  id: string
  /** The field. The list has its width. */
  anchor: RefObject<HTMLElement | null>
  options: readonly PickerOption[]
  /** The index of the option that Enter chooses; -1 for none. */
  active: number
  chosen: readonly string[]
  isMultiple: boolean
  /** A message below the options, such as the number of options that are not shown. */
  message: ReactNode
  onActivate(index: number): void
  onChoose(option: PickerOption): void
}

const GAP_PX = 4
const MAX_HEIGHT_PX = 288
const MIN_WIDTH_PX = 224

/** Places the list where there is more space for it. On a phone, the keyboard covers a part of the page. */
function place(list: HTMLElement, field: HTMLElement): void {
  const { top, bottom, left, width } = field.getBoundingClientRect()
  const viewport = window.visualViewport
  const [viewTop, viewHeight] = [viewport?.offsetTop ?? 0, viewport?.height ?? window.innerHeight]
  const below = viewTop + viewHeight - bottom - 2 * GAP_PX
  const above = top - viewTop - 2 * GAP_PX
  const isAbove = below < Math.min(MAX_HEIGHT_PX, list.scrollHeight) && above > below
  const listWidth = Math.min(Math.max(width, MIN_WIDTH_PX), window.innerWidth - 2 * GAP_PX)
  Object.assign(list.style, {
    width: `${listWidth}px`,
    left: `${Math.max(GAP_PX, Math.min(left, window.innerWidth - listWidth - GAP_PX))}px`,
    maxHeight: `${Math.max(96, Math.min(MAX_HEIGHT_PX, isAbove ? above : below))}px`,
    top: isAbove ? 'auto' : `${bottom + GAP_PX}px`,
    bottom: isAbove ? `${window.innerHeight - top + GAP_PX}px` : 'auto',
  })
}

export function OptionList(props: OptionListProps) {
  const { id, anchor, options, active, chosen, isMultiple, message, onActivate, onChoose } = props
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const shown = list.current
    if (!shown) return
    shown.showPopover()
    const update = () => anchor.current && place(shown, anchor.current)
    const size = new ResizeObserver(update)
    size.observe(shown)
    window.addEventListener('scroll', update, true)
    window.visualViewport?.addEventListener('resize', update)
    return () => {
      size.disconnect()
      window.removeEventListener('scroll', update, true)
      window.visualViewport?.removeEventListener('resize', update)
    }
  }, [anchor])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only keeps the focus in the field
    <div
      ref={list}
      popover="manual"
      className="fixed m-0 overflow-y-auto rounded-lg border border-line bg-surface p-1 text-sm text-ink shadow-lg"
      onMouseDown={event => event.preventDefault()}
    >
      <Listbox
        id={id}
        label="Options"
        options={options.map(({ value, name, detail }) => ({
          key: value,
          title: name,
          detail,
          isChosen: chosen.includes(value),
        }))}
        active={active}
        isMultiple={isMultiple}
        onActivate={onActivate}
        onChoose={index => options[index] && onChoose(options[index])}
      />
      {message && (
        <p className="px-2.5 py-1.5 text-xs text-muted [overflow-wrap:anywhere]" role="status">
          {message}
        </p>
      )}
    </div>
  )
}
