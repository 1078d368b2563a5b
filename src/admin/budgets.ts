/** Budgets: OpenAI's `spend_limit` of a project, which is its budget of US dollars a month, and all others. */
import { t } from 'elysia'
import type { Actor } from '../postgres/admin/act-as.ts'
import type { BudgetRow } from '../postgres/admin/budget-row.ts'
import { listBudgets, removeBudget, setBudget } from '../postgres/admin/projects.ts'
import { type AdminOptions, createController } from './controller.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { oneOf, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'
import { strict, textOf, timeZone } from './stated.ts'

const amount = t.Number({ minimum: 0, exclusiveMaximum: 1_000_000_000 })
/** OpenAI's unit of `threshold_amount`. */
const CENTS_A_DOLLAR = 100
const cents = t.Integer({ minimum: 0, exclusiveMaximum: 1_000_000_000 * CENTS_A_DOLLAR })

export function createSpendLimitController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects')
    .get('/:project_id/spend_limit', async ({ caller, params }) => {
      const { limit } = await readLimit(caller.actor, params.project_id)
      return describeLimit(limit)
    })
    .post(
      '/:project_id/spend_limit',
      async ({ caller, params, body }) => {
        const project = requireId('proj', params.project_id)
        await setBudget(caller.actor, {
          project,
          in_unit: 'usd',
          of_amount: body.threshold_amount / CENTS_A_DOLLAR,
          in_per: 'month',
          in_zone: 'UTC',
        })
        const { limit } = await readLimit(caller.actor, params.project_id)
        return describeLimit(limit)
      },
      {
        body: t.Object({ currency: t.Literal('USD'), interval: t.Literal('month'), threshold_amount: cents }, strict),
      },
    )
    .delete('/:project_id/spend_limit', async ({ caller, params }) => {
      const { id, limit } = await readLimit(caller.actor, params.project_id)
      await removeBudget(caller.actor, { project: id, of_budget: limit.id })
      return { object: 'project.spend_limit.deleted' as const, deleted: true }
    })
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

/** Throws a 404 for a project without one, too. */
async function readLimit(actor: Actor, projectId: string) {
  const { id, budgets } = await readBudgets(actor, projectId)
  const limit = budgets.find(isSpendLimit)
  if (!limit) throw notFound('This project has no spend limit.')
  return { id, limit }
}

function isSpendLimit({ unit, per, key_id, model, tag }: BudgetRow): boolean {
  return unit === 'usd' && per === 'month' && key_id === null && model === null && tag === null
}

function describeLimit({ amount, spent }: BudgetRow) {
  return {
    object: 'project.spend_limit' as const,
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
