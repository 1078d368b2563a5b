/** Text fields and selections, alone or with a label and a hint. */
import {
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import { escapeControlCharacters } from '../format.ts'

export const FIELD_CLASS = 'min-h-9 rounded-lg border border-line bg-surface px-3 py-1.5 text-ink'
const FIELD = `${FIELD_CLASS} w-full placeholder:text-muted`

interface FieldProps {
  label: string
  hint?: string | undefined
  className?: string | undefined
  /** Called with the new value. */
  onChange(value: string): void
}

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, keyof FieldProps> & FieldProps

export function TextField({ label, hint, className, onChange, ...input }: TextFieldProps) {
  return (
    <LabeledField label={label} hint={hint} className={className}>
      {attributes => (
        <input className={FIELD} onChange={event => onChange(event.target.value)} {...attributes} {...input} />
      )}
    </LabeledField>
  )
}

type TextAreaProps = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, keyof FieldProps> & FieldProps

export function TextArea({ label, hint, className = '', onChange, ...area }: TextAreaProps) {
  return (
    <LabeledField label={label} hint={hint}>
      {attributes => (
        <textarea
          className={`${FIELD} ${className}`}
          onChange={event => onChange(event.target.value)}
          {...attributes}
          {...area}
        />
      )}
    </LabeledField>
  )
}

type SelectFieldProps = Omit<ComponentProps<typeof Select>, keyof FieldProps> & FieldProps

export function SelectField({ label, hint, className, ...select }: SelectFieldProps) {
  return (
    <LabeledField label={label} hint={hint} className={className}>
      {attributes => <Select className={FIELD} {...attributes} {...select} />}
    </LabeledField>
  )
}

interface CheckboxProps {
  label: string
  className?: string
  isChecked: boolean
  onChange(isChecked: boolean): void
}

export function Checkbox({ label, className = '', isChecked, onChange }: CheckboxProps) {
  return (
    <label className={`flex items-center gap-2 ${className}`}>
      <input
        type="checkbox"
        className="size-4 accent-(--accent)"
        checked={isChecked}
        onChange={event => onChange(event.target.checked)}
      />
      {label}
    </label>
  )
}

interface LabeledFieldProps extends Omit<FieldProps, 'onChange'> {
  /** Hides the label, except from screen readers. */
  isLabelHidden?: boolean | undefined
  children(attributes: { id: string; 'aria-describedby': string | undefined }): ReactNode
}

/** `children` receives the attributes that connect the input to its label and hint. */
export function LabeledField({ label, isLabelHidden = false, hint, className, children }: LabeledFieldProps) {
  const id = useId()
  const hintId = hint ? `${id}-hint` : undefined
  return (
    <div className={className}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'mb-1 block font-medium'}>
        {label}
      </label>
      {children({ id, 'aria-describedby': hintId })}
      {hint && (
        <p id={hintId} className="mt-1 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

/** An option's value and title. A single string is both. */
export type SelectOption = string | readonly [value: string, title: string]

interface SelectProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> {
  choices: readonly SelectOption[]
  /** Called with the chosen value. */
  onChange(value: string): void
}

/** A drop-down list, alone or as part of a field. */
export function Select({ choices, onChange, className = SELECT, ...select }: SelectProps) {
  return (
    <select className={className} onChange={event => onChange(event.target.value)} {...select}>
      {choices.map(choice => {
        const [value, title] = typeof choice === 'string' ? [choice, choice] : choice
        return (
          <option key={value} value={value}>
            {escapeControlCharacters(title)}
          </option>
        )
      })}
    </select>
  )
}

const SELECT = 'min-h-8 max-w-full rounded-md border border-line bg-surface px-2'

/** The class of all filter fields. */
export const FILTER_CLASS = 'min-h-9 min-w-0 max-w-[min(14rem,100%)] rounded-lg border border-line bg-surface px-2.5'

interface TextFilterProps {
  label: string
  value: string | undefined
  onChange(value: string): void
}

/** Applies the filter on blur or Enter, not on every keystroke. */
export function TextFilter({ label, value, onChange }: TextFilterProps) {
  return (
    <input
      key={value ?? ''}
      aria-label={label}
      placeholder={label}
      defaultValue={value ?? ''}
      dir="auto"
      className={`${FILTER_CLASS} w-full sm:w-44`}
      onBlur={event => event.target.value.trim() !== (value ?? '') && onChange(event.target.value.trim())}
      onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}

/** A row of buttons that selects one of a few choices. */
interface SegmentedControlProps {
  label: string
  value: string
  choices: readonly (readonly [value: string, title: string])[]
  onChange(value: string): void
}

/** A row of buttons that selects one of a few choices. */
export function SegmentedControl({ label, value, choices, onChange }: SegmentedControlProps) {
  return (
    <fieldset className="inline-flex min-w-0 max-w-full flex-wrap rounded-lg border border-line bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map(([choice, title]) => (
        <button
          key={choice}
          type="button"
          aria-pressed={choice === value}
          onClick={() => onChange(choice)}
          className={`rounded-md px-3 py-1 text-xs font-medium whitespace-nowrap ${choice === value ? 'bg-surface text-ink shadow-sm ring-1 ring-line' : 'text-muted hover:text-ink print:hidden'}`}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
}
