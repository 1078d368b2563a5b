/** Lists the cache's entries. */
import { useState } from 'react'
import { call } from '../api.ts'
import { Badge, Card, Empty, Name } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { formatAgo, formatBytes, formatPlural } from '../format.ts'
import { usePaged } from '../paged.ts'
import type { CacheEntry } from '../types.ts'

const FOUND_BY = { exact: 'Exact request', normalized: 'Same wording', similar: 'Similar wording' }

const COLUMNS: Column<CacheEntry>[] = [
  { title: 'Model', cell: entry => <Name className="font-mono text-xs">{entry.model}</Name> },
  { title: 'Provider', cell: entry => entry.provider },
  { title: 'Namespace', cell: entry => entry.namespace || <span className="text-muted">default</span> },
  {
    title: 'Found by',
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
  const entries = usePaged<CacheEntry>('/v1/cache/entries', { project_id: projectId, limit: 50 })
  return (
    <>
      <Card title="Stored answers">
        <Table
          label="Stored answers"
          {...entries}
          keyOf={entry => entry.id}
          empty={
            <Empty title="Nothing is stored yet">
              The project’s first complete answer will be stored, unless the request forbids it.
            </Empty>
          }
          columns={mayChange ? [...COLUMNS, buttonColumn<CacheEntry>('Forget', entry => entry.id, setGoing)] : COLUMNS}
        />
      </Card>
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
