/** The audit log, in OpenAI's form. */
import { type Static, Type as t } from '@sinclair/typebox'
import { readView } from '../../postgres/admin/read-view.ts'
import { SQL_VIEWS } from '../../postgres/admin/views.generated.ts'
import type { ValueRange, ViewRow } from '../../postgres/admin/views.ts'
import { defineOperation } from '../admin-operation.ts'
import { STRICT_OBJECT, unixSecondsParameter } from '../field-types.ts'
import { notFoundError, parseIds } from '../ids.ts'
import {
  cursorParameter,
  fromUnixSeconds,
  idPageQuery,
  readCursor,
  repeatableParameter,
  rowLimit,
  toPage,
} from '../pagination.ts'
import { pageSchema } from '../responses/shared.ts'

const { changed, ...described } = SQL_VIEWS.organization_audit_logs.columns
/** An event. A further field, named by `type`, has the changed values. */
const auditEvent = t.Object(
  { object: t.Literal('organization.audit_log'), ...described },
  { $id: 'AuditEvent', additionalProperties: true },
)
const seconds = t.Optional(unixSecondsParameter)
const times = t.Object({ gt: seconds, gte: seconds, lt: seconds, lte: seconds }, STRICT_OBJECT)

export const AUDIT_LOG_OPERATIONS = [
  defineOperation({
    method: 'GET',
    path: '/v1/organization/audit_logs',
    tag: 'Audit log',
    summary: 'List changes, newest first',
    response: pageSchema(auditEvent),
    query: {
      ...idPageQuery('audit_log'),
      before: cursorParameter('audit_log'),
      project_ids: repeatableParameter(t.String()),
      event_types: repeatableParameter(t.String()),
      actor_ids: repeatableParameter(t.String()),
      actor_emails: repeatableParameter(t.String()),
      resource_ids: repeatableParameter(t.String()),
      tenant_only: t.Optional(t.Boolean()),
      effective_at: t.Optional(times),
    },
    async serve({ caller, query: asked }) {
      const filter = {
        _project_id: parseIds('proj', asked.project_ids) ?? undefined,
        _action: asked.event_types,
        _actor: asked.actor_emails,
        _user_id: parseIds('user', asked.actor_ids) ?? undefined,
        _target: asked.resource_ids,
        _recorded_at: rangeOf(asked.effective_at),
      }
      const rows = await readView(caller.actor, 'organization_audit_logs', filter, {
        after: readCursor('audit_log', asked.after),
        before: readCursor('audit_log', asked.before),
        newestFirst: true,
        size: rowLimit(asked.limit),
      })
      return toPage(rows.map(describe), asked.limit, Boolean(asked.before))
    },
  }),
  defineOperation({
    method: 'GET',
    path: '/v1/organization/audit_logs/:audit_log_id',
    kinds: { audit_log_id: 'audit_log' },
    tag: 'Audit log',
    summary: 'Read a change',
    response: auditEvent,
    async serve({ caller, ids }) {
      const [row] = await readView(caller.actor, 'organization_audit_logs', { _id: ids.audit_log_id }, { size: 1 })
      if (!row) throw notFoundError('There is no such change.')
      return describe(row)
    },
  }),
]

function rangeOf({ gt, gte, lt, lte }: Static<typeof times> = {}): ValueRange {
  const from = Math.max(gte ?? 0, gt === undefined ? 0 : gt + 1)
  const until = Math.min(lt ?? Number.POSITIVE_INFINITY, lte === undefined ? Number.POSITIVE_INFINITY : lte + 1)
  return {
    from: from === 0 ? undefined : fromUnixSeconds(from),
    until: Number.isFinite(until) ? fromUnixSeconds(until) : undefined,
  }
}

/** Formats an event without null fields. */
function describe({ changed, ...event }: ViewRow<'organization_audit_logs'>) {
  const fields: typeof event = JSON.parse(JSON.stringify(event, (_, value) => value ?? undefined))
  return { object: 'organization.audit_log', ...fields, [event.type]: changed }
}
