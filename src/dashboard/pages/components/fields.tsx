/** Text and select fields, each with a label and a hint. */
import {
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import { Select } from './select.tsx'

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
