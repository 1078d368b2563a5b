/**
 * Delivers projects' events to the addresses that are told of them, after the Standard Webhooks specification
 * (https://www.standardwebhooks.com). Any process takes any delivery; one address gets one at a time, so that a slow one delays itself alone.
 */
import { ProxyError } from '../../errors/errors.ts'
import { DeadlineTimer } from '../../event-loop/deadline-timer.ts'
import { createSigner } from '../../hooks/sign-message.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { Vault } from '../../providers/keys/vault.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { Log } from '../../telemetry/log.ts'
import { postWebhook, WebhookUnreachable } from './post-webhook.ts'

const MOST_AT_ONCE = 16
const LOOK_EVERY_MS = 2_000
const LOOK_AGAIN_AFTER_FAILURE_MS = 25_000
/** A part of the failure `deliveries`. */
const SETTLE = 'settle'
/** In place of a provider: no webhook's secret can be opened as a provider's key. */
export const SECRET_SEAL_LABEL = 'webhook'

type Delivery = RowOf<'claim_deliveries'>

export interface WebhookDeliveryLoop {
  /** Aborts what is under way; any process tries it again a minute later. */
  stop(): Promise<void>
}

export interface WebhookDeliveryOptions {
  database: Database
  vault: Pick<Vault, 'open'>
  allowsPrivateNetworks: boolean
  log: Log
  /** How often it looks for what other processes raised. */
  pollIntervalMs?: number | undefined
  /** How long it waits after it could not look. */
  retryAfterMs?: number | undefined
}

export function startWebhookDeliveries(options: WebhookDeliveryOptions): WebhookDeliveryLoop {
  const { database, log, pollIntervalMs = LOOK_EVERY_MS, retryAfterMs = LOOK_AGAIN_AFTER_FAILURE_MS } = options
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  const alarm = new DeadlineTimer(() => void look())

  async function look(): Promise<void> {
    try {
      const taken = await callFunction(database, 'claim_deliveries', { at_most: MOST_AT_ONCE - underWay.size })
      log.failures.recover('deliveries')
      for (const delivery of taken) begin(delivery)
      lookIn(taken.length > 0 ? 0 : pollIntervalMs)
    } catch (error) {
      if (!stopping.signal.aborted) log.failures.report('deliveries', error, 'events to deliver could not be read')
      lookIn(retryAfterMs)
    }
  }

  function begin(delivery: Delivery): void {
    const delivering = deliver(delivery, options, stopping.signal)
      .then(() => log.failures.recover('deliveries', SETTLE))
      .catch(error =>
        log.failures.report('deliveries', error, 'a delivery could not be settled; it is tried again', {
          part: SETTLE,
        }),
      )
      .finally(() => {
        underWay.delete(delivering)
        lookIn(0)
      })
    underWay.add(delivering)
  }

  function lookIn(delayMs: number): void {
    if (!stopping.signal.aborted && underWay.size < MOST_AT_ONCE) alarm.schedule(delayMs)
  }

  lookIn(pollIntervalMs)
  return {
    async stop() {
      stopping.abort()
      alarm.clear()
      await Promise.all(underWay)
    },
  }
}

async function deliver(delivery: Delivery, options: WebhookDeliveryOptions, stopping: AbortSignal): Promise<void> {
  const outcome = await attempt(delivery, options, stopping)
  if (!stopping.aborted)
    await callFunction(options.database, 'record_delivery_result', { of_delivery: delivery.id, ...outcome })
}

async function attempt(
  delivery: Delivery,
  { vault, allowsPrivateNetworks }: WebhookDeliveryOptions,
  signal: AbortSignal,
): Promise<{ answered: number | null; went_wrong: string | null }> {
  const { url, project_id: projectId, sealed } = delivery
  try {
    const secret = await vault.open(sealed, { projectId, provider: SECRET_SEAL_LABEL })
    const answered = await postWebhook({
      url,
      ...(await writeMessage(delivery, secret)),
      allowsPrivateNetworks,
      signal,
    })
    return { answered, went_wrong: answered >= 200 && answered < 300 ? null : `it answered ${answered}` }
  } catch (error) {
    const isTold = error instanceof WebhookUnreachable || error instanceof ProxyError
    return { answered: null, went_wrong: isTold ? error.message : describeCause(error) }
  }
}

/** Every attempt has the same body and id, and a timestamp and a signature of its own. */
async function writeMessage({ event_id, kind, at, payload }: Delivery, secret: string) {
  const id = `msg_${event_id.replaceAll('-', '')}`
  const body = `{"type":"${kind}","timestamp":"${at.toISOString()}","data":${payload}}`
  return { headers: await createSigner(secret)(id, Buffer.from(body)), body }
}
