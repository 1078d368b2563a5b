/** A dialog that asks before something is done: a question, or a form for what it takes. It shows the error if that fails. */
import { type ComponentProps, type FormEvent, type ReactNode, useState } from 'react'
import { Button, Problem } from './basics.tsx'
import { Dialog } from './dialog.tsx'
import { SelectField, TextField } from './fields.tsx'
import type { Choice } from './select.tsx'

/** What the fields hold, by their names. */
export type Values = Record<string, string>

/** A field of a form: a text, or a choice of one among a few. */
export interface Field extends Omit<ComponentProps<typeof TextField>, 'value' | 'onChange'> {
  /** As the API calls it. */
  name: string
  choices?: readonly Choice[]
  /** What it holds at first: nothing, or the first choice, unless it is said. */
  initial?: string | undefined
  /** What is sent for its text; undefined is not sent. */
  read?(text: string): unknown
  isShown?(values: Values): boolean
}

export interface Question {
  title: string
  /** The button's label. */
  action: string
  text?: ReactNode
  /** Without any, it asks before something that cannot be undone. */
  fields?: readonly Field[]
  /** What is sent, where it is more than each field under its name. */
  toBody?(read: Record<string, unknown>): unknown
}

interface AskProps extends Question {
  sending: { mutate(body: unknown): void; isPending: boolean; error: Error | null }
  onClose(): void
}

export function Ask({ title, action, text, fields = [], toBody = read => read, sending, onClose }: AskProps) {
  const [values, setValues] = useState(() => Object.fromEntries(fields.map(field => [field.name, initialOf(field)])))
  const shown = fields.filter(({ isShown }) => isShown?.(values) ?? true)
  function submit(event: FormEvent) {
    event.preventDefault()
    const read = shown.map(({ name, read = text => text }) => [name, read(values[name] ?? '')])
    sending.mutate(toBody(Object.fromEntries(read)))
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="space-y-4">
        {text && <div className="text-muted">{text}</div>}
        {shown.map(field => (
          <AskedField
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            onChange={value => setValues(before => ({ ...before, [field.name]: value }))}
          />
        ))}
        <Problem error={sending.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={fields.length > 0 ? 'primary' : 'danger'} disabled={sending.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function initialOf({ initial, choices: [first = ''] = [] }: Field): string {
  return initial ?? (typeof first === 'string' ? first : first[0])
}

function AskedField({ field, ...now }: { field: Field; value: string; onChange(value: string): void }) {
  const { name, choices, initial, read, isShown, ...input } = field
  if (choices) return <SelectField label={input.label} hint={input.hint} choices={choices} {...now} />
  return <TextField autoComplete="off" {...input} {...now} />
}
