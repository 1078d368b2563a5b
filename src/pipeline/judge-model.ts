/**
 * Asks a model for the cache's judge, along the same routes as the project's requests. A slow or failing model is skipped for a while.
 */

import { LRUCache } from 'lru-cache'
import type { PrepareModelCall } from '../cache/judge/model-call.ts'
import { type Catalogue, costUsd } from '../catalogue/catalogue.ts'
import { checkReportedCost } from '../catalogue/reported-cost.ts'
import { ProxyError } from '../errors/errors.ts'
import { chatFormat } from '../formats/chat/chat-format.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../formats/json/canonical.ts'
import { fillMissing, NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import { type Breaker, createBreaker } from '../providers/circuits.ts'
import { type ModelRouter, unnarrowed } from '../providers/model-router.ts'
import { readAll } from '../providers/read-bytes.ts'
import type { Provider } from '../providers/upstream.ts'
import { broken } from '../providers/upstream-failure.ts'
import type { Log } from '../telemetry/log.ts'

/** A verdict is a few tokens; a model that thinks for longer is too slow to wait for. */
const MAX_COMPLETION_TOKENS = 200
const MAX_ANSWER_BYTES = 65_536
const FAILURES = 3
const OPEN_MS = 5_000
const MAX_CIRCUITS = 10_000

export function createModelCaller(modelRouter: ModelRouter, catalogue: Catalogue, log: Log): PrepareModelCall {
  // Separate from the providers' circuits: a judge call that timed out says nothing about the provider.
  const circuits = new LRUCache<string, Breaker>({ max: MAX_CIRCUITS })

  function circuitOf(projectId: number, model: string): Breaker {
    const name = `${projectId} ${model}`
    let circuit = circuits.get(name)
    if (!circuit) {
      circuit = createBreaker({
        failures: FAILURES,
        openMs: OPEN_MS,
        onOpen: waitMs => log.warn({ projectId, model, waitMs }, 'the judge is left alone'),
        onClose: () => log.info({ projectId, model }, 'the judge is asked again'),
      })
      circuits.set(name, circuit)
    }
    return circuit
  }

  return (account, messages, schema) => {
    const { semantic_judge_model: model, project_id } = account
    const provider = modelRouter.resolve(model, { ...unnarrowed(account), named_provider_keys: null })
    if (provider instanceof ProxyError) return null
    const body = {
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } },
      max_completion_tokens: MAX_COMPLETION_TOKENS,
    }
    const listed = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, model)
    const priceOf = (usage: TokenUsage) => (provider.pricedAs === null ? 0 : (costUsd(listed, usage) ?? 0))
    const promptTokens = estimatePromptTokens(body, 'chat')
    const usual = { ...NO_USAGE, promptTokens, completionTokens: MAX_COMPLETION_TOKENS }
    const usageOf = (answer: JsonObject) =>
      fillMissing(checkReportedCost(chatFormat.readUsage(null, answer) ?? usual, provider, listed), usual)
    return {
      estimatedUsd: priceOf(usual),
      async ask(signal, trace) {
        const entered = circuitOf(project_id, model).enter()
        if ('waitMs' in entered) throw broken(provider.name, 'is left alone as a judge for now')
        try {
          const aside = { endpoint: 'chat', model, provider: provider.name, purpose: 'judge' as const }
          const ask = (headers: Headers) => askPlain(provider, body, headers, signal)
          const answer = await (trace ? trace.traceAside(aside, ask) : ask(new Headers()))
          entered.settle('well')
          return { content: contentOf(answer), costUsd: priceOf(usageOf(answer)) }
        } catch (error) {
          entered.settle('failed')
          throw error
        }
      },
    }
  }
}

async function askPlain(
  provider: Provider,
  body: JsonObject,
  headers: Headers,
  signal: AbortSignal,
): Promise<JsonObject> {
  const bodyText = JSON.stringify(body)
  const asked = { endpoint: 'chat' as const, bodyText, body, headers, stream: false, signal }
  const answer = await provider.ask(asked)
  const bytes = answer.plain?.bytes ?? (await readAll(answer.body, provider.name, MAX_ANSWER_BYTES))
  if (answer.status !== 200) throw broken(provider.name, `answered the judge's question with status ${answer.status}`)
  const parsed = parseJsonObject(new TextDecoder().decode(bytes))
  if (!parsed) throw broken(provider.name, 'gave an answer that is not a JSON object')
  return parsed
}

/** Returns '' for an incomplete response: it is no verdict. */
function contentOf({ choices }: JsonObject): string {
  const [choice] = Array.isArray(choices) ? choices : []
  if (!isJsonObject(choice) || choice.finish_reason !== 'stop' || !isJsonObject(choice.message)) return ''
  return typeof choice.message.content === 'string' ? choice.message.content : ''
}
