/** What changes of a key that stays the same one: its limits, and its value. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { isolated } from '../format.ts'
import type { ApiKey } from '../types.ts'
import { NewKey } from './generate-key.tsx'

export interface ChangeKeyProps {
  projectId: string
  /** The key's path in the API. */
  path: string
  apiKey: ApiKey
  onDone(): void
  onClose(): void
}

export function LimitKey({ path, apiKey, onDone, onClose }: ChangeKeyProps) {
  const [requests, setRequests] = useState(String(apiKey.requests_per_minute ?? ''))
  const [tokens, setTokens] = useState(String(apiKey.tokens_per_minute ?? ''))
  const [models, setModels] = useState(join(apiKey.allowed_models))
  const [addresses, setAddresses] = useState(join(apiKey.allowed_addresses))
  const limiting = useMutation({
    mutationFn: () =>
      call('POST', path, {
        requests_per_minute: readNumber(requests),
        tokens_per_minute: readNumber(tokens),
        allowed_models: split(models),
        allowed_addresses: split(addresses),
      }),
    onSuccess() {
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog title={`Limit “${isolated(apiKey.name)}”`} action="Set limits" sending={limiting} onClose={onClose}>
      <TextField
        label="Requests a minute"
        inputMode="numeric"
        hint="Empty: what the plan allows."
        value={requests}
        onChange={setRequests}
      />
      <TextField
        label="Tokens a minute"
        inputMode="numeric"
        hint="Empty: what the plan allows. A request counts as many as it may take at most, and in the end as many as it took."
        value={tokens}
        onChange={setTokens}
      />
      <TextField
        label="Models"
        placeholder="gpt-4o*, anthropic/*"
        hint="Patterns with commas between them. Empty: what the project allows."
        value={models}
        onChange={setModels}
      />
      <TextField
        label="Addresses"
        placeholder="10.0.0.0/8, 2001:db8::/32"
        hint="Networks that requests may come from, with commas between them. Empty: any."
        value={addresses}
        onChange={setAddresses}
      />
    </FormDialog>
  )
}

function join(list: string[] | null): string {
  return list?.join(', ') ?? ''
}

/** Null for none. */
function readNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

/** Null for none. */
function split(text: string): string[] | null {
  return text.trim() === '' ? null : text.split(',').map(part => part.trim())
}

const GRACES = [
  ['0', 'End now'],
  ['3600', 'Work for an hour more'],
  ['86400', 'Work for a day more'],
  ['604800', 'Work for a week more'],
  ['2592000', 'Work for 30 days more'],
] as const

export function RotateKey({ projectId, path, apiKey, onDone, onClose }: ChangeKeyProps) {
  const [grace, setGrace] = useState('86400')
  const rotating = useMutation({
    mutationFn: () => call<ApiKey & { value: string }>('POST', `${path}/rotate`, { grace_seconds: Number(grace) }),
    onSuccess: onDone,
  })
  if (rotating.data) return <NewKey projectId={projectId} made={rotating.data} onClose={onClose} />
  return (
    <FormDialog title={`Rotate “${isolated(apiKey.name)}”`} action="Rotate key" sending={rotating} onClose={onClose}>
      <p className="text-muted">The key gets another value, and keeps its id, name, limits, budgets and counters.</p>
      <SelectField label="Its present value may" value={grace} choices={GRACES} onChange={setGrace} />
    </FormDialog>
  )
}
