/** One button that opens a searchable menu of kinds of filter, and then of their values. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { escapeControlCharacters } from '../format.ts'
import { FilterIcon } from './elements.tsx'
import { Listbox, type ListboxOption, moveActive } from './listbox.tsx'
import { Popover } from './popover.tsx'

export interface FilterValue {
  value: string
  title: string
  /** A note at the end of the line, such as a count. */
  note?: string
}

export interface FilterKind {
  /** The name of the filter in the URL. */
  name: string
  title: string
  values: readonly FilterValue[]
  /** Accepts other text than the values. Without it, only the values can be chosen. */
  accepts?(text: string): boolean
}

interface FilterMenuProps {
  kinds: readonly FilterKind[]
  isLoading: boolean
  error: Error | null
  /** Whether the menu is open: at a kind of filter, or (an empty name) at the list of kinds. */
  openAt: string | null
  onOpenChange(kind: string | null): void
  onChoose(kind: string, value: string): void
}

/** A kind of filter, or a value. Where values of several kinds are listed, the prefix is the kind. */
interface Option extends ListboxOption {
  choose(): void
}

const MAX_OPTIONS = 100
/** Values of one kind among the results of a search in all kinds. */
const MAX_OF_KIND = 5

export function FilterMenu(props: FilterMenuProps) {
  const { openAt, onOpenChange } = props
  return (
    <Popover
      label={
        <>
          <FilterIcon /> Filter
        </>
      }
      title="Filter"
      isOpen={openAt !== null}
      onOpenChange={isOpen => onOpenChange(isOpen ? '' : null)}
    >
      <Menu key={openAt} {...props} />
    </Popover>
  )
}

function Menu({ kinds, isLoading, error, openAt, onOpenChange, onChoose }: FilterMenuProps) {
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const kind = kinds.find(({ name }) => name === openAt)
  useEffect(() => input.current?.focus(), [])
  const choose = (kind: FilterKind, value: string) => {
    onChoose(kind.name, value)
    onOpenChange(null)
  }
  const options = (
    kind ? listValues(kind, text.trim(), choose) : searchKinds(kinds, text.trim(), { open: onOpenChange, choose })
  ).slice(0, MAX_OPTIONS)
  const current = Math.min(active, options.length - 1)

  function onKeyDown(event: KeyboardEvent): void {
    const { key } = event
    if (key === 'ArrowDown') setActive(moveActive(current, 1, options.length))
    else if (key === 'ArrowUp') setActive(moveActive(current, -1, options.length))
    else if (key === 'Enter') options[current]?.choose()
    // From the values of a kind, back to the kinds.
    else if (kind && (key === 'Escape' || (key === 'Backspace' && text === ''))) onOpenChange('')
    else return
    event.preventDefault()
  }
  return (
    <>
      <input
        ref={input}
        role="combobox"
        aria-label={kind ? `${kind.title}: search values` : 'Search filters'}
        aria-expanded={true}
        aria-controls={id}
        aria-activedescendant={options[current] && `${id}-${current}`}
        autoComplete="off"
        spellCheck={false}
        dir="auto"
        placeholder={kind ? `${kind.title}…` : 'Filter by model, status, request ID…'}
        value={text}
        onChange={event => {
          setText(event.target.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
        className="w-full rounded-t-xl border-b border-line bg-surface px-3.5 py-2.5 text-base outline-none sm:text-sm"
      />
      <Listbox
        id={id}
        label={kind?.title ?? 'Filters'}
        options={options}
        active={current}
        className="max-h-80 overflow-y-auto p-1"
        onActivate={setActive}
        onChoose={index => options[index]?.choose()}
      />
      <p role="status" className={options.length === 0 ? 'px-3.5 pb-3 text-muted' : 'sr-only'}>
        {options.length > 0
          ? `${options.length} choices`
          : (error?.message ?? (isLoading ? 'Loading' : 'Nothing matches in this period.'))}
      </p>
    </>
  )
}

type Choose = (kind: FilterKind, value: string) => void

/** Lists the kinds whose title contains a text, and then the values of all kinds that do. */
function searchKinds(
  kinds: readonly FilterKind[],
  text: string,
  { open, choose }: { open(kind: string): void; choose: Choose },
): Option[] {
  const matching = kinds.filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
  return [
    ...matching.map(({ name, title }) => ({ key: `kind ${name}`, title, detail: '›', choose: () => open(name) })),
    ...(text === '' ? [] : kinds.flatMap(kind => searchKind(kind, text, choose))),
  ]
}

/** Lists the values of a kind that contain a text, and the text itself if the kind accepts it. */
function listValues(kind: FilterKind, text: string, choose: Choose): Option[] {
  const search = text.toLowerCase()
  const matching = kind.values.filter(({ value, title }) => `${title}\n${value}`.toLowerCase().includes(search))
  const options = matching.map(({ value, title, note }) => ({
    key: `value ${kind.name} ${value}`,
    title,
    detail: note,
    choose: () => choose(kind, value),
  }))
  if (text === '' || !kind.accepts?.(text) || kind.values.some(({ value }) => value === text)) return options
  return [...options, { key: `text ${kind.name}`, title: `“${text}”`, choose: () => choose(kind, text) }]
}

function searchKind(kind: FilterKind, text: string, choose: Choose): Option[] {
  const options = listValues(kind, text, choose)
  const [values, own] = [
    options.filter(({ key }) => key.startsWith('value ')),
    options.filter(({ key }) => key.startsWith('text ')),
  ]
  return [...values.slice(0, MAX_OF_KIND), ...own].map(option => ({ ...option, prefix: kind.title }))
}

interface ActiveFiltersProps {
  /** The names of the active filters. */
  names: readonly string[]
  describe(name: string): readonly [title: string, value: string]
  /** Opens the menu at the values of the filter. Without it, a filter can only be removed. */
  onChange?(name: string): void
  onRemove(name: string): void
}

/** The active filters. The value of each can be changed, and the filter removed. */
export function ActiveFilters({ names, describe, onChange, onRemove }: ActiveFiltersProps) {
  if (names.length === 0) return null
  return (
    <ul aria-label="Active filters" className="contents">
      {names.map(name => {
        const [title, value] = describe(name)
        const shown = escapeControlCharacters(value)
        const content = (
          <>
            <span className="text-muted">{title}</span>{' '}
            <bdi className="font-medium [overflow-wrap:anywhere]">{shown}</bdi>
          </>
        )
        return (
          <li
            key={name}
            className="inline-flex min-h-9 max-w-full items-stretch overflow-hidden rounded-lg border border-line bg-surface"
          >
            {onChange ? (
              <button
                type="button"
                onClick={() => onChange(name)}
                className="min-w-0 px-2.5 py-1 text-left hover:bg-sunken"
              >
                {content}
              </button>
            ) : (
              <span className="min-w-0 px-2.5 py-1.5">{content}</span>
            )}
            <button
              type="button"
              onClick={() => onRemove(name)}
              aria-label={`Remove the filter ${title} ${shown}`}
              className="border-l border-line px-2.5 text-muted hover:bg-sunken hover:text-ink"
            >
              ×
            </button>
          </li>
        )
      })}
    </ul>
  )
}
