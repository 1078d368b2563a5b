/** Refused requests, for administrators: of all projects, since a refused request may belong to none. */
import { useQuery } from '@tanstack/react-query'
import type { ERROR_CATALOGUE, ErrorName } from '../../../errors/error-catalogue.ts'
import { Card, EmptyState } from '../components/elements.tsx'
import { Table } from '../components/table.tsx'
import { formatAgo, formatCount } from '../format.ts'
import { isAdministrator, useSession } from '../session.ts'
import type { ApiPage, RejectionCount } from '../types.ts'

/** The codes that are counted: whoever adds one says here what people read. */
type Counted = Extract<(typeof ERROR_CATALOGUE)[ErrorName], { status: 401 | 403 | 429 }>['code']
type Words = [title: string, hint: string]

const REASONS: Record<Counted, Words> = {
  missing_api_key: ['No API key', 'A client sends no Authorization header.'],
  invalid_api_key: ['Unknown API key', 'A key that was never issued, has expired, or is of another service.'],
  api_key_disabled: ['Deactivated API key', 'A client still uses a deactivated key.'],
  address_not_allowed: ['Address not allowed', 'A key is used from an address that its limits do not list.'],
  model_not_allowed: ['Model not allowed', 'A key or a project asks for a model that its settings do not list.'],
  rate_limit_exceeded: ['Too many a minute', 'A key or a client address is over its plan’s limit.'],
  monthly_quota_exceeded: ['Month used up', 'A project is over its plan’s quota.'],
  insufficient_quota: ['Budget used up', 'A request may cost more than a budget has left.'],
  budget_reserved: ['Budget reserved', 'Requests in flight have reserved what is left of a budget.'],
  concurrent_requests_exceeded: ['Too many at once', 'A key has as many requests in progress as its plan allows.'],
  invalid_admin_key: ['Not logged in', 'A page or a script comes without a login or with an unknown admin key.'],
  wrong_password: ['Wrong password', 'Somebody tried to log in.'],
  too_many_logins: ['Too many logins', 'Somebody tried to log in too often.'],
  permission_denied: ['Not permitted', 'Somebody asked for more than their role may do.'],
  forbidden_origin: ['From another page', 'A page of another site, or one from before a new login, sent a change.'],
  https_required: ['Login without HTTPS', 'Log in over https, or on the proxy’s own machine.'],
}

export function RejectedRequests() {
  const session = useSession()
  const isShown = isAdministrator(session.data)
  const refused = useQuery<ApiPage<RejectionCount>, Error, RejectionCount[]>({
    queryKey: ['/v1/organization/refusals'],
    select: page => page.data,
    enabled: isShown,
    refetchInterval: 10_000,
  })
  if (!isShown) return null
  return (
    <Card title="Refused in the last 24 hours, all projects">
      <Table
        label="Refused requests by reason"
        rows={refused.data}
        error={refused.error}
        keyOf={row => row.reason}
        empty={
          <EmptyState title="No refused requests">
            Requests without a valid key or over a limit are counted here.
          </EmptyState>
        }
        columns={[
          {
            title: 'Reason',
            cell: row => (
              <>
                <span className="font-medium">{wordsOf(row.reason)[0]}</span>
                <span className="block text-xs text-muted">{wordsOf(row.reason)[1]}</span>
              </>
            ),
          },
          { title: 'Code', look: 'code', cell: row => row.reason },
          { title: 'Latest', look: 'line', cell: row => describeHour(row.latest_hour) },
          { title: 'Requests', numeric: true, cell: row => formatCount(row.requests) },
        ]}
      />
    </Card>
  )
}

/** Another version may count more. */
function wordsOf(reason: string): Words {
  return (REASONS as Partial<Record<string, Words>>)[reason] ?? [reason, '']
}

/** Refusals are counted by the hour. */
function describeHour(seconds: number): string {
  return Date.now() / 1000 - seconds < 3600 ? 'this hour' : formatAgo(seconds)
}
