/** OpenAI's `spend_limit` and `spend_alerts` of a project or the organization: budgets of US dollars a month, and who is told of them. */
import { t } from 'elysia'
import type { Actor } from '../postgres/admin/act-as.ts'
import type { BudgetRow, SpendAlertRow } from '../postgres/admin/budget-row.ts'
import {
  listBudgets,
  listSpendAlerts,
  removeBudget,
  removeSpendAlert,
  setBudget,
  setSpendAlert,
} from '../postgres/admin/projects.ts'
import { requireAdministrator } from '../postgres/admin/users.ts'
import { spendAlert, spendLimit } from './answers/projects.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { email, strict } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { cursorOf, oneOf, pageOf, pageQueryOf, readCursor } from './pages.ts'
import { findProject } from './projects.ts'

/** OpenAI's unit of `threshold_amount`. */
const CENTS_A_DOLLAR = 100
const AMOUNT_A_MONTH = {
  currency: t.Literal('USD'),
  interval: t.Literal('month'),
  threshold_amount: t.Integer({ minimum: 0, maximum: 1_000_000_000 * CENTS_A_DOLLAR - 1 }),
}
const ALERT = t.Object(
  {
    ...AMOUNT_A_MONTH,
    notification_channel: t.Object(
      {
        type: t.Literal('email'),
        recipients: t.Array(email, { minItems: 1, maxItems: 50 }),
        subject_prefix: t.Optional(t.Nullable(t.String({ maxLength: 100 }))),
      },
      strict,
    ),
  },
  strict,
)

const OWNERS = { organization: '/v1/organization', project: '/v1/organization/projects/:project_id' }

/** Below the organization and below each project there are the same paths. */
export function createSpendLimitController(options: AdminOptions, of: Owner['name']) {
  return createController(options, OWNERS[of], 'Budgets')
    .get(
      '/spend_limit',
      async ({ caller, params }) => {
        const owner = await readOwner(caller.actor, params)
        return describeLimit(owner, await readLimit(caller.actor, owner))
      },
      operation('Read the spend limit', spendLimit),
    )
    .post(
      '/spend_limit',
      async ({ caller, params, body }) => {
        const owner = await readOwner(caller.actor, params)
        await setBudget(caller.actor, {
          project: owner.project,
          in_unit: 'usd',
          of_amount: body.threshold_amount / CENTS_A_DOLLAR,
          in_per: 'month',
          in_zone: 'UTC',
        })
        return describeLimit(owner, await readLimit(caller.actor, owner))
      },
      operation('Set the spend limit', spendLimit, { body: t.Object({ ...AMOUNT_A_MONTH }, strict) }),
    )
    .delete(
      '/spend_limit',
      async ({ caller, params }) => {
        const owner = await readOwner(caller.actor, params)
        const { id } = await readLimit(caller.actor, owner)
        await removeBudget(caller.actor, { project: owner.project, of_budget: id })
        return { object: `${owner.name}.spend_limit.deleted` as const, deleted: true }
      },
      operation('Take the spend limit away', deleted(`${of}.spend_limit`, {})),
    )
}

