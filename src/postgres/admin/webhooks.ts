/** Projects' webhooks and what they were told. */
import { defineChange, defineRead } from './act-as.ts'
import type { DeliveryRow, WebhookRow } from './rows.ts'

export const listWebhooks = defineRead<WebhookRow>()('list_webhooks', { of_project: 'bigint' })
/** `sealed`: encrypted bytes in PostgreSQL's text format, `\\x` and hex. */
export const addWebhook = defineChange<{ result: number }>()('add_webhook', {
  project: 'project',
  url: 'text',
  kinds: 'text[]',
  sealed: 'bytea',
})
export const removeWebhook = defineChange()('remove_webhook', { project: 'project', webhook_id: 'bigint' })
export const sendTestEvent = defineChange<{ result: number }>()('send_test_event', {
  project: 'project',
  webhook_id: 'bigint',
})
export const pageOfDeliveries = defineRead<DeliveryRow>()('page_of_deliveries', {
  of_project: 'bigint',
  of_webhook: 'bigint?',
  after_id: 'bigint?',
  page_size: 'integer',
})
export const resendDelivery = defineChange()('resend_delivery', { project: 'project', delivery_id: 'bigint' })
