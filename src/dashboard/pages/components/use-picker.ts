/** The state of a picker: the search, the active option, and how keys change them. */
import { type KeyboardEvent, useState } from 'react'
import { escapeControlCharacters, isolateDirection } from '../format.ts'
import { moveActive } from './listbox.tsx'
import type { PickerOption } from './option-list.tsx'

export interface FoundOptions {
  /** Undefined while they are loading. */
  options: readonly PickerOption[] | undefined
  /** True if there are further matches. */
  hasMore: boolean
  error: Error | null
}

export interface PickerSource {
  /** The noun for what is chosen, such as `model`. */
  noun: string
  /** A hook that returns the options that match a search. While `isOpen` is false, it need not load any. */
  useOptions(search: string, isOpen: boolean): FoundOptions
  /** Whether a value that is not listed can be chosen. */
  allowsNew?: boolean
  isMultiple?: boolean
}

export interface PickerProps extends PickerSource {
  label: string
  /** Hides the label, except from screen readers. */
  isLabelHidden?: boolean
  hint?: string | undefined
  className?: string | undefined
  placeholder?: string | undefined
  required?: boolean | undefined
  disabled?: boolean | undefined
  /** Opens the list, and moves the focus into the field, when the picker appears. */
  opensAtOnce?: boolean
  /** The name of a value that was chosen before. Defaults to the value. */
  nameOf?(value: string): string | undefined
  /** The chosen values: at most one unless `isMultiple`. */
  values: readonly string[]
  onChange(values: string[]): void
}

export function usePicker({
  noun,
  useOptions,
  allowsNew = false,
  isMultiple = false,
  values,
  onChange,
  disabled,
  nameOf: givenName,
  opensAtOnce = false,
}: PickerProps) {
  const [isOpen, setOpen] = useState(opensAtOnce)
  /** The text of an unfinished search; null when there is none. */
  const [text, setText] = useState<string | null>(null)
  const [active, setActive] = useState(-1)
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map())
  const search = (text ?? '').trim()
  const found = useOptions(search, isOpen)
  const listed = found.options ?? []
  const match = search === '' ? undefined : listed.find(({ value, name }) => value === search || name === search)
  const offersNew = allowsNew && search !== '' && match === undefined && !values.includes(search)
  const options = offersNew ? [...listed, { value: search, name: `Use “${isolateDirection(search)}”` }] : listed
  const nameOf = (value: string) => escapeControlCharacters(known.get(value) ?? givenName?.(value) ?? value)

  function setIsOpen(isNowOpen: boolean) {
    setOpen(isNowOpen && !disabled)
    setActive(-1)
  }
  function type(typed: string) {
    setText(typed)
    setOpen(true)
    setActive(typed.trim() === '' ? -1 : 0)
  }
  function remove(value: string | undefined) {
    onChange(values.filter(each => each !== value))
  }
  function choose({ value }: PickerOption) {
    const option = listed.find(each => each.value === value)
    if (option) setKnown(new Map(known).set(value, option.name))
    setText(null)
    if (!isMultiple) setIsOpen(false)
    if (isMultiple && values.includes(value)) remove(value)
    else if (!isMultiple) onChange([value])
    else onChange([...new Set([...values, ...(option ? [value] : splitNames(value))])])
  }
  /** Chooses what was typed, when the field loses the focus. A name that matches nothing stays in the field, which is then invalid. */
  function finish() {
    setIsOpen(false)
    if (text === null) return
    const value = match?.value ?? search
    if (search === '' || values.includes(value)) setText(null)
    if (search === '' && !isMultiple) onChange([])
    else if (search !== '' && !values.includes(value) && (match || allowsNew)) choose({ value, name: value })
  }

  return {
    ...{ isOpen, search, found, listed, options, active, setActive, nameOf, type, remove, choose, finish, setIsOpen },
    /** True for a name that matches nothing, after the field has lost the focus. */
    isUnknown: search !== '' && !isOpen && !allowsNew,
    problem: `No ${noun} matches “${isolateDirection(search)}”.`,
    shown: text ?? (isMultiple || values[0] === undefined ? '' : nameOf(values[0])),
    cancel() {
      setText(null)
      setIsOpen(false)
    },
  }
}

export type PickerState = ReturnType<typeof usePicker>

/** Handles the keys of a combobox. */
export function handlePickerKey(event: KeyboardEvent, picker: PickerState, values: readonly string[]): void {
  const { isOpen, options, active, search } = picker
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    if (!isOpen) picker.setIsOpen(true)
    else if (options.length > 0)
      picker.setActive(moveActive(active, event.key === 'ArrowDown' ? 1 : -1, options.length))
  } else if (event.key === 'Enter' && isOpen) {
    const option = options[active]
    // Without an option to choose, the form is sent, unless a search is unfinished.
    if (option !== undefined || search !== '') event.preventDefault()
    if (option !== undefined) picker.choose(option)
  } else if (event.key === 'Escape' && isOpen) {
    // Otherwise the dialog around the field would close.
    event.preventDefault()
    event.stopPropagation()
    picker.cancel()
  } else if (event.key === 'Backspace' && picker.shown === '') picker.remove(values.at(-1))
}

/** Splits names that were typed or pasted together. */
function splitNames(text: string): string[] {
  return text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
}