export function createSpendAlertsController(options: AdminOptions, of: Owner['name']) {
  return createController(options, OWNERS[of], 'Budgets')
    .get(
      '/spend_alerts',
      async ({ caller, params, query }) => {
        const owner = await readOwner(caller.actor, params)
        readCursor('spend_alert', query.after)
        readCursor('spend_alert', query.before, 'before')
        const alerts = (await listSpendAlerts(caller.actor, { of_project: owner.project })).map(row =>
          describeAlert(owner, row),
        )
        return pageOf(query.order === 'desc' ? alerts.toReversed() : alerts, query)
      },
      operation('List spend alerts', pagesOf(spendAlert), {
        query: t.Object(
          { ...pageQueryOf('spend_alert'), before: cursorOf('spend_alert'), order: t.Optional(oneOf('asc', 'desc')) },
          strict,
        ),
      }),
    )
    .post(
      '/spend_alerts',
      async ({ caller, params, body }) => setAlert(caller.actor, await readOwner(caller.actor, params), body),
      operation('Add a spend alert', spendAlert, { body: ALERT }),
    )
    .get(
      '/spend_alerts/:alert_id',
      async ({ caller, params }) => {
        const owner = await readOwner(caller.actor, params)
        return describeAlert(owner, await readAlert(caller.actor, owner, requireId('spend_alert', params.alert_id)))
      },
      operation('Read a spend alert', spendAlert),
    )
    .post(
      '/spend_alerts/:alert_id',
      async ({ caller, params, body }) => {
        const owner = await readOwner(caller.actor, params)
        return setAlert(caller.actor, owner, body, requireId('spend_alert', params.alert_id))
      },
      operation('Change a spend alert', spendAlert, { body: ALERT }),
    )
    .delete(
      '/spend_alerts/:alert_id',
      async ({ caller, params }) => {
        const owner = await readOwner(caller.actor, params)
        const alert = requireId('spend_alert', params.alert_id)
        await removeSpendAlert(caller.actor, { project: owner.project, of_alert: alert })
        return {
          id: formatId('spend_alert', alert),
          object: `${owner.name}.spend_alert.deleted` as const,
          deleted: true,
        }
      },
      operation('Remove a spend alert', deleted(`${of}.spend_alert`, { id: text })),
    )
}

/** Whose spending it is. */
interface Owner {
  name: 'organization' | 'project'
  /** Null for the organization. */
  project: number | null
}

/** Throws a 404 for a project that the caller may not see, a 403 for the organization to others than administrators. */
async function readOwner(actor: Actor, params: object = {}): Promise<Owner> {
  if ('project_id' in params)
    return { name: 'project', project: (await findProject(actor, String(params.project_id))).id }
  await requireAdministrator(actor, {})
  return { name: 'organization', project: null }
}

async function setAlert(actor: Actor, owner: Owner, body: typeof ALERT.static, alert?: number) {
  const [set] = await setSpendAlert(actor, {
    project: owner.project,
    of_amount: body.threshold_amount / CENTS_A_DOLLAR,
    to_recipients: body.notification_channel.recipients,
    with_prefix: body.notification_channel.subject_prefix,
    of_alert: alert,
  })
  return describeAlert(owner, await readAlert(actor, owner, set?.result ?? 0))
}

async function readAlert(actor: Actor, { project }: Owner, alert: number): Promise<SpendAlertRow> {
  const found = (await listSpendAlerts(actor, { of_project: project })).find(({ id }) => id === alert)
  if (!found) throw notFound('There is no such spend alert.')
  return found
}

function describeAlert({ name }: Owner, { id, amount: usd, recipients, subject_prefix }: SpendAlertRow) {
  return {
    id: formatId('spend_alert', id),
    object: `${name}.spend_alert` as const,
    currency: 'USD' as const,
    interval: 'month' as const,
    threshold_amount: Math.round(usd * CENTS_A_DOLLAR),
    notification_channel: { type: 'email' as const, recipients, subject_prefix },
  }
}

/** Throws a 404 where none is set. */
async function readLimit(actor: Actor, { name, project }: Owner): Promise<BudgetRow> {
  const limit = (await listBudgets(actor, { of_project: project })).find(isSpendLimit)
  if (!limit) throw notFound(`This ${name} has no spend limit.`)
  return limit
}

function isSpendLimit({ unit, per, key_id, model, tag }: BudgetRow): boolean {
  return unit === 'usd' && per === 'month' && key_id === null && model === null && tag === null
}

function describeLimit({ name }: Owner, { amount, spent }: BudgetRow) {
  return {
    object: `${name}.spend_limit` as const,
    currency: 'USD' as const,
    interval: 'month' as const,
    threshold_amount: Math.round(amount * CENTS_A_DOLLAR),
    enforcement: { status: spent >= amount ? ('enforcing' as const) : ('inactive' as const) },
  }
}
