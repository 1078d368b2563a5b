/** Costs by team, key, model, end user or provider key. Each number of requests links to them, if the request list can select them. */
import { Table } from '../components/table.tsx'
import type { Filters } from '../filters.ts'
import { formatChange, formatPercent, formatUsd } from '../format.ts'
import { useAllKeys } from '../session.ts'
import type { ApiKey, CostRow, CostTable as Costs } from '../types.ts'
import {
  formatUtc,
  narrowSelection,
  type RequestSelection,
  requestsColumn,
  selectRequestsOfKey,
} from './request-count-link.tsx'

interface Grouping {
  title: string
  /** The name of the requests that belong to none. */
  without: string
  /** Returns the requests of a group; null when no filter can select them. */
  select(rows: RequestSelection, name: string, keys: readonly ApiKey[] | undefined): RequestSelection | null
}

/** The groupings of the API. */
export const GROUPINGS = {
  team: {
    title: 'Team',
    without: 'Without a team',
    // The request list treats a comma as a separator of tags.
    select: (rows, name) => (name.includes(',') ? null : narrowSelection(rows, { tag: `team=${name}` })),
  },
  api_key: {
    title: 'API key',
    without: 'Without a key',
    select: (rows, name, keys) => selectRequestsOfKey(rows, keys, name),
  },
  model: {
    title: 'Model',
    without: 'Without a model',
    select: (rows, name) => narrowSelection(rows, { model_name: name }),
  },
  end_user: {
    title: 'End user',
    without: 'Without an end user',
    select: (rows, name) => narrowSelection(rows, { user: name }),
  },
  // The request list cannot be filtered by the key of a provider.
  provider_key: { title: 'Provider key', without: 'Without a provider', select: () => null },
} satisfies Record<string, Grouping>
type GroupingName = keyof typeof GROUPINGS

export function readGrouping({ group = '' }: Filters): GroupingName {
  return group in GROUPINGS ? (group as GroupingName) : 'team'
}

interface CostTableProps {
  costs: Costs
  filters: Filters
  projectId: string
  keyType: string | undefined
}

export function CostTable({ costs, filters, projectId, keyType }: CostTableProps) {
  const grouping: Grouping = GROUPINGS[readGrouping(filters)]
  const keys = useAllKeys(projectId)
  const rows: RequestSelection = {
    projectId,
    filters: { span: 'own', from: formatUtc(costs.start_time), until: formatUtc(costs.end_time), type: keyType },
  }
  const titles = { group: '', without: grouping.without, rest: 'All others', total: 'Total' }
  const requestsOf = ({ kind, name }: CostRow) => {
    if (kind === 'total') return rows
    return kind === 'group' && name !== null ? grouping.select(rows, name, keys) : null
  }
  return (
    <Table
      label={`Costs by ${grouping.title}`}
      rows={costs.data.length === 0 ? [] : [...costs.data, costs.total]}
      keyOf={({ kind, name }) => `${kind} ${name}`}
      isTotal={({ kind }) => kind === 'total'}
      empty={{
        title: 'No costs in this period',
        help: `Requests appear here within seconds of their response.${keyType === undefined ? '' : ' Select “Include test keys” to show requests with test keys.'}`,
      }}
      columns={[
        { title: grouping.title, look: 'strong', cell: ({ kind, name }) => name ?? titles[kind] },
        requestsColumn('Requests', row => row.requests, requestsOf),
        { title: 'Cost', numeric: true, cell: row => formatUsd(row.cost_usd) },
        { title: 'Estimated', numeric: true, cell: row => formatUsd(row.estimated_usd) },
        { title: 'Share', numeric: true, cell: row => formatPercent(row.cost_share) },
        { title: 'Saved', numeric: true, cell: row => formatUsd(row.saved_usd) },
        { title: 'Hit rate', numeric: true, cell: row => formatPercent(row.hit_rate) },
        { title: 'Period before', numeric: true, cell: row => formatUsd(row.previous_cost_usd) },
        { title: 'Change', numeric: true, cell: row => formatChange(row.change) },
      ]}
    />
  )
}
