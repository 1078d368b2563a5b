/** The audit log, in OpenAI's form. */
import { type Static, t } from 'elysia'
import { readView } from '../../postgres/admin/read-view.ts'
import { VIEWS } from '../../postgres/admin/views.generated.ts'
import type { Range, Shown } from '../../postgres/admin/views.ts'
import { pagesOf } from '../answers/shared.ts'
import { strict, unixSeconds } from '../field-types.ts'
import { idsOf } from '../ids.ts'
import { cursorOf, fromSeconds, pageQueryOf, pageSize, readCursor, several, toPage } from '../pages.ts'
import { serveBy } from '../table-row.ts'

const { changed, ...described } = VIEWS.organization_audit_logs.columns
/** A field that is called what `type` says has what was changed. */
const auditEvent = t.Object(
  { object: t.Literal('organization.audit_log'), ...described },
  { $id: 'AuditEvent', additionalProperties: true },
)
const seconds = t.Optional(unixSeconds)
const times = t.Object({ gt: seconds, gte: seconds, lt: seconds, lte: seconds }, strict)

export const AUDIT_LOGS = [
  serveBy({
    method: 'GET',
    path: '/v1/organization/audit_logs',
    tag: 'Audit log',
    summary: 'List what was changed, newest first',
    answer: pagesOf(auditEvent),
    query: {
      ...pageQueryOf('audit_log'),
      before: cursorOf('audit_log'),
      project_ids: several(t.String()),
      event_types: several(t.String()),
      actor_ids: several(t.String()),
      actor_emails: several(t.String()),
      resource_ids: several(t.String()),
      tenant_only: t.Optional(t.Boolean()),
      effective_at: t.Optional(times),
    },
    async serve({ caller, query: asked }) {
      const filter = {
        _project_id: idsOf('proj', asked.project_ids) ?? undefined,
        _action: asked.event_types,
        _actor: asked.actor_emails,
        _user_id: idsOf('user', asked.actor_ids) ?? undefined,
        _target: asked.resource_ids,
        _recorded_at: rangeOf(asked.effective_at),
      }
      const rows = await readView(caller.actor, 'organization_audit_logs', filter, {
        after: readCursor('audit_log', asked.after),
        before: readCursor('audit_log', asked.before, 'before'),
        newestFirst: true,
        size: pageSize(asked.limit),
      })
      return toPage(rows.map(describe), asked.limit, Boolean(asked.before))
    },
  }),
]

function rangeOf({ gt, gte, lt, lte }: Static<typeof times> = {}): Range {
  const from = Math.max(gte ?? 0, gt === undefined ? 0 : gt + 1)
  const until = Math.min(lt ?? Number.POSITIVE_INFINITY, lte === undefined ? Number.POSITIVE_INFINITY : lte + 1)
  return {
    from: from === 0 ? undefined : fromSeconds(from),
    until: Number.isFinite(until) ? fromSeconds(until) : undefined,
  }
}

/** What it says nothing of is left out. */
function describe({ changed, ...event }: Shown<'organization_audit_logs'>) {
  const told: typeof event = JSON.parse(JSON.stringify(event, (_, value) => value ?? undefined))
  return { object: 'organization.audit_log', ...told, [event.type]: changed }
}
