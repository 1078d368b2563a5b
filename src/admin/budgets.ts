/** Budgets of projects; the one of US dollars a month is also OpenAI's `spend_limit`. */
import { t } from 'elysia'
import type { Actor } from '../postgres/admin/act-as.ts'
import type { BudgetRow } from '../postgres/admin/budget-row.ts'
import { listBudgets, removeBudget, setBudget } from '../postgres/admin/projects.ts'
import { budget } from './answers/projects.ts'
import { deleted, listOf, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict, textOf, timeZone } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { oneOf, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'

const amount = t.Number({ minimum: 0, exclusiveMaximum: 1_000_000_000 })

export function createBudgetsController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects', 'Budgets')
    .get(
      '/:project_id/budgets',
      async ({ caller, params }) => {
        const { budgets } = await readBudgets(caller.actor, params.project_id)
        return { object: 'list' as const, data: budgets.map(describeBudget), has_more: false }
      },
      operation('List a project’s budgets, and what is left of them', listOf(budget)),
    )
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
        const found = budgets.find(({ id }) => id === set?.result)
        if (!found) throw notFound('There is no such budget in this project.')
        return describeBudget(found)
      },
      operation('Set a budget: a new one, or the amount of the one of this scope', budget, {
        body: t.Object(
          {
            unit: oneOf('usd', 'tokens'),
            amount,
            per: oneOf('day', 'week', 'month', 'total'),
            api_key_id: t.Optional(t.String()),
            model: t.Optional(t.String()),
            tag: t.Optional(
              textOf({
                pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,31}=(?=.{1,64}$)[A-Za-z0-9_.:/@+-]+( [A-Za-z0-9_.:/@+-]+)*$',
              }),
            ),
            time_zone: t.Optional(timeZone),
          },
          strict,
        ),
      }),
    )
    .delete(
      '/:project_id/budgets/:budget_id',
      async ({ caller, params }) => {
        const { id } = await readBudgets(caller.actor, params.project_id)
        const of_budget = requireId('budget', params.budget_id)
        await removeBudget(caller.actor, { project: id, of_budget })
        return { object: 'project.budget.deleted' as const, id: formatId('budget', of_budget), deleted: true }
      },
      operation('Remove a budget', deleted('project.budget', { id: text })),
    )
}

/** Throws a 404 for a project that the caller may not see. */
async function readBudgets(actor: Actor, projectId: string) {
  const { id } = await findProject(actor, projectId)
  return { id, budgets: await listBudgets(actor, { of_project: id }) }
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
