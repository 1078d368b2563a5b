/**
 * Delivers events to webhooks as the Standard Webhooks specification defines (https://www.standardwebhooks.com), with the body that Slack
 * reads, or as mails. Any process may claim any delivery. A webhook gets one delivery at a time, so that a slow one delays only itself.
 */
import { ProxyError } from '../../errors/errors.ts'
import { DeadlineTimer } from '../../event-loop/deadline-timer.ts'
import { createSigner } from '../../hooks/sign-message.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { Vault } from '../../providers/keys/vault.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { Log } from '../../telemetry/log.ts'
import { type Mailer, MailNotSent } from '../mail/mailer.ts'
import { writeEventMail, writeSlackMessage } from './event-messages.ts'
import { postWebhook, WebhookUnreachable } from './post-webhook.ts'

const MAX_CONCURRENT_DELIVERIES = 16
const POLL_EVERY_MS = 2_000
const RETRY_AFTER_FAILURE_MS = 25_000
/** The part of the failure `deliveries` that reports unrecorded results. */
const SETTLE = 'settle'
/** The label under which secrets are sealed, in place of a provider, so that a webhook's secret cannot be opened as a provider key. */
export const SECRET_SEAL_LABEL = 'webhook'

type Delivery = RowOf<'claim_deliveries'>

export interface WebhookDeliveryLoop {
  /** Aborts deliveries in flight. Any process retries them a minute later. */
  stop(): Promise<void>
}

export interface WebhookDeliveryOptions {
  database: Database
  vault: Pick<Vault, 'open'>
  allowsPrivateNetworks: boolean
  /** Null if no mail is sent. */
  mailer: Mailer | null
  /** The dashboard's public origin, to which messages link; null if it is unknown. */
  dashboardOrigin: string | null
  log: Log
  /** The interval at which deliveries are claimed. */
  pollIntervalMs?: number | undefined
  /** The delay after a failure to claim deliveries. */
  retryAfterMs?: number | undefined
}

export function startWebhookDeliveries(options: WebhookDeliveryOptions): WebhookDeliveryLoop {
  const { database, log, pollIntervalMs = POLL_EVERY_MS, retryAfterMs = RETRY_AFTER_FAILURE_MS } = options
  const stopping = new AbortController()
  const inFlight = new Set<Promise<void>>()
  const timer = new DeadlineTimer(() => void claimAndDeliver())

  async function claimAndDeliver(): Promise<void> {
    try {
      const claimed = await callFunction(database, 'claim_deliveries', {
        max_rows: MAX_CONCURRENT_DELIVERIES - inFlight.size,
      })
      log.failures.recover('deliveries')
      for (const delivery of claimed) start(delivery)
      schedule(claimed.length > 0 ? 0 : pollIntervalMs)
    } catch (error) {
      if (!stopping.signal.aborted) log.failures.report('deliveries', error, 'events to deliver could not be read')
      schedule(retryAfterMs)
    }
  }

  function start(delivery: Delivery): void {
    const delivering = deliver(delivery, options, stopping.signal)
      .then(() => log.failures.recover('deliveries', SETTLE))
      .catch(error =>
        log.failures.report('deliveries', error, 'a delivery could not be settled; it is tried again', {
          part: SETTLE,
        }),
      )
      .finally(() => {
        inFlight.delete(delivering)
        schedule(0)
      })
    inFlight.add(delivering)
  }

  function schedule(delayMs: number): void {
    if (!stopping.signal.aborted && inFlight.size < MAX_CONCURRENT_DELIVERIES) timer.schedule(delayMs)
  }

  schedule(pollIntervalMs)
  return {
    async stop() {
      stopping.abort()
      timer.clear()
      await Promise.all(inFlight)
    },
  }
}

async function deliver(delivery: Delivery, options: WebhookDeliveryOptions, stopping: AbortSignal): Promise<void> {
  const outcome = await attempt(delivery, options, stopping)
  const attempted = { of_delivery: delivery.id, to_url: delivery.url }
  if (!stopping.aborted) await callFunction(options.database, 'record_delivery_result', { ...attempted, ...outcome })
}

interface Outcome {
  /** The HTTP status, or the reply code of a mail server; null if there was none. */
  response_status: number | null
  /** Null if the receiver accepted the event. */
  failure: string | null
}

async function attempt(delivery: Delivery, options: WebhookDeliveryOptions, signal: AbortSignal): Promise<Outcome> {
  try {
    if (delivery.format === 'email') return await sendMail(delivery, options, signal)
    const status = await post(delivery, options, signal)
    return { response_status: status, failure: status >= 200 && status < 300 ? null : `it answered ${status}` }
  } catch (error) {
    const hasClientMessage =
      error instanceof WebhookUnreachable || error instanceof MailNotSent || error instanceof ProxyError
    return {
      response_status: error instanceof MailNotSent ? error.status : null,
      failure: hasClientMessage ? error.message : describeCause(error),
    }
  }
}

async function sendMail(
  delivery: Delivery,
  { mailer, dashboardOrigin }: WebhookDeliveryOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  if (mailer === null) throw new MailNotSent('no mail can be sent: SMTP_URL is not set')
  const mail = writeEventMail(delivery, dashboardOrigin)
  await mailer.send({ ...mail, to: delivery.url.slice('mailto:'.length), id: messageIdOf(delivery) }, signal)
  return { response_status: null, failure: null }
}

async function post(
  delivery: Delivery,
  { vault, allowsPrivateNetworks, dashboardOrigin }: WebhookDeliveryOptions,
  signal: AbortSignal,
): Promise<number> {
  const { url, project_id: projectId, sealed } = delivery
  const secret = await vault.open(sealed, { projectId, provider: SECRET_SEAL_LABEL })
  return postWebhook({ url, ...(await writeMessage(delivery, secret, dashboardOrigin)), allowsPrivateNetworks, signal })
}

function messageIdOf({ event_id }: Delivery): string {
  return `msg_${event_id.replaceAll('-', '')}`
}

/** Writes the message of an attempt. All attempts have the same body and id; each has its own timestamp and signature. */
async function writeMessage(delivery: Delivery, secret: string, dashboardOrigin: string | null) {
  const { format, kind, at, payload } = delivery
  const id = messageIdOf(delivery)
  const body =
    format === 'slack'
      ? writeSlackMessage(delivery, dashboardOrigin)
      : `{"type":"${kind}","timestamp":"${at.toISOString()}","data":${payload}}`
  return { headers: await createSigner(secret)(id, Buffer.from(body)), body }
}
