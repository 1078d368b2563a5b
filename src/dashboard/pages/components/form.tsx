/** A form of text fields, selections and pickers. */
import { type ComponentProps, type ComponentType, type FormEvent, type ReactNode, useState } from 'react'
import { ErrorMessage } from './elements.tsx'
import { SelectField, type SelectOption, TextField } from './fields.tsx'
import type { PickerProps, PickerSource } from './use-picker.ts'

/** The text of each field, by field name. */
export type FormValues = Record<string, string>

/** A field of a form: a text field or a picker, which are required by default, or a selection. */
export interface FormField extends Omit<ComponentProps<typeof TextField>, 'value' | 'onChange'> {
  /** The name of the field in the API. */
  name: string
  choices?: readonly SelectOption[]
  /** What the field searches. If several values can be chosen, its text has one in each line. */
  picker?: PickerSource
  /** The initial value. Defaults to the first choice, or to empty text. */
  initial?: string | undefined
  /** Converts the text to the value that is sent. Undefined omits the field. */
  read?(text: string): unknown
  isShown?(values: FormValues): boolean
  /** An input of another kind, with its own label. */
  control?(state: { value: string; onChange(value: string): void }): ReactNode
}

export const PASSWORD_FIELD = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autoComplete: 'current-password',
} satisfies FormField
/** A new password. Password managers offer to generate and save it. */
export const NEW_PASSWORD_FIELD = {
  label: 'New password',
  type: 'password',
  autoComplete: 'new-password',
  minLength: 12,
} satisfies Omit<FormField, 'name'>

export interface FormProps {
  /** Above the fields. */
  text?: ReactNode
  fields?: readonly FormField[]
  /** Builds the request body. By default, it has the value of each field under its name. */
  toBody?(read: Record<string, unknown>): unknown
  sending: { mutate(body: unknown, then: { onSuccess(): void }): void; isPending: boolean; error: Error | null }
  className?: string
  /** Shows the fields with a picker. The login form has none, and loads faster without it. */
  Picker?: ComponentType<PickerProps>
  /** The buttons. */
  children: ReactNode
}

/** Shows the error when sending fails, and resets its fields after success. */
export function Form({
  text,
  fields = [],
  toBody = read => read,
  sending,
  className = '',
  Picker,
  children,
}: FormProps) {
  const initialValues = (): FormValues => Object.fromEntries(fields.map(field => [field.name, initialOf(field)]))
  const [values, setValues] = useState(initialValues)
  const shown = fields.filter(({ isShown }) => isShown?.(values) ?? true)
  function submit(event: FormEvent) {
    event.preventDefault()
    const read = shown.map(({ name, read = text => text }) => [name, read(values[name] ?? '')])
    sending.mutate(toBody(Object.fromEntries(read)), { onSuccess: () => setValues(initialValues()) })
  }
  return (
    <form onSubmit={submit} className={`space-y-4 ${className}`}>
      {text && <div className="text-muted">{text}</div>}
      {shown.map(field => (
        <FormField
          key={field.name}
          field={field}
          Picker={Picker}
          value={values[field.name] ?? ''}
          onChange={value => setValues(before => ({ ...before, [field.name]: value }))}
        />
      ))}
      <ErrorMessage error={sending.error} />
      {children}
    </form>
  )
}

function initialOf({ initial, choices: [firstChoice = ''] = [] }: FormField): string {
  return initial ?? (typeof firstChoice === 'string' ? firstChoice : firstChoice[0])
}

interface FieldProps {
  field: FormField
  Picker: FormProps['Picker']
  value: string
  onChange(value: string): void
}

/** The input of a field. Pickers are shown only with `Picker`. */
export function FormField({ field, Picker, ...state }: FieldProps) {
  const { name, choices, picker, initial, read, isShown, control, ...input } = field
  if (control) return control(state)
  if (choices) return <SelectField label={input.label} hint={input.hint} choices={choices} {...state} />
  if (picker && Picker) {
    const { label, hint, placeholder, required = true } = input
    const values = readLines(state.value)
    const onChange = (chosen: readonly string[]) => state.onChange(chosen.join('\n'))
    return <Picker {...{ label, hint, placeholder, required, values, onChange }} {...picker} />
  }
  return <TextField required autoComplete="off" {...input} {...state} />
}

/** Returns the values of a field from which several can be chosen. */
export function readLines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
