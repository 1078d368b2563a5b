/** A project's webhooks, and what they were told. */
import { randomBytes } from 'node:crypto'
import { t } from 'elysia'
import { invalidRequest } from '../../errors/errors.ts'
import { callAs } from '../../postgres/admin/call-as.ts'
import { EVENT_KINDS } from '../../postgres/seeds.generated.ts'
import { textOf } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { formatId } from '../ids.ts'
import { noneHere, object } from '../objects.ts'
import { collection, list, listAll, remove } from '../operations.ts'
import { cursorOf, readCursor } from '../pages.ts'
import { serveBy } from '../table-row.ts'
import { SEALED_AS } from '../webhooks/deliver.ts'
import { checkUrl, Unreached } from '../webhooks/post.ts'

const SECRET_BYTES = 32
/** What the description says of an address; `checkUrl` says more, and why it refuses one. */
const URL_FORM = '^[Hh][Tt][Tt][Pp][Ss]?:'
const KINDS = EVENT_KINDS.map(({ kind }) => kind)

const webhook = object('Webhook', 'project.webhook', 'project_webhooks', 'webhook', noneHere('webhook'))
/** With its secret, which is shown this once. */
const addedWebhook = t.Object(
  { ...t.Pick(webhook.schema, ['object', 'id', 'url', 'events']).properties, secret: t.String() },
  { $id: 'AddedWebhook' },
)
const delivery = object('Delivery', 'project.delivery', 'project_deliveries', 'delivery', noneHere('delivery'))
const begunDelivery = t.Object(
  { ...t.Pick(delivery.schema, ['object', 'id']).properties, state: t.Optional(t.Literal('pending')) },
  { $id: 'BegunDelivery' },
)

const tag = 'Webhooks'
const webhooks = collection(webhook, {
  tag,
  base: '/v1/organization/projects/:project_id/webhooks',
  own: 'webhook_id',
  functionsRefuse: true,
})
const deliveries = collection(delivery, {
  tag,
  base: '/v1/organization/projects/:project_id/deliveries',
  own: 'delivery_id',
})

/** As it is stored: `HTTPS://Example.com` is `https://example.com/`. */
function parseAddress(url: string, toPrivateNetworks: boolean): string {
  try {
    return checkUrl(url, toPrivateNetworks).href
  } catch (error) {
    if (!(error instanceof Unreached)) throw error
    throw invalidRequest(`The address is not one that can be told: ${error.message}.`, 'url')
  }
}

export const WEBHOOKS = [
  listAll(webhooks, 'List a project’s webhooks'),
  serveBy({
    method: 'POST',
    path: webhooks.base,
    tag,
    summary: 'Add a webhook',
    answer: addedWebhook,
    body: {
      url: textOf({ pattern: URL_FORM }),
      events: t.Optional(t.Array(textOf({ enum: KINDS }), { maxItems: 32 })),
    },
    async serve({ caller, options, ids: { project_id: projectId }, body: { url: given, events = [] } }) {
      const url = parseAddress(given, options.webhooksToPrivateNetworks)
      await requireProject(caller.actor, projectId)
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
      const bytes = await options.vault.seal(secret, { projectId, provider: SEALED_AS })
      const sealed = `\\x${Buffer.from(bytes).toString('hex')}`
      const id = await callAs(caller.actor, 'add_webhook', { project: projectId, url, kinds: events, sealed })
      return { object: webhook.kind, id: formatId('webhook', id), url, events, secret }
    },
  }),
  remove(webhooks, 'Remove a webhook', [
    'remove_webhook',
    ({ ids }) => ({ project: ids.project_id, webhook_id: ids.webhook_id }),
  ]),
  serveBy({
    method: 'POST',
    path: `${webhooks.base}/:webhook_id/test`,
    tag,
    kinds: { webhook_id: 'webhook' },
    summary: 'Tell a webhook of a test event',
    answer: begunDelivery,
    async serve({ caller, ids: { project_id: project, webhook_id } }) {
      const id = await callAs(caller.actor, 'send_test_event', { project, webhook_id })
      return { object: delivery.kind, id: formatId('delivery', id) }
    },
  }),
  list(deliveries, 'List what webhooks were told', {
    query: { webhook_id: cursorOf('webhook', 'Of this webhook alone.') },
    filter: ({ query }) => ({ _webhook_id: readCursor('webhook', query.webhook_id, 'webhook_id') }),
    newestFirst: true,
  }),
  serveBy({
    method: 'POST',
    path: `${deliveries.base}/:delivery_id/resend`,
    tag,
    kinds: { delivery_id: 'delivery' },
    summary: 'Tell a webhook again',
    answer: begunDelivery,
    async serve({ caller, ids: { project_id: project, delivery_id } }) {
      await callAs(caller.actor, 'resend_delivery', { project, delivery_id })
      return { object: delivery.kind, id: formatId('delivery', delivery_id), state: 'pending' }
    },
  }),
]
