/** Lists the cache's entries, finds them by their question, and shows what they answer. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Action } from '../components/actions.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Badge, ErrorMessage, Loading, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import type { Column } from '../components/table.tsx'
import { TextFilter } from '../components/text-filter.tsx'
import { useFilters } from '../filters.ts'
import { escapeControlCharacters, formatAgo, formatBytes, formatPlural } from '../format.ts'
import { hasRole } from '../session.ts'
import { useSettings } from '../settings.ts'
import type { Project, ViewRow } from '../types.ts'

/** `question`: its beginning, where entries are found by it. */
type CacheEntry = ViewRow<'cached_responses'> & { question?: string }

const PATH = '/v1/cache/entries'

const FOUND_BY = { exact: 'Exact request', normalized: 'Same wording', similar: 'Similar wording' }

const COLUMNS: Column<CacheEntry>[] = [
  {
    title: 'Model',
    cell: entry => (
      <>
        <UserText className="!min-w-44 font-mono text-xs">{entry.model}</UserText>
        <UserText className="text-xs text-muted">
          {entry.namespace === '' ? entry.provider : `${entry.provider}, in ${entry.namespace}`}
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
  { title: 'A hit saves', numeric: true, look: 'line', cell: entry => formatPlural(entry.prompt_tokens, 'token') },
  { title: 'Stored', look: 'line', cell: entry => formatAgo(entry.created_at) },
  { title: 'Expires', look: 'line', cell: entry => formatAgo(entry.expires_at) },
]

const NOTHING_FOUND = {
  title: 'No such question',
  help: 'Among the newest 50,000 answers, none that is found by its wording has this in its question.',
}
const NOTHING_STORED = {
  title: 'Nothing is stored yet',
  help: 'The project’s first complete answer will be stored, unless the request forbids it.',
}

const FORGET: Action<CacheEntry> = {
  title: 'Forget',
  requiredRole: 'member',
  method: 'DELETE',
  confirmation: () => ({
    title: 'Forget this answer?',
    action: 'Forget answer',
    text: 'The next request for it goes to the provider, and its answer is stored again.',
  }),
}

export function CacheEntries({ project }: { project: Project }) {
  const [read, setRead] = useState<CacheEntry | null>(null)
  const [filters, change] = useFilters()
  const { data } = useSettings(project.id)
  const mayRead = hasRole(project, 'member') && data?.settings.log_content === 'sealed'
  const question = mayRead ? filters.question : undefined
  const questions = { title: 'Question', cell: (entry: CacheEntry) => <Read entry={entry} onRead={setRead} /> }
  return (
    <>
      <Resource<CacheEntry>
        path={PATH}
        query={{ project_id: project.id, question, limit: 50 }}
        addressOf={({ id }) => `${PATH}/${id}?project_id=${project.id}`}
        refreshes={['/v1/cache']}
        title="Stored answers"
        side={
          mayRead && (
            <search>
              <TextFilter
                label="Part of the question"
                value={filters.question}
                onChange={asked => change({ question: asked })}
              />
            </search>
          )
        }
        note={hasRole(project, 'member') && data && !mayRead && <HowToRead project={project} />}
        empty={question ? NOTHING_FOUND : NOTHING_STORED}
        nameOf={({ id }) => id}
        columns={mayRead ? [questions, ...COLUMNS] : COLUMNS}
        actions={[FORGET]}
      />
      {read && <EntryContent projectId={project.id} entry={read} onClose={() => setRead(null)} />}
    </>
  )
}

function HowToRead({ project }: { project: Project }) {
  return (
    <p className="border-b border-line px-4 py-2.5 text-xs text-muted">
      Questions and answers can be read here once the project keeps the text of requests:{' '}
      <Link to={`/${project.id}/settings/policy` as never} className="text-accent underline">
        Policy
      </Link>
      .
    </p>
  )
}

function Read({ entry, onRead }: { entry: CacheEntry; onRead(entry: CacheEntry): void }) {
  return (
    <button type="button" className="text-left text-accent underline" onClick={() => onRead(entry)}>
      {entry.question === undefined ? 'Read' : <UserText className="line-clamp-3">{entry.question}</UserText>}
    </button>
  )
}

function EntryContent({ projectId, entry, onClose }: { projectId: string; entry: CacheEntry; onClose(): void }) {
  const { data, error } = useQuery<{ question: string | null; response: string }>({
    queryKey: [`${PATH}/${entry.id}/content`, { project_id: projectId }],
    gcTime: 0,
  })
  return (
    <Dialog title="A stored answer" wide onClose={onClose}>
      <ErrorMessage error={error} />
      {!data && !error && <Loading />}
      {data && (
        <div className="space-y-4">
          {data.question !== null && <Text title="Question">{data.question}</Text>}
          <Text title="Answer">{readAnswer(data.response)}</Text>
        </div>
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

/** A chat answer's text; of others, and of calls of tools, the whole. */
function readAnswer(response: string): string {
  const body = JSON.parse(response)
  const said = body.choices?.[0]?.message?.content
  return typeof said === 'string' && said !== '' ? said : JSON.stringify(body, null, 2)
}
