/** Budgets of projects. Monthly budgets in US dollars are also available as OpenAI's `spend_limit` and `spend_alerts`, also for the organization. */
import { Type as t } from '@sinclair/typebox'
import type { AdminOperation, FieldValues } from '../admin-operation.ts'
import {
  defineCollection,
  defineCreate,
  defineDelete,
  defineFullList,
  defineRead,
  defineShortList,
  defineUpdate,
} from '../define-operations.ts'
import { constrainedText, emailSchema, STRICT_OBJECT, timeZoneSchema } from '../field-types.ts'
import { requireId } from '../ids.ts'
import { defineObject, defineScopedObjects, notFoundInProject } from '../objects.ts'
import { cursorParameter, idPageQuery, stringEnum } from '../pagination.ts'

const PROJECT = '/v1/organization/projects/:project_id'

const budget = defineObject('Budget', 'project.budget', 'project_budgets', 'budget', notFoundInProject('budget'))
const spendLimit = defineScopedObjects(
  'SpendLimit',
  'spend_limit',
  'project_spend_limits',
  'budget',
  of => `This ${of} has no spend limit.`,
)
const spendAlert = defineScopedObjects(
  'SpendAlert',
  'spend_alert',
  'project_spend_alerts',
  'spend_alert',
  () => 'There is no such spend alert.',
)

const budgets = defineCollection(budget, {
  tag: 'Budgets',
  basePath: `${PROJECT}/budgets`,
  idParameter: 'budget_id',
  isCheckedBySql: true,
})

/** The fields of a budget without its scope. */
export const BUDGET_AMOUNT = {
  unit: stringEnum('usd', 'tokens'),
  amount: t.Number({ minimum: 0, exclusiveMaximum: 1_000_000_000 }),
  per: stringEnum('day', 'week', 'month', 'total'),
}

/** The unit of OpenAI's `threshold_amount` is a cent. */
const CENTS_PER_DOLLAR = 100
const MONTHLY_AMOUNT = {
  currency: t.Literal('USD'),
  interval: t.Literal('month'),
  threshold_amount: t.Integer({ minimum: 0, maximum: 1_000_000_000 * CENTS_PER_DOLLAR - 1 }),
}
const ALERT = {
  ...MONTHLY_AMOUNT,
  notification_channel: t.Object(
    {
      type: t.Literal('email'),
      recipients: t.Array(emailSchema, { minItems: 1, maxItems: 50 }),
      subject_prefix: t.Optional(t.Union([t.String({ maxLength: 100 }), t.Null()])),
    },
    STRICT_OBJECT,
  ),
}

/** Returns the project's id; null for the organization. */
const projectOf = (ids: unknown): number | null => (ids as { project_id?: number }).project_id ?? null

const alertOf = (ids: unknown, { threshold_amount, notification_channel: channel }: FieldValues<typeof ALERT>) => ({
  project: projectOf(ids),
  of_amount: threshold_amount / CENTS_PER_DOLLAR,
  to_recipients: channel.recipients,
  with_prefix: channel.subject_prefix,
})

/** Defines the same operations for the organization and for projects. */
function defineSpendOperations(of: 'organization' | 'project', path: string): AdminOperation[] {
  const where = { tag: 'Budgets', isOrganizationWide: of === 'organization' } as const
  const limits = defineCollection(spendLimit[of], { ...where, basePath: `${path}/spend_limit`, idParameter: '' })
  const alerts = defineCollection(spendAlert[of], {
    ...where,
    basePath: `${path}/spend_alerts`,
    idParameter: 'alert_id',
    isCheckedBySql: true,
  })
  const limitOf = (ids: unknown, of_amount: number | null) => ({
    project: projectOf(ids),
    in_unit: 'usd',
    of_amount,
    in_per: 'month',
  })
  return [
    defineRead(limits, 'Read the spend limit'),
    defineCreate(limits, 'Set the spend limit', {
      body: MONTHLY_AMOUNT,
      calls: ['set_budget', ({ ids, body }) => limitOf(ids, body.threshold_amount / CENTS_PER_DOLLAR)],
    }),
    defineDelete(limits, 'Remove the spend limit', ['set_budget', ({ ids }) => limitOf(ids, null)]),
    defineShortList(alerts, 'List spend alerts', {
      ...idPageQuery('spend_alert'),
      before: cursorParameter('spend_alert'),
      order: t.Optional(stringEnum('asc', 'desc')),
    }),
    defineCreate(alerts, 'Add a spend alert', {
      body: ALERT,
      calls: ['set_spend_alert', ({ ids, body }) => alertOf(ids, body)],
    }),
    defineRead(alerts, 'Read a spend alert'),
    defineUpdate(alerts, 'Change a spend alert', {
      body: ALERT,
      calls: ['set_spend_alert', ({ ids, body }) => ({ ...alertOf(ids, body), of_alert: ids.alert_id })],
    }),
    defineDelete(alerts, 'Remove a spend alert', [
      'remove_spend_alert',
      ({ ids }) => ({ project: projectOf(ids), of_alert: ids.alert_id }),
    ]),
  ]
}

export const BUDGET_OPERATIONS = [
  defineFullList(budgets, 'List a project’s budgets and their remaining amounts'),
  defineCreate(budgets, 'Create a budget, or update the budget of this scope', {
    body: {
      ...BUDGET_AMOUNT,
      api_key_id: t.Optional(t.String()),
      model: t.Optional(t.String()),
      tag: t.Optional(
        constrainedText({
          pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,31}=(?=.{1,64}$)[A-Za-z0-9_.:/@+-]+( [A-Za-z0-9_.:/@+-]+)*$',
          form: 'a tag and its value, such as team=search',
        }),
      ),
      time_zone: t.Optional(timeZoneSchema),
    },
    calls: [
      'set_budget',
      ({ ids, body }) => ({
        project: ids.project_id,
        in_unit: body.unit,
        of_amount: body.amount,
        in_per: body.per,
        of_key: body.api_key_id === undefined ? null : requireId('key', body.api_key_id),
        of_model: body.model,
        of_tag: body.tag,
        in_zone: body.time_zone,
      }),
    ],
  }),
  defineRead(budgets, 'Read a budget'),
  defineDelete(budgets, 'Remove a budget', [
    'remove_budget',
    ({ ids }) => ({ project: ids.project_id, of_budget: ids.budget_id }),
  ]),
  ...defineSpendOperations('organization', '/v1/organization'),
  ...defineSpendOperations('project', PROJECT),
]
