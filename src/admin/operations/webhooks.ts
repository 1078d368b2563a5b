/** Webhooks of a project, among them e-mail addresses, and their deliveries. */
import { randomBytes } from 'node:crypto'
import { Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../../errors/errors.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { WEBHOOK_EVENT_TYPES } from '../../postgres/seeds.generated.ts'
import { defineOperation } from '../admin-operation.ts'
import {
  defineCollection,
  defineDelete,
  defineFullList,
  defineList,
  defineRead,
  defineUpdate,
} from '../define-operations.ts'
import { constrainedText } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { formatId } from '../ids.ts'
import type { Mailer } from '../mail/mailer.ts'
import { defineObject, notFoundInProject } from '../objects.ts'
import { cursorParameter, readCursor } from '../pagination.ts'
import { SECRET_SEAL_LABEL } from '../webhooks/deliver-webhooks.ts'
import { validateWebhookUrl, WebhookUnreachable } from '../webhooks/post-webhook.ts'

const SECRET_BYTES = 32
const MAX_SELECTED_EVENTS = 32
/** The pattern of URLs in the description. `validateWebhookUrl` checks more. */
const URL_FORM = '^([Hh][Tt][Tt][Pp][Ss]?|[Mm][Aa][Ii][Ll][Tt][Oo]):'
/** One address without parameters. It excludes what has a meaning in a list of addresses. */
const MAILTO = /^mailto:([^\s\p{Cc}@,;:<>()"?&%]{1,64}@[^\s\p{Cc}@,;:<>()"?&%]{1,190})$/iu
const KINDS = WEBHOOK_EVENT_TYPES.map(({ kind }) => kind)
const urlSchema = constrainedText({ pattern: URL_FORM, form: 'a URL that begins with https://, http:// or mailto:' })
const eventsSchema = t.Array(constrainedText({ enum: KINDS }), { maxItems: MAX_SELECTED_EVENTS })

const webhook = defineObject('Webhook', 'project.webhook', 'project_webhooks', 'webhook', notFoundInProject('webhook'))
/** The webhook with its secret, which is shown only once. */
const addedWebhook = t.Object(
  { ...t.Pick(webhook.schema, ['object', 'id', 'url', 'events', 'format']).properties, secret: t.String() },
  { $id: 'AddedWebhook' },
)
const delivery = defineObject(
  'Delivery',
  'project.delivery',
  'project_deliveries',
  'delivery',
  notFoundInProject('delivery'),
)
const startedDelivery = t.Object(
  { ...t.Pick(delivery.schema, ['object', 'id']).properties, state: t.Optional(t.Literal('pending')) },
  { $id: 'BegunDelivery' },
)

const tag = 'Webhooks'
const webhooks = defineCollection(webhook, {
  tag,
  basePath: '/v1/organization/projects/:project_id/webhooks',
  idParameter: 'webhook_id',
  isCheckedBySql: true,
})
const deliveries = defineCollection(delivery, {
  tag,
  basePath: '/v1/organization/projects/:project_id/deliveries',
  idParameter: 'delivery_id',
})

interface AddressRules {
  allowsPrivateWebhooks: boolean
  mailer: Mailer | null
}

/** Returns the URL in the form that is stored: `HTTPS://Example.com` becomes `https://example.com/`. */
function parseAddress(url: string, { allowsPrivateWebhooks: toPrivateNetworks, mailer }: AddressRules): string {
  if (/^mailto:/i.test(url)) {
    const address = MAILTO.exec(url)?.[1]
    if (address === undefined)
      throw invalidRequestError('The url is not valid: it must be mailto: and one e-mail address.', 'url')
    if (mailer === null)
      throw invalidRequestError('No mail can be sent: the operator must set SMTP_URL and MAIL_FROM.', 'url')
    return `mailto:${address}`
  }
  try {
    return validateWebhookUrl(url, toPrivateNetworks).href
  } catch (error) {
    if (!(error instanceof WebhookUnreachable)) throw error
    throw invalidRequestError(`The url is not valid: ${error.message}.`, 'url')
  }
}

export const WEBHOOK_OPERATIONS = [
  defineFullList(webhooks, 'List a project’s webhooks'),
  defineOperation({
    method: 'POST',
    path: webhooks.basePath,
    tag,
    summary: 'Add a webhook',
    response: addedWebhook,
    body: {
      url: urlSchema,
      events: t.Optional(eventsSchema),
      format: t.Optional(constrainedText({ enum: ['standard', 'slack', 'email'] })),
    },
    async serve({ caller, options, ids: { project_id: projectId }, body }) {
      const { events = [] } = body
      const url = parseAddress(body.url, options)
      const isMail = url.startsWith('mailto:')
      const format = body.format ?? (isMail ? 'email' : 'standard')
      if ((format === 'email') !== isMail)
        throw invalidRequestError(
          'The format email needs a url that begins with mailto:, and no other has one.',
          'format',
        )
      await requireProject(caller.actor, projectId)
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
      const sealed = await options.vault.seal(secret, { projectId, provider: SECRET_SEAL_LABEL })
      const added = { project: projectId, url, kinds: events, sealed, format }
      const id = await callAsActor(caller.actor, 'add_webhook', added)
      return { object: webhook.kind, id: formatId('webhook', id), url, events, format, secret }
    },
  }),
  defineRead(webhooks, 'Read a webhook'),
  defineUpdate(webhooks, 'Change the address or the events of a webhook', {
    requiresField: true,
    body: { url: t.Optional(urlSchema), events: t.Optional(eventsSchema) },
    calls: [
      'update_webhook',
      ({ ids, body, options }) => ({
        project: ids.project_id,
        webhook_id: ids.webhook_id,
        new_url: body.url === undefined ? null : parseAddress(body.url, options),
        new_kinds: body.events ?? null,
      }),
    ],
  }),
  defineDelete(webhooks, 'Remove a webhook', [
    'remove_webhook',
    ({ ids }) => ({ project: ids.project_id, webhook_id: ids.webhook_id }),
  ]),
  defineOperation({
    method: 'POST',
    path: `${webhooks.basePath}/:webhook_id/test`,
    tag,
    kinds: { webhook_id: 'webhook' },
    summary: 'Send a test event to a webhook',
    response: startedDelivery,
    async serve({ caller, ids: { project_id: project, webhook_id } }) {
      const id = await callAsActor(caller.actor, 'send_test_event', { project, webhook_id })
      return { object: delivery.kind, id: formatId('delivery', id) }
    },
  }),
  defineList(deliveries, 'List webhook deliveries', {
    query: { webhook_id: cursorParameter('webhook', 'Only deliveries to this webhook.') },
    filter: ({ query }) => ({ _webhook_id: readCursor('webhook', query.webhook_id) }),
    newestFirst: true,
  }),
  defineRead(deliveries, 'Read a webhook delivery'),
  defineOperation({
    method: 'POST',
    path: `${deliveries.basePath}/:delivery_id/resend`,
    tag,
    kinds: { delivery_id: 'delivery' },
    summary: 'Resend a delivery',
    response: startedDelivery,
    async serve({ caller, ids: { project_id: project, delivery_id } }) {
      await callAsActor(caller.actor, 'resend_delivery', { project, delivery_id })
      return { object: delivery.kind, id: formatId('delivery', delivery_id), state: 'pending' }
    },
  }),
]
