/** Rejected requests of all projects by reason and key, for administrators. A rejected request may belong to no project. */

import type { ERROR_CATALOGUE, ErrorName } from '../../../errors/error-catalogue.ts'
import { Card } from '../components/elements.tsx'
import { Table } from '../components/table.tsx'
import { formatAgo, formatCount } from '../format.ts'
import { useRows } from '../queries.ts'
import { isAdministrator, useSession } from '../session.ts'
import type { RejectionCount } from '../types.ts'
import { formatUtc, requestsColumn } from './request-count-link.tsx'

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

/** The error codes that are counted as rejections. The compiler requires a description of each. */
type CountedCode = Extract<(typeof ERROR_CATALOGUE)[ErrorName], { status: 401 | 403 | 429 }>['code']
type Description = [title: string, hint: string]

const REASONS: Record<CountedCode, Description> = {
  missing_api_key: ['No API key', 'The request has no Authorization header.'],
  invalid_api_key: ['Invalid API key', 'The key was never issued, has expired, or belongs to another service.'],
  api_key_disabled: ['Deactivated API key', 'A client still uses a deactivated key.'],
  address_not_allowed: ['Address not allowed', 'A key was used from an address that its limits do not allow.'],
  model_not_allowed: ['Model not allowed', 'The requested model is not allowed for the key or the project.'],
  rate_limit_exceeded: ['Rate limited', 'A key or client address exceeded its rate limit.'],
  monthly_quota_exceeded: ['Monthly quota reached', 'A project exceeded the plan’s monthly quota.'],
  insufficient_quota: ['Budget exceeded', 'The request may cost more than the budget has left.'],
  budget_reserved: ['Budget reserved', 'Requests in flight have reserved the rest of a budget.'],
  concurrent_requests_exceeded: [
    'Too many concurrent requests',
    'A key has reached the plan’s limit of requests in flight.',
  ],
  invalid_admin_key: [
    'Not logged in, or invalid admin key',
    'A request to the admin API has no session and no valid admin key.',
  ],
  wrong_password: ['Wrong password', 'A login failed because of a wrong password.'],
  too_many_logins: ['Too many login attempts', 'Too many failed logins from one address or for one account.'],
  permission_denied: ['Permission denied', 'The user’s role does not allow the action.'],
  forbidden_origin: ['Forbidden origin', 'A change was sent by another site, or by a page from before the last login.'],
  https_required: ['Login without HTTPS', 'A login was sent over plain HTTP from another machine.'],
}

export function RejectedRequests() {
  const session = useSession()
  const isShown = isAdministrator(session.data)
  // Rejections are counted by the hour. The links select records of the same hours.
  const start = Math.ceil(Date.now() / 1000 / HOUR_SECONDS) * HOUR_SECONDS - DAY_SECONDS
  const rejections = useRows<RejectionCount>(
    '/v1/organization/refusals',
    { start_time: start },
    { enabled: isShown, refetchInterval: 10_000 },
  )
  if (!isShown) return null
  return (
    <Card title="Rejected requests in all projects, last 24 hours">
      {rejections.data && rejections.data.length > 0 && (
        <p className="border-b border-line px-4 py-3 text-muted">
          {formatCount(sumOf(rejections.data, 'requests'))} requests were rejected;{' '}
          {formatCount(sumOf(rejections.data, 'recorded_requests'))} of them are listed under Requests. Each process
          records the first 30 of each key and minute.
        </p>
      )}
      <Table<RejectionCount>
        label="Rejected requests by reason and key"
        rows={rejections.data}
        error={rejections.error}
        keyOf={row => `${row.reason} ${row.api_key_id}`}
        empty={{
          title: 'No rejected requests',
          help: 'Requests without a valid key or over a limit are counted here.',
        }}
        columns={[
          {
            title: 'Reason',
            cell: row => (
              <>
                <span className="font-medium">{describeRejection(row.reason)[0]}</span>
                <span className="block text-xs text-muted">{describeRejection(row.reason)[1]}</span>
              </>
            ),
          },
          { title: 'Code', look: 'code', cell: row => row.reason },
          { title: 'Project', cell: row => row.project_name ?? row.project_id ?? '–' },
          { title: 'Key', cell: row => row.api_key_name ?? row.api_key_id ?? '–' },
          { title: 'Last seen', look: 'line', cell: row => describeHour(row.latest_hour) },
          { title: 'Requests', numeric: true, cell: row => formatCount(row.requests) },
          requestsColumn(
            'Listed',
            row => row.recorded_requests,
            row => selectListed(row, start),
          ),
        ]}
      />
    </Card>
  )
}

/** Selects the recorded requests; null for those of no project. */
function selectListed({ project_id: projectId, api_key_id: key, reason }: RejectionCount, start: number) {
  const filters = { span: 'own', from: formatUtc(start), key: key ?? '', error: reason }
  return projectId === null ? null : { projectId, filters }
}

function sumOf(rows: readonly RejectionCount[], field: 'requests' | 'recorded_requests'): number {
  return rows.reduce((sum, row) => sum + row[field], 0)
}

/** Returns the code itself for a code of another version. */
function describeRejection(reason: string): Description {
  return (REASONS as Partial<Record<string, Description>>)[reason] ?? [reason, '']
}

/** Rejections are counted by the hour, so times within an hour are not exact. */
function describeHour(seconds: number): string {
  return Date.now() / 1000 - seconds < 3600 ? 'This hour' : formatAgo(seconds)
}
