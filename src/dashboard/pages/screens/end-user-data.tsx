/** The data stored for one end user: counts, exports and deletes it. */
import { END_USER_TABLES } from '../../../postgres/seeds.generated.ts'
import { sendRequest } from '../api.ts'
import { type Action, ActionButton } from '../components/actions.tsx'
import { RowButton } from '../components/elements.tsx'
import { ExportButtons } from '../components/export-buttons.tsx'
import { Resource } from '../components/resource.tsx'
import { escapeControlCharacters, formatBytes, formatCount, formatDate, isolateDirection } from '../format.ts'
import type { EndUserData, EndUserErasure } from '../types.ts'

const TITLES: ReadonlyMap<string, string> = new Map(END_USER_TABLES.map(({ kind, title }) => [kind, title]))

/** `onClose` hides the card. */
export function EndUserDataCard({ base, user, onClose }: { base: string; user: string; onClose(): void }) {
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
            refreshes={[base]}
            look="danger"
          />
          <RowButton look="plain" onClick={onClose}>
            Close
          </RowButton>
        </div>
      }
      note={
        <p className="border-b border-line px-4 py-2.5 text-xs text-muted [overflow-wrap:anywhere]">
          End user: <bdi>{escapeControlCharacters(user)}</bdi>
        </p>
      }
      empty={{
        title: 'No data stored for this end user',
        help: 'Requests in progress appear when they finish.',
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

/** Deletes the stored data of an end user, in as many steps as the server needs. `base` is the path of the project's end users. */
export function createDeleteAction(base: string, user: string): Action<null> {
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
