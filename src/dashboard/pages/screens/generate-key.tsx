/** Generates a key, and shows it once with usage examples. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { Snippets } from '../components/snippets.tsx'
import type { ApiKey } from '../types.ts'

const TYPES = [
  ['project', 'Project key – real models, counted against the plan'],
  ['test', 'Test key – the built-in sandbox, free and limited'],
] as const

const DAY = 86_400
const LIFETIMES = [
  ['', 'Never'],
  [String(30 * DAY), 'In 30 days'],
  [String(90 * DAY), 'In 90 days'],
  [String(365 * DAY), 'In a year'],
] as const

interface GenerateKeyProps {
  projectId: string
  onDone(): void
  onClose(): void
}

export function GenerateKey({ projectId, onDone, onClose }: GenerateKeyProps) {
  const [name, setName] = useState('')
  const [type, setType] = useState('project')
  const [lifetime, setLifetime] = useState('')
  const generating = useMutation({
    mutationFn: () =>
      call<ApiKey & { value: string }>('POST', `/v1/organization/projects/${projectId}/api_keys`, {
        name,
        type,
        ...(lifetime === '' ? {} : { expires_in_seconds: Number(lifetime) }),
      }),
    onSuccess: onDone,
  })
  if (generating.data) return <NewKey projectId={projectId} made={generating.data} onClose={onClose} />
  return (
    <FormDialog title="Generate new key" action="Generate key" sending={generating} onClose={onClose}>
      <TextField
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        placeholder="production"
        hint="What the key is for. Use one for each person or environment."
        value={name}
        onChange={setName}
      />
      <SelectField label="Type" value={type} choices={TYPES} onChange={setType} />
      <SelectField label="Expires" value={lifetime} choices={LIFETIMES} onChange={setLifetime} />
    </FormDialog>
  )
}

interface NewKeyProps {
  projectId: string
  made: ApiKey & { value: string }
  onClose(): void
}

/** The new key, shown once with usage examples. */
export function NewKey({ projectId, made: { value, type }, onClose }: NewKeyProps) {
  return (
    <ShownOnce
      title="Your new key"
      notice="Copy it now: it is shown only once and not stored."
      value={value}
      copy="Copy key"
      onClose={onClose}
    >
      <Snippets projectId={projectId} keyType={type} apiKey={value} />
    </ShownOnce>
  )
}
