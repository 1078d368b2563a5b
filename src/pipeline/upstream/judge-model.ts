/**
 * Asks a model for the cache's judge, along the same routes as the project's requests. A slow or failing model is skipped for a while.
 */

import { LRUCache } from 'lru-cache'
import type { PrepareJudgeCall } from '../../cache/judge/judge-call.ts'
import { type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { ProxyError } from '../../errors/errors.ts'
import { chatFormat } from '../../formats/chat/chat-format.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { fillMissingCounts, NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { type CircuitBreaker, createCircuitBreaker } from '../../providers/circuit-breakers.ts'
import { type ModelRouter, withoutModelAllowlist } from '../../providers/model-router.ts'
import { readAllBytes } from '../../providers/read-bytes.ts'
import type { Provider } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import type { Log } from '../../telemetry/log.ts'

/** A verdict is a few tokens; a model that thinks for longer is too slow to wait for. */
const MAX_COMPLETION_TOKENS = 200
const MAX_ANSWER_BYTES = 65_536
const FAILURES = 3
const OPEN_MS = 5_000
const MAX_CIRCUITS = 10_000

export function createJudgeModelCaller(modelRouter: ModelRouter, catalogue: Catalogue, log: Log): PrepareJudgeCall {
  // Separate from the providers' circuits: a judge call that timed out says nothing about the provider.
  const circuits = new LRUCache<string, CircuitBreaker>({ max: MAX_CIRCUITS })

  function circuitOf(projectId: number, model: string): CircuitBreaker {
    const name = `${projectId} ${model}`
    let circuit = circuits.get(name)
    if (!circuit) {
      circuit = createCircuitBreaker({
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
    const provider = modelRouter.resolve(model, { ...withoutModelAllowlist(account), named_provider_keys: null })
    if (provider instanceof ProxyError) return null
    const body = {
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } },
      max_completion_tokens: MAX_COMPLETION_TOKENS,
    }
    const listed = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, model)
    const priceOf = (usage: TokenUsage) => (provider.pricedAs === null ? 0 : (computeCostUsd(listed, usage) ?? 0))
    const promptTokens = estimatePromptTokens(body, 'chat')
    const usual = { ...NO_USAGE, promptTokens, completionTokens: MAX_COMPLETION_TOKENS }
    const usageOf = (answer: JsonObject) =>
      fillMissingCounts(omitImplausibleCost(chatFormat.readUsage(null, answer) ?? usual, provider, listed), usual)
    return {
      estimatedUsd: priceOf(usual),
      async send(signal, trace) {
        const entered = circuitOf(project_id, model).tryEnter()
        if ('waitMs' in entered) throw brokenResponseError(provider.name, 'is left alone as a judge for now')
        try {
          const aside = { endpoint: 'chat', model, provider: provider.name, purpose: 'judge' as const }
          const ask = (headers: Headers) => askPlain(provider, body, headers, signal)
          const answer = await (trace ? trace.traceInternalCall(aside, ask) : ask(new Headers()))
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
  const answer = await provider.send(asked)
  const bytes = answer.plain?.bytes ?? (await readAllBytes(answer.body, provider.name, MAX_ANSWER_BYTES))
  if (answer.status !== 200)
    throw brokenResponseError(provider.name, `answered the judge's question with status ${answer.status}`)
  const parsed = parseJsonObject(new TextDecoder().decode(bytes))
  if (!parsed) throw brokenResponseError(provider.name, 'gave an answer that is not a JSON object')
  return parsed
}

/** Returns '' for an incomplete response: it is no verdict. */
function contentOf({ choices }: JsonObject): string {
  const [choice] = Array.isArray(choices) ? choices : []
  if (!isJsonObject(choice) || choice.finish_reason !== 'stop' || !isJsonObject(choice.message)) return ''
  return typeof choice.message.content === 'string' ? choice.message.content : ''
}
