/** What is kept of one end user: counted, written to a file, and forgotten. */
import { type FormEvent, useState } from 'react'
import { sendRequest } from '../api.ts'
import { type Action, ActionButton } from '../components/actions.tsx'
import { Button, Card, PageHeader } from '../components/elements.tsx'
import { ExportButtons } from '../components/export-buttons.tsx'
import { TextField } from '../components/fields.tsx'
import { Resource } from '../components/resource.tsx'
import { escapeControlCharacters, formatBytes, formatCount, formatDate, isolateDirection } from '../format.ts'
import { hasRole, useProject, useProjectPath } from '../session.ts'
import type { EndUserData, EndUserErasure } from '../types.ts'

const KINDS: Readonly<Record<string, string>> = {
  answer: 'Stored answers that they asked for first',
  content: 'What requests said and got',
  match: 'Matches in other words',
  object: 'Batches',
  question: 'Questions that wait for the judge',
  record: 'Records of requests',
  response: 'Responses that can be continued',
  tag: 'Records and sums with the tag user_id',
  vector: 'Embeddings',
}

export default function Privacy() {
  const project = useProject()
  const base = useProjectPath('end_users')
  const [user, setUser] = useState('')
  return (
    <>
      <PageHeader title="Privacy">
        All that is kept of one end user, for those who ask what it is, or want it gone. Give the whole name, as
        requests say it: safety_identifier, else user, else metadata.user_id.
      </PageHeader>
      {project && base && hasRole(project, 'owner') && (
        <div key={base} className="space-y-5">
          <Find onFind={setUser} />
          {user !== '' && <Kept key={user} base={base} user={user} />}
        </div>
      )}
      {project && !hasRole(project, 'owner') && <p className="text-muted">This is for owners of the project.</p>}
    </>
  )
}

/** The name is in no address of a page: those are kept in histories. */
function Find({ onFind }: { onFind(user: string): void }) {
  const [name, setName] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    onFind(name)
  }
  return (
    <Card>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3 p-4">
        <TextField
          label="End user"
          required
          autoComplete="off"
          className="min-w-0 grow"
          value={name}
          onChange={setName}
        />
        <Button type="submit" look="primary">
          Show what is kept
        </Button>
      </form>
    </Card>
  )
}

function Kept({ base, user }: { base: string; user: string }) {
  const path = `${base}/data`
  return (
    <Resource<EndUserData>
      path={path}
      query={{ end_user: user }}
      title="What is kept"
      side={
        <div className="flex flex-wrap gap-2">
          <ExportButtons path={`${base}/export`} query={{ end_user: user }} name="end-user" />
          <ActionButton action={forget(base, user)} subject={null} address={base} refreshes={[path]} look="danger" />
        </div>
      }
      note={
        <p className="border-b border-line px-4 py-2.5 text-xs text-muted [overflow-wrap:anywhere]">
          Of <bdi>{escapeControlCharacters(user)}</bdi>
        </p>
      }
      empty={{
        title: 'Nothing is kept of this user',
        help: 'Requests under way are recorded when they end. A long name is listed cut, with a hash: here the whole is needed.',
      }}
      columns={[
        { title: 'What', cell: ({ id }) => KINDS[id] ?? id },
        { title: 'How many', numeric: true, cell: ({ items }) => formatCount(items) },
        { title: 'Size', numeric: true, look: 'line', cell: ({ bytes }) => formatBytes(bytes) },
        { title: 'From', look: 'line', cell: ({ oldest_at: at }) => (at === null ? '–' : formatDate(at)) },
        { title: 'Until', look: 'line', cell: ({ newest_at: at }) => (at === null ? '–' : formatDate(at)) },
      ]}
    />
  )
}

function forget(base: string, user: string): Action<null> {
  const body = { end_user: user, dry_run: false }
  return {
    title: 'Forget…',
    path: '/forget',
    confirmation: () => ({
      title: `Forget ${isolateDirection(user)}?`,
      action: 'Forget for good',
      text: 'Texts, stored answers and embeddings are deleted. Records stay without the name, and so do sums: what was spent stays spent. What providers keep has to be deleted there.',
      toBody: () => body,
    }),
    async onDone(answer: EndUserErasure) {
      let { has_more } = answer
      while (has_more) ({ has_more } = await sendRequest<EndUserErasure>('POST', `${base}/forget`, body))
    },
  }
}
