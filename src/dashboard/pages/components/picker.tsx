/** A field that searches for values that exist: type to search, arrow keys and Enter to choose, Escape to close. */
import { useEffect, useId, useRef } from 'react'
import { escapeControlCharacters, isolateDirection } from '../format.ts'
import { FIELD_CLASS, LabeledField } from './fields.tsx'
import { OptionList } from './option-list.tsx'
import { handlePickerKey, type PickerProps, type PickerState, usePicker } from './use-picker.ts'

const BOX = `${FIELD_CLASS} flex w-full flex-wrap items-center gap-1.5 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent`

export function Picker(props: PickerProps) {
  const { label, isLabelHidden, hint, className, noun, isMultiple = false, values } = props
  const picker = usePicker(props)
  const { isUnknown, problem } = picker
  const box = useRef<HTMLDivElement>(null)
  const listId = useId()
  useEffect(() => {
    if (props.opensAtOnce) box.current?.querySelector('input')?.focus()
  }, [props.opensAtOnce])
  return (
    <LabeledField
      label={label}
      isLabelHidden={isLabelHidden}
      hint={isUnknown ? `${problem} Choose one from the list.` : hint}
      className={className}
    >
      {attributes => (
        <div ref={box} className={`${BOX} ${isUnknown ? '!border-danger' : ''}`}>
          {isMultiple && <Chips values={values} picker={picker} />}
          <SearchInput attributes={attributes} listId={listId} picker={picker} props={props} />
          <Chevron />
          {picker.isOpen && (
            <OptionList
              id={listId}
              anchor={box}
              options={picker.options}
              active={picker.active}
              chosen={values}
              isMultiple={isMultiple}
              message={describe(picker, noun)}
              onActivate={picker.setActive}
              onChoose={picker.choose}
            />
          )}
        </div>
      )}
    </LabeledField>
  )
}

function Chevron() {
  return (
    <svg aria-hidden="true" viewBox="0 0 16 16" className="pointer-events-none size-3.5 shrink-0 text-muted">
      <path d="m4 6 4 4 4-4" fill="none" stroke="currentColor" strokeWidth="1.8" />
    </svg>
  )
}

function Chips({ values, picker }: { values: readonly string[]; picker: PickerState }) {
  return values.map(value => (
    <span key={value} className="flex max-w-full items-center gap-1 rounded-md bg-sunken pl-2 text-xs">
      <bdi className="min-w-0 [overflow-wrap:anywhere]">{picker.nameOf(value)}</bdi>
      <button
        type="button"
        aria-label={`Remove ${isolateDirection(picker.nameOf(value))}`}
        className="size-6 shrink-0 rounded-md text-muted hover:text-ink"
        onClick={() => picker.remove(value)}
      >
        ×
      </button>
    </span>
  ))
}

interface SearchInputProps {
  attributes: { id: string; 'aria-describedby': string | undefined }
  listId: string
  picker: PickerState
  props: PickerProps
}

function SearchInput({ attributes, listId, picker, props }: SearchInputProps) {
  const { noun, values, placeholder = `Search for ${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}` } = props
  const { isOpen, active, isUnknown, problem } = picker
  return (
    <input
      {...attributes}
      ref={input => input?.setCustomValidity(isUnknown ? problem : '')}
      role="combobox"
      aria-expanded={isOpen}
      aria-controls={isOpen ? listId : undefined}
      aria-autocomplete="list"
      aria-activedescendant={isOpen && active >= 0 ? `${listId}-${active}` : undefined}
      aria-invalid={isUnknown || undefined}
      autoComplete="off"
      spellCheck={false}
      dir="auto"
      className="min-w-24 flex-1 bg-transparent outline-none placeholder:text-muted"
      placeholder={values.length === 0 ? placeholder : ''}
      required={props.required === true && values.length === 0}
      disabled={props.disabled}
      value={picker.shown}
      onChange={event => picker.type(event.target.value)}
      onFocus={event => event.target.select()}
      onClick={() => picker.setIsOpen(true)}
      onKeyDown={event => handlePickerKey(event, picker, props.isMultiple ? values : [])}
      onBlur={picker.finish}
    />
  )
}

/** Returns the message below the options; null if there is nothing to explain. */
function describe({ found: { options, hasMore, error }, search, problem }: PickerState, noun: string): string | null {
  if (error) return escapeControlCharacters(error.message)
  if (options === undefined) return 'Searching…'
  if (options.length === 0) return search === '' ? `No ${noun} to choose from yet.` : problem
  return hasMore ? 'Type to narrow down the list.' : null
}
