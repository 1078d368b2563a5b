/** Asking: a form for what is to be sent, and a dialog with one, or with a question, before something is done. */
import { type ComponentProps, type FormEvent, type ReactNode, useState } from 'react'
import { Dialog } from './dialog.tsx'
import { Button, ErrorMessage } from './elements.tsx'
import { SelectField, TextField } from './fields.tsx'
import type { SelectOption } from './select.tsx'

/** What the fields hold, by their names. */
export type FormValues = Record<string, string>

/** A field of a form: a text, which must be given unless it is said, or a choice of one among a few. */
export interface FormField extends Omit<ComponentProps<typeof TextField>, 'value' | 'onChange'> {
  /** As the API calls it. */
  name: string
  choices?: readonly SelectOption[]
  /** What it holds at first: nothing, or the first choice, unless it is said. */
  initial?: string | undefined
  /** What is sent for its text; undefined is not sent. */
  read?(text: string): unknown
  isShown?(values: FormValues): boolean
}

export const PASSWORD_FIELD = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autoComplete: 'current-password',
} satisfies FormField
/** One that is being set: password managers offer to generate and save it. */
export const NEW_PASSWORD_FIELD = {
  label: 'New password',
  type: 'password',
  autoComplete: 'new-password',
  minLength: 12,
} satisfies Omit<FormField, 'name'>

interface FormProps {
  /** Above the fields. */
  text?: ReactNode
  fields?: readonly FormField[]
  /** What is sent, where it is more than each field under its name. */
  toBody?(read: Record<string, unknown>): unknown
  sending: { mutate(body: unknown, then: { onSuccess(): void }): void; isPending: boolean; error: Error | null }
  className?: string
  /** The buttons. */
  children: ReactNode
}

/** Shows the error if sending fails; is as it was at first, once it was sent. */
export function Form({ text, fields = [], toBody = read => read, sending, className = '', children }: FormProps) {
  const first = (): FormValues => Object.fromEntries(fields.map(field => [field.name, initialOf(field)]))
  const [values, setValues] = useState(first)
  const shown = fields.filter(({ isShown }) => isShown?.(values) ?? true)
  function submit(event: FormEvent) {
    event.preventDefault()
    const read = shown.map(({ name, read = text => text }) => [name, read(values[name] ?? '')])
    sending.mutate(toBody(Object.fromEntries(read)), { onSuccess: () => setValues(first()) })
  }
  return (
    <form onSubmit={submit} className={`space-y-4 ${className}`}>
      {text && <div className="text-muted">{text}</div>}
      {shown.map(field => (
        <FormField
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          onChange={value => setValues(before => ({ ...before, [field.name]: value }))}
        />
      ))}
      <ErrorMessage error={sending.error} />
      {children}
    </form>
  )
}

function initialOf({ initial, choices: [first = ''] = [] }: FormField): string {
  return initial ?? (typeof first === 'string' ? first : first[0])
}

function FormField({ field, ...now }: { field: FormField; value: string; onChange(value: string): void }) {
  const { name, choices, initial, read, isShown, ...input } = field
  if (choices) return <SelectField label={input.label} hint={input.hint} choices={choices} {...now} />
  return <TextField required autoComplete="off" {...input} {...now} />
}

/** What a dialog asks. Without fields, it is about something that cannot be undone. */
export interface DialogContent extends Pick<FormProps, 'text' | 'fields' | 'toBody'> {
  /** The button's label is the title, unless it is said. */
  title: string
  action?: string
}

interface AskProps extends DialogContent {
  sending: FormProps['sending']
  onClose(): void
}

export function FormDialog({ title, action = title, onClose, ...form }: AskProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form}>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={form.fields ? 'primary' : 'danger'} disabled={form.sending.isPending}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
