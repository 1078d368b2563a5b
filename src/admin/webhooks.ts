/** A project's webhooks: the addresses that are told of its events, what they were told, and telling it again. */
import { randomBytes } from 'node:crypto'
import { t } from 'elysia'
import { invalidRequest } from '../errors/errors.ts'
import type { DeliveryRow, WebhookRow } from '../postgres/admin/rows.ts'
import {
  addWebhook,
  listWebhooks,
  pageOfDeliveries,
  removeWebhook,
  resendDelivery,
  sendTestEvent,
} from '../postgres/admin/webhooks.ts'
import { EVENT_KINDS } from '../postgres/seeds.generated.ts'
import { addedWebhook, begunDelivery, listedDelivery, webhook } from './answers/projects.ts'
import { deleted, listOf, pagesOf, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict, textOf } from './field-types.ts'
import { formatId, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { cursorOf, pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'
import { SEALED_AS } from './webhooks/deliver.ts'
import { checkUrl, Unreached } from './webhooks/post.ts'

const SECRET_BYTES = 32
/** What the description says of an address; `checkUrl` says more, and why it refuses one. */
const URL_FORM = '^[Hh][Tt][Tt][Pp][Ss]?:'
const KINDS = EVENT_KINDS.map(({ kind }) => kind)

export function createWebhooksController(options: AdminOptions) {
  const { vault, webhooksToPrivateNetworks } = options

  return createController(options, '/v1/organization/projects', 'Webhooks')
    .get(
      '/:project_id/webhooks',
      async ({ caller, params }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        const rows = await listWebhooks(caller.actor, { of_project: id })
        return { object: 'list' as const, data: rows.map(describeWebhook), has_more: false }
      },
      operation('List a project’s webhooks', listOf(webhook)),
    )
    .post(
      '/:project_id/webhooks',
      async ({ caller, params, body: { url, events = [] } }) => {
        const address = parseAddress(url, webhooksToPrivateNetworks)
        const { id: projectId } = await findProject(caller.actor, params.project_id)
        const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
        const sealed = await vault.seal(secret, { projectId, provider: SEALED_AS })
        const [added] = await addWebhook(caller.actor, {
          project: projectId,
          url: address,
          kinds: events,
          sealed: `\\x${Buffer.from(sealed).toString('hex')}`,
        })
        const id = formatId('webhook', added?.result ?? 0)
        return { object: 'project.webhook' as const, id, url: address, events, secret }
      },
      operation('Add a webhook', addedWebhook, {
        body: t.Object(
          {
            url: textOf({ pattern: URL_FORM }),
            events: t.Optional(t.Array(textOf({ enum: KINDS }), { maxItems: 32 })),
          },
          strict,
        ),
      }),
    )
    .delete(
      '/:project_id/webhooks/:webhook_id',
      async ({ caller, params }) => {
        const webhook_id = requireId('webhook', params.webhook_id)
        await removeWebhook(caller.actor, { project: requireId('proj', params.project_id), webhook_id })
        return { object: 'project.webhook.deleted' as const, id: formatId('webhook', webhook_id), deleted: true }
      },
      operation('Remove a webhook', deleted('project.webhook', { id: text })),
    )
}

/** What webhooks are told. */
export function createDeliveriesController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects', 'Webhooks')
    .post(
      '/:project_id/webhooks/:webhook_id/test',
      async ({ caller, params }) => {
        const [sent] = await sendTestEvent(caller.actor, {
          project: requireId('proj', params.project_id),
          webhook_id: requireId('webhook', params.webhook_id),
        })
        return { object: 'project.delivery' as const, id: formatId('delivery', sent?.result ?? 0) }
      },
      operation('Tell a webhook of a test event', begunDelivery),
    )
    .get(
      '/:project_id/deliveries',
      async ({ caller, params, query: { after, limit, webhook_id } }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        const rows = await pageOfDeliveries(caller.actor, {
          of_project: id,
          of_webhook: readCursor('webhook', webhook_id, 'webhook_id'),
          after_id: readCursor('delivery', after),
          page_size: pageSize(limit),
        })
        return toPage(rows.map(describeDelivery), limit)
      },
      operation('List what webhooks were told', pagesOf(listedDelivery), {
        query: t.Object({ ...pageQueryOf('delivery'), webhook_id: cursorOf('webhook') }, strict),
      }),
    )
    .post(
      '/:project_id/deliveries/:delivery_id/resend',
      async ({ caller, params }) => {
        const delivery = requireId('delivery', params.delivery_id)
        await resendDelivery(caller.actor, {
          project: requireId('proj', params.project_id),
          delivery_id: delivery,
        })
        return { object: 'project.delivery' as const, id: formatId('delivery', delivery), state: 'pending' as const }
      },
      operation('Tell a webhook again', begunDelivery),
    )
}

/** As it is stored: `HTTPS://Example.com` is `https://example.com/`. */
function parseAddress(url: string, toPrivateNetworks: boolean): string {
  try {
    return checkUrl(url, toPrivateNetworks).href
  } catch (error) {
    if (!(error instanceof Unreached)) throw error
    throw invalidRequest(`The address is not one that can be told: ${error.message}.`, 'url')
  }
}

function describeWebhook({ id, url, kinds, created_at, disabled_at, pending, failed }: WebhookRow) {
  return {
    object: 'project.webhook' as const,
    id: formatId('webhook', id),
    url,
    events: kinds,
    created_at: toSeconds(created_at),
    disabled_at: toSeconds(disabled_at),
    pending,
    failed,
  }
}

function describeDelivery({ id, webhook_id, at, tried_at, next_at, ...rest }: DeliveryRow) {
  return {
    object: 'project.delivery' as const,
    ...rest,
    id: formatId('delivery', id),
    webhook_id: formatId('webhook', webhook_id),
    created_at: toSeconds(at),
    tried_at: toSeconds(tried_at),
    next_at: toSeconds(next_at),
  }
}
