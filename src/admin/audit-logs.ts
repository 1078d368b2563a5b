/** The audit log, in OpenAI's form. */
import { t } from 'elysia'
import { type AuditRow, pageOfAuditLog } from '../postgres/admin/users.ts'
import { pagesOf } from './answers/shared.ts'
import { type AuditEvent, auditEvent } from './answers/users.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict, unixSeconds } from './field-types.ts'
import { formatId, idsOf } from './ids.ts'
import { operation } from './operation.ts'
import { cursorOf, fromSeconds, pageQueryOf, pageSize, readCursor, several, toPage, toSeconds } from './pages.ts'

const seconds = t.Optional(unixSeconds)

const query = t.Object(
  {
    ...pageQueryOf('audit_log'),
    before: cursorOf('audit_log'),
    project_ids: several(t.String()),
    event_types: several(t.String()),
    actor_ids: several(t.String()),
    actor_emails: several(t.String()),
    resource_ids: several(t.String()),
    tenant_only: t.Optional(t.Boolean()),
    effective_at: t.Optional(t.Object({ gt: seconds, gte: seconds, lt: seconds, lte: seconds }, strict)),
  },
  strict,
)

export function createAuditLogsController(options: AdminOptions) {
  return createController(options, '/v1/organization/audit_logs', 'Audit log').get(
    '',
    async ({ caller, query: asked }) => {
      const { gt, gte, lt, lte } = asked.effective_at ?? {}
      const from = Math.max(gte ?? 0, gt === undefined ? 0 : gt + 1)
      const until = Math.min(lt ?? Number.POSITIVE_INFINITY, lte === undefined ? Number.POSITIVE_INFINITY : lte + 1)
      const rows = await pageOfAuditLog(caller.actor, {
        of_projects: idsOf('proj', asked.project_ids),
        of_actions: asked.event_types,
        of_emails: asked.actor_emails,
        of_users: idsOf('user', asked.actor_ids),
        of_targets: asked.resource_ids,
        from_time: from === 0 ? null : fromSeconds(from),
        until_time: Number.isFinite(until) ? fromSeconds(until) : null,
        after_id: readCursor('audit_log', asked.after),
        before_id: readCursor('audit_log', asked.before, 'before'),
        page_size: pageSize(asked.limit),
      })
      return toPage(rows.map(describeEvent), asked.limit)
    },
    operation('List what was changed, newest first', pagesOf(auditEvent), { query }),
  )
}

function describeEvent(row: AuditRow) {
  return {
    id: formatId('audit_log', row.id),
    object: 'organization.audit_log' as const,
    type: row.action,
    effective_at: toSeconds(row.recorded_at),
    ...(row.project_id === null
      ? {}
      : {
          project: {
            id: formatId('proj', row.project_id),
            ...(row.project_name === null ? {} : { name: row.project_name }),
          },
        }),
    actor: describeActor(row),
    [row.action]: { id: row.target, data: row.details },
  }
}

/** Changes through psql, or by the proxy itself, have neither session nor key: the database user's name replaces the address. */
function describeActor(row: AuditRow): AuditEvent['actor'] {
  const user = { id: row.user_id === null ? row.actor_kind : formatId('user', row.user_id), email: row.actor }
  if (row.admin_key_id !== null) {
    return {
      type: 'api_key' as const,
      api_key: { id: formatId('admin_key', row.admin_key_id), type: 'user' as const, user },
    }
  }
  return { type: 'session' as const, session: { user, ...(row.address === null ? {} : { ip_address: row.address }) } }
}
