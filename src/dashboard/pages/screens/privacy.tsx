/** The privacy page: counts, exports and deletes the data stored for one end user. */
import { type FormEvent, useState } from 'react'
import { END_USER_TABLES } from '../../../postgres/seeds.generated.ts'
import { sendRequest } from '../api.ts'
import { type Action, ActionButton } from '../components/actions.tsx'
import { Button, Card, PageHeader } from '../components/elements.tsx'
import { ExportButtons } from '../components/export-buttons.tsx'
import { TextField } from '../components/fields.tsx'
import { Resource } from '../components/resource.tsx'
import { escapeControlCharacters, formatBytes, formatCount, formatDate, isolateDirection } from '../format.ts'
import { hasRole, useProject, useProjectPath } from '../session.ts'
import type { EndUserData, EndUserErasure } from '../types.ts'

const TITLES: ReadonlyMap<string, string> = new Map(END_USER_TABLES.map(({ kind, title }) => [kind, title]))

export default function Privacy() {
  const project = useProject()
  const base = useProjectPath('end_users')
  const [user, setUser] = useState('')
  return (
    <>
      <PageHeader title="Privacy">
        View, export or delete the data stored for one end user. Enter the name that requests send in safety_identifier,
        user or metadata.user_id (the first that is set).
      </PageHeader>
      {project && base && hasRole(project, 'owner') && (
        <div key={base} className="space-y-5">
          <SearchForm onSearch={setUser} />
          {user !== '' && <StoredData key={user} base={base} user={user} />}
        </div>
      )}
      {project && !hasRole(project, 'owner') && (
        <p className="text-muted">Only owners of the project can use this page.</p>
      )}
    </>
  )
}

/** The name is not put in the URL, because browsers keep URLs in their history. */
function SearchForm({ onSearch }: { onSearch(user: string): void }) {
  const [name, setName] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    onSearch(name)
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
          Show stored data
        </Button>
      </form>
    </Card>
  )
}

function StoredData({ base, user }: { base: string; user: string }) {
  const path = `${base}/data`
  return (
    <Resource<EndUserData>
      path={path}
      query={{ end_user: user }}
      title="Stored data"
      toolbar={
        <div className="flex flex-wrap gap-2">
          <ExportButtons path={`${base}/export`} query={{ end_user: user }} name="end-user" />
          <ActionButton
            action={createDeleteAction(base, user)}
            subject={null}
            url={base}
            refreshes={[path]}
            look="danger"
          />
        </div>
      }
      note={
        <p className="border-b border-line px-4 py-2.5 text-xs text-muted [overflow-wrap:anywhere]">
          End user: <bdi>{escapeControlCharacters(user)}</bdi>
        </p>
      }
      empty={{
        title: 'No data stored for this end user',
        help: 'Requests in progress appear when they finish. If you copied the name from a list, it may be shortened: enter the full name.',
      }}
      columns={[
        { title: 'Data', cell: ({ id }) => TITLES.get(id) ?? id },
        { title: 'Items', numeric: true, cell: ({ items }) => formatCount(items) },
        { title: 'Size', numeric: true, look: 'line', cell: ({ bytes }) => formatBytes(bytes) },
        { title: 'Oldest', look: 'line', cell: ({ oldest_at: at }) => (at === null ? '–' : formatDate(at)) },
        { title: 'Newest', look: 'line', cell: ({ newest_at: at }) => (at === null ? '–' : formatDate(at)) },
      ]}
    />
  )
}

function createDeleteAction(base: string, user: string): Action<null> {
  const body = { end_user: user, dry_run: false }
  return {
    title: 'Delete data',
    path: '/forget',
    confirmation: () => ({
      title: `Delete the data of ${isolateDirection(user)}?`,
      action: 'Delete permanently',
      text: 'Text, cached responses and embeddings are deleted. Usage records and totals are kept without the name. Delete data at providers separately. This cannot be undone.',
      toBody: () => body,
    }),
    async onDone(erasure: EndUserErasure) {
      let { has_more } = erasure
      while (has_more) ({ has_more } = await sendRequest<EndUserErasure>('POST', `${base}/forget`, body))
    },
  }
}
