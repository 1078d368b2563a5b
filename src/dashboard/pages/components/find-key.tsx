/** Finds a leaked key by its text, and revokes it. The text is sent in a body, and is in no URL. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { sendRequest } from '../api.ts'
import { useOpenedByLink } from '../filters.ts'
import { capitalize, formatAgo, isolateDirection } from '../format.ts'
import { PROJECTS_PATH } from '../session.ts'
import type { ApiPage, LeakedKey } from '../types.ts'
import { type Action, useActions } from './actions.tsx'
import { Dialog } from './dialog.tsx'
import { Badge, Button, ErrorMessage, RowButton, UserText } from './elements.tsx'
import { TextField } from './fields.tsx'

export function FindKeyButton() {
  const [isOpen, setOpen] = useState(false)
  useOpenedByLink(['find-key'], () => setOpen(true))
  return (
    <>
      <Button onClick={() => setOpen(true)}>Find a leaked key</Button>
      {isOpen && <FindKeyDialog onClose={() => setOpen(false)} />}
    </>
  )
}

/** A whole key. Once the text contains one, nothing has to be typed any more, and the search starts. */
const WHOLE_KEY = /lgw_(proj|test|admin)_[0-9A-Za-z]{32}/

function FindKeyDialog({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('')
  const finding = useMutation({
    mutationFn: (text: string) => sendRequest<ApiPage<LeakedKey>>('POST', '/v1/organization/leaked_keys', { text }),
    gcTime: 0,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    finding.mutate(text)
  }
  function change(next: string) {
    setText(next)
    if (WHOLE_KEY.test(next) && WHOLE_KEY.exec(next)?.[0] !== WHOLE_KEY.exec(text)?.[0]) finding.mutate(next)
  }
  const found = finding.data?.data
  return (
    <Dialog title="Find a leaked key" onClose={onClose} wide>
      <form onSubmit={submit} className="space-y-4">
        <TextField
          label="Key"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="lgw_proj_…"
          hint="The whole key, its displayed beginning, or a text that contains it. It is not stored or logged."
          value={text}
          onChange={change}
        />
        <ErrorMessage error={finding.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="primary" disabled={finding.isPending}>
            Find key
          </Button>
        </div>
      </form>
      {/* The confirmation has a form of its own, which must not be inside this one. */}
      <div role="status" className="mt-4 empty:hidden">
        {found?.length === 0 && (
          <p className="rounded-lg bg-sunken px-3 py-2">
            No key of a project that you can see matches. Its value may have been replaced by a rotation.
          </p>
        )}
        {found && found.length > 0 && (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {found.map(key => (
              <FoundKey key={key.id} leaked={key} onRevoked={() => finding.mutate(text)} />
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  )
}

export const REVOKE_KEY: Action<{ name: string }> = {
  title: 'Revoke',
  method: 'DELETE',
  confirmation: ({ name }) => ({
    title: `Revoke “${isolateDirection(name)}”?`,
    action: 'Revoke key',
    text: 'Requests with this key are rejected immediately.',
  }),
}

const ADMIN_KEYS_PATH = '/v1/organization/admin_api_keys'
const LOOKS = { active: 'bad', expired: 'neutral', deactivated: 'neutral' } as const

function FoundKey({ leaked, onRevoked }: { leaked: LeakedKey; onRevoked(): void }) {
  const isApiKey = leaked.kind === 'api_key'
  const path = isApiKey ? `${PROJECTS_PATH}/${leaked.project_id}/api_keys` : ADMIN_KEYS_PATH
  const { act, dialog } = useActions<LeakedKey>(({ id }) => `${path}/${id}`, [path])
  const revoke: Action<LeakedKey> = { ...REVOKE_KEY, onDone: async () => onRevoked() }
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 px-3 py-2.5">
      <div className="min-w-0">
        <UserText className="font-medium">{leaked.name}</UserText>
        <p className="text-xs text-muted">
          {isApiKey ? 'API key of ' : 'Admin key'}
          {isApiKey && (
            <Link to={`/${leaked.project_id}/settings/keys` as never} className="underline hover:text-accent">
              {leaked.project_name}
            </Link>
          )}
          , last used {formatAgo(leaked.last_used_at)}
        </p>
        <code className="font-mono text-xs">{leaked.redacted_value}</code>
        {!leaked.is_whole_key && <p className="text-xs text-warn">Only the beginning matches.</p>}
      </div>
      <div className="flex items-center gap-2">
        <Badge look={LOOKS[leaked.state]}>{capitalize(leaked.state)}</Badge>
        {leaked.state === 'active' && (
          <RowButton aria-label={`Revoke ${isolateDirection(leaked.name)}`} onClick={() => act(revoke, leaked)}>
            Revoke
          </RowButton>
        )}
      </div>
      {dialog}
    </li>
  )
}
