/** Budgets: OpenAI's `spend_limit` and `spend_alerts` of a project or the organization, in US dollars a month, and all others. */
import { t } from 'elysia'
import type { Actor } from '../postgres/admin/act-as.ts'
import type { BudgetRow } from '../postgres/admin/budget-row.ts'
import { requireAdministrator } from '../postgres/admin/people.ts'
import {
  listBudgets,
  listSpendAlerts,
  removeBudget,
  removeSpendAlert,
  setBudget,
  setSpendAlert,
} from '../postgres/admin/projects.ts'
import type { SpendAlertRow } from '../postgres/admin/rows.ts'
import { type AdminOptions, createController } from './controller.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { cursorOf, oneOf, pageOf, pageQueryOf, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'
import { email, strict, textOf, timeZone } from './stated.ts'

const amount = t.Number({ minimum: 0, exclusiveMaximum: 1_000_000_000 })
/** OpenAI's unit of `threshold_amount`. */
const CENTS_A_DOLLAR = 100
const AMOUNT_A_MONTH = {
  currency: t.Literal('USD'),
  interval: t.Literal('month'),
  threshold_amount: t.Integer({ minimum: 0, exclusiveMaximum: 1_000_000_000 * CENTS_A_DOLLAR }),
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

/** Below the organization and below each project there are the same paths. */
export function createSpendController(options: AdminOptions, of: 'organization' | 'project') {
  return createController(options, of === 'project' ? '/v1/organization/projects/:project_id' : '/v1/organization')
    .get('/spend_limit', async ({ caller, params }) => {
      const owner = await readOwner(caller.actor, params)
      return describeLimit(owner, await readLimit(caller.actor, owner))
    })
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
      { body: t.Object({ ...AMOUNT_A_MONTH }, strict) },
    )
    .delete('/spend_limit', async ({ caller, params }) => {
      const owner = await readOwner(caller.actor, params)
      const { id } = await readLimit(caller.actor, owner)
      await removeBudget(caller.actor, { project: owner.project, of_budget: id })
      return { object: `${owner.name}.spend_limit.deleted`, deleted: true }
    })
    .get(
      '/spend_alerts',
      async ({ caller, params, query }) => {
        const owner = await readOwner(caller.actor, params)
        const alerts = (await listSpendAlerts(caller.actor, { of_project: owner.project })).map(row =>
          describeAlert(owner, row),
        )
        return pageOf(query.order === 'desc' ? alerts.toReversed() : alerts, query)
      },
      {
        query: t.Object(
          { ...pageQueryOf('spend_alert'), before: cursorOf('spend_alert'), order: t.Optional(oneOf('asc', 'desc')) },
          strict,
        ),
      },
    )
    .post(
      '/spend_alerts',
      async ({ caller, params, body }) => setAlert(caller.actor, await readOwner(caller.actor, params), body),
      { body: ALERT },
    )
    .get('/spend_alerts/:alert_id', async ({ caller, params }) => {
      const owner = await readOwner(caller.actor, params)
      return describeAlert(owner, await readAlert(caller.actor, owner, requireId('spend_alert', params.alert_id)))
    })
    .post(
      '/spend_alerts/:alert_id',
      async ({ caller, params, body }) => {
        const owner = await readOwner(caller.actor, params)
        return setAlert(caller.actor, owner, body, requireId('spend_alert', params.alert_id))
      },
      { body: ALERT },
    )
    .delete('/spend_alerts/:alert_id', async ({ caller, params }) => {
      const owner = await readOwner(caller.actor, params)
      const alert = requireId('spend_alert', params.alert_id)
      await removeSpendAlert(caller.actor, { project: owner.project, of_alert: alert })
      return { id: formatId('spend_alert', alert), object: `${owner.name}.spend_alert.deleted`, deleted: true }
    })
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
    object: `${name}.spend_alert`,
    currency: 'USD' as const,
    interval: 'month' as const,
    threshold_amount: Math.round(usd * CENTS_A_DOLLAR),
    notification_channel: { type: 'email' as const, recipients, subject_prefix },
  }
}

export function createBudgetsController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects')
    .get('/:project_id/budgets', async ({ caller, params }) => {
      const { budgets } = await readBudgets(caller.actor, params.project_id)
      return { object: 'list' as const, data: budgets.map(describeBudget), has_more: false }
    })
    .post(
      '/:project_id/budgets',
      async ({ caller, params, body }) => {
        const project = requireId('proj', params.project_id)
        const [set] = await setBudget(caller.actor, {
          project,
          in_unit: body.unit,
          of_amount: body.amount,
          in_per: body.per,
          of_key: body.api_key_id === undefined ? null : requireId('key', body.api_key_id),
          of_model: body.model ?? null,
          of_tag: body.tag ?? null,
          in_zone: body.time_zone ?? 'UTC',
        })
        const { budgets } = await readBudgets(caller.actor, params.project_id)
        const budget = budgets.find(({ id }) => id === set?.result)
        if (!budget) throw notFound('There is no such budget in this project.')
        return describeBudget(budget)
      },
      {
        body: t.Object(
          {
            unit: oneOf('usd', 'tokens'),
            amount,
            per: oneOf('day', 'week', 'month', 'total'),
            api_key_id: t.Optional(t.String()),
            model: t.Optional(t.String()),
            tag: t.Optional(textOf({ pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,31}=[A-Za-z0-9_.:/@+ -]{1,64}$' })),
            time_zone: t.Optional(timeZone),
          },
          strict,
        ),
      },
    )
    .delete('/:project_id/budgets/:budget_id', async ({ caller, params }) => {
      const { id } = await readBudgets(caller.actor, params.project_id)
      const budget = requireId('budget', params.budget_id)
      await removeBudget(caller.actor, { project: id, of_budget: budget })
      return { object: 'project.budget.deleted' as const, id: formatId('budget', budget), deleted: true }
    })
}

/** Throws a 404 for a project that the caller may not see. */
async function readBudgets(actor: Actor, projectId: string) {
  const { id } = await findProject(actor, projectId)
  return { id, budgets: await listBudgets(actor, { of_project: id }) }
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
    object: `${name}.spend_limit`,
    currency: 'USD' as const,
    interval: 'month' as const,
    threshold_amount: Math.round(amount * CENTS_A_DOLLAR),
    enforcement: { status: spent >= amount ? ('enforcing' as const) : ('inactive' as const) },
  }
}

function describeBudget({ id, key_id, key_name, key_prefix, begins_at, resets_at, ...rest }: BudgetRow) {
  return {
    object: 'project.budget' as const,
    id: formatId('budget', id),
    ...rest,
    api_key_id: key_id === null ? null : formatId('key', key_id),
    api_key_name: key_name,
    api_key_redacted_value: key_prefix === null ? null : `${key_prefix}…`,
    begins_at: toSeconds(begins_at),
    resets_at: toSeconds(resets_at),
  }
}
