/** Lists the cached responses of a project, searches them by question, shows their text and deletes them. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Action } from '../components/actions.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Badge, Pending, TextLink, UserText } from '../components/elements.tsx'
import { TextFilter } from '../components/fields.tsx'
import { Resource } from '../components/resource.tsx'
import type { Column } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { escapeControlCharacters, formatAgo, formatBytes, formatPlural } from '../format.ts'
import { hasRole } from '../session.ts'
import { useSettings } from '../settings.ts'
import type { Project, ViewRow } from '../types.ts'

/** `question` is the beginning of the question. The API returns it only for a search by question. */
type CacheEntry = ViewRow<'cached_responses'> & { question?: string }

const PATH = '/v1/cache/entries'

const FOUND_BY = { exact: 'Exact request only', normalized: 'Same text', similar: 'Similar questions' }

const COLUMNS: Column<CacheEntry>[] = [
  {
    title: 'Model',
    cell: entry => (
      <>
        <UserText className="!min-w-44 font-mono text-xs">{entry.model}</UserText>
        <UserText className="text-xs text-muted">
          {[
            entry.provider,
            ...(entry.namespace === '' ? [] : [`namespace ${entry.namespace}`]),
            ...(entry.version === null ? [] : [entry.version]),
          ].join(', ')}
        </UserText>
      </>
    ),
  },
  {
    title: 'Found by',
    look: 'line',
    cell: entry => <Badge look={entry.found_by === 'similar' ? 'good' : 'neutral'}>{FOUND_BY[entry.found_by]}</Badge>,
  },
  { title: 'Size', numeric: true, look: 'line', cell: entry => formatBytes(entry.bytes) },
  { title: 'Saved per hit', numeric: true, look: 'line', cell: entry => formatPlural(entry.prompt_tokens, 'token') },
  { title: 'Stored', look: 'line', cell: entry => formatAgo(entry.created_at) },
  { title: 'Expires', look: 'line', cell: entry => formatAgo(entry.expires_at) },
]

const NO_MATCHES = {
  title: 'No matching questions',
  help: 'The search covers the newest 50,000 cached responses that can be matched by wording.',
}
const NO_ENTRIES = {
  title: 'No cached responses yet',
  help: 'The first complete response of this project is cached, unless the request or the cache mode excludes it.',
}

const DELETE: Action<CacheEntry> = {
  title: 'Delete',
  requiredRole: 'member',
  method: 'DELETE',
  confirmation: () => ({
    title: 'Delete this cached response?',
    action: 'Delete response',
    text: 'The next matching request is forwarded to the provider, and its response is cached again.',
  }),
}

export function CacheEntries({ project }: { project: Project }) {
  const [opened, setOpened] = useState<CacheEntry | null>(null)
  const [filters, change] = useFilters()
  const { data } = useSettings(project.id)
  const canRead = hasRole(project, 'member') && data?.settings.log_content === 'sealed'
  const question = canRead ? filters.question : undefined
  const questionColumn = {
    title: 'Question',
    cell: (entry: CacheEntry) => <OpenButton entry={entry} onOpen={setOpened} />,
  }
  return (
    <>
      <Resource<CacheEntry>
        path={PATH}
        query={{ project_id: project.id, question, limit: 50 }}
        urlOf={({ id }) => `${PATH}/${id}?project_id=${project.id}`}
        refreshes={['/v1/cache']}
        title="Cached responses"
        toolbar={
          canRead && (
            <search>
              <TextFilter
                label="Search questions"
                value={filters.question}
                onChange={text => change({ question: text })}
              />
            </search>
          )
        }
        note={hasRole(project, 'member') && data && !canRead && <ContentStorageHint project={project} />}
        empty={question ? NO_MATCHES : NO_ENTRIES}
        nameOf={({ id }) => id}
        columns={canRead ? [questionColumn, ...COLUMNS] : COLUMNS}
        actions={[DELETE]}
      />
      {opened && <EntryContent projectId={project.id} entry={opened} onClose={() => setOpened(null)} />}
    </>
  )
}

function ContentStorageHint({ project }: { project: Project }) {
  return (
    <p className="border-b border-line px-4 py-2.5 text-xs text-muted">
      To read questions and responses here, turn on storage of request text under{' '}
      <TextLink to={`/${project.id}/settings/policy/spending`}>Cache and models</TextLink>.
    </p>
  )
}

function OpenButton({ entry, onOpen }: { entry: CacheEntry; onOpen(entry: CacheEntry): void }) {
  return (
    <button type="button" className="text-left text-accent underline" onClick={() => onOpen(entry)}>
      {entry.question === undefined ? 'View' : <UserText className="line-clamp-3">{entry.question}</UserText>}
    </button>
  )
}

function EntryContent({ projectId, entry, onClose }: { projectId: string; entry: CacheEntry; onClose(): void }) {
  const { data, error } = useQuery<{ question: string | null; response: string }>({
    queryKey: [`${PATH}/${entry.id}/content`, { project_id: projectId }],
    gcTime: 0,
  })
  return (
    <Dialog title="Cached response" wide onClose={onClose}>
      {data ? (
        <div className="space-y-4">
          {data.question !== null && <Text title="Question">{data.question}</Text>}
          <Text title="Response">{readResponseText(data.response)}</Text>
        </div>
      ) : (
        <Pending error={error} />
      )}
    </Dialog>
  )
}

function Text({ title, children }: { title: string; children: string }) {
  return (
    <section>
      <h3 className="mb-1 text-xs text-muted">{title}</h3>
      <p dir="auto" className="rounded-lg bg-sunken px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {escapeControlCharacters(children)}
      </p>
    </section>
  )
}

/** Returns the text of a chat response. Other responses, and those without text, are returned as JSON. */
function readResponseText(response: string): string {
  const body = JSON.parse(response)
  const content = body.choices?.[0]?.message?.content
  return typeof content === 'string' && content !== '' ? content : JSON.stringify(body, null, 2)
}
