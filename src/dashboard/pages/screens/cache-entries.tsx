/** Lists the cache's entries, finds them by their question, and shows what they answer. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call, get } from '../api.ts'
import { Badge, Card, Empty, Loading, Name, Problem } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { Dialog } from '../components/dialog.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { TextFilter } from '../components/text-filter.tsx'
import { useFilters } from '../filters.ts'
import { formatAgo, formatBytes, formatPlural, plain } from '../format.ts'
import { usePaged } from '../paged.ts'
import { useSettings } from '../settings.ts'
import type { CacheEntry } from '../types.ts'

const FOUND_BY = { exact: 'Exact request', normalized: 'Same wording', similar: 'Similar wording' }

const COLUMNS: Column<CacheEntry>[] = [
  {
    title: 'Model',
    cell: entry => (
      <>
        <Name className="!min-w-44 font-mono text-xs">{entry.model}</Name>
        <Name className="text-xs text-muted">
          {entry.namespace === '' ? entry.provider : `${entry.provider}, in ${entry.namespace}`}
        </Name>
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

interface CacheEntriesProps {
  projectId: string
  mayChange: boolean
  /** Called after an entry was deleted. */
  onChange(): void
}

export function CacheEntries({ projectId, mayChange, onChange }: CacheEntriesProps) {
  const [going, setGoing] = useState<CacheEntry | null>(null)
  const [read, setRead] = useState<CacheEntry | null>(null)
  const [filters, change] = useFilters()
  const { data } = useSettings(projectId)
  const mayRead = mayChange && data?.settings.log_content === 'sealed'
  const question = mayRead ? filters.question : undefined
  const entries = usePaged<CacheEntry>('/v1/cache/entries', { project_id: projectId, question, limit: 50 })
  const columns = [
    ...(mayRead ? [{ title: 'Question', cell: (entry: CacheEntry) => <Read entry={entry} onRead={setRead} /> }] : []),
    ...COLUMNS,
    ...(mayChange ? [buttonColumn<CacheEntry>('Forget', entry => entry.id, setGoing)] : []),
  ]
  return (
    <>
      <Card
        title="Stored answers"
        action={
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
      >
        {mayChange && data && !mayRead && (
          <p className="border-b border-line px-4 py-2.5 text-xs text-muted">
            Questions and answers can be read here once the project keeps the text of requests:{' '}
            <Link to={`/${projectId}/settings/policy` as never} className="text-accent underline">
              Policy
            </Link>
            .
          </p>
        )}
        <Table
          label="Stored answers"
          {...entries}
          keyOf={entry => entry.id}
          empty={
            question ? (
              <Empty title="No such question">
                Among the newest 50,000 answers, none that is found by its wording has this in its question.
              </Empty>
            ) : (
              <Empty title="Nothing is stored yet">
                The project’s first complete answer will be stored, unless the request forbids it.
              </Empty>
            )
          }
          columns={columns}
        />
      </Card>
      {read && <EntryContent projectId={projectId} entry={read} onClose={() => setRead(null)} />}
      {going && (
        <Confirm
          title="Forget this answer?"
          action="Forget answer"
          run={() => call('DELETE', `/v1/cache/entries/${going.id}?project_id=${projectId}`)}
          onDone={() => {
            setGoing(null)
            onChange()
          }}
          onClose={() => setGoing(null)}
        >
          The next request for it goes to the provider, and its answer is stored again.
        </Confirm>
      )}
    </>
  )
}

function Read({ entry, onRead }: { entry: CacheEntry; onRead(entry: CacheEntry): void }) {
  return (
    <button type="button" className="text-left text-accent underline" onClick={() => onRead(entry)}>
      {entry.question === undefined ? 'Read' : <Name className="line-clamp-3">{entry.question}</Name>}
    </button>
  )
}

function EntryContent({ projectId, entry, onClose }: { projectId: string; entry: CacheEntry; onClose(): void }) {
  const path = `/v1/cache/entries/${entry.id}/content`
  const { data, error } = useQuery({
    queryKey: [path],
    queryFn: () => get<{ question: string | null; response: string }>(path, { project_id: projectId }),
    gcTime: 0,
  })
  return (
    <Dialog title="A stored answer" wide onClose={onClose}>
      <Problem error={error} />
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
        {plain(children)}
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
