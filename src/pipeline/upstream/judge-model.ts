/** Calls the judge model of the cache, along the same routes as the project's requests. A slow or failing model is skipped for a while. */

import { LRUCache } from 'lru-cache'
import type { PrepareJudgeCall } from '../../cache/judge/judge-call.ts'
import { type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { ProxyError } from '../../errors/errors.ts'
import { chatFormat } from '../../formats/chat/chat-format.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { fillMissingCounts, NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { CircuitBreaker } from '../../providers/circuit-breaker.ts'
import { type ModelRouter, withoutModelAllowlist } from '../../providers/model-router.ts'
import { readAllBytes } from '../../providers/read-bytes.ts'
import type { Provider } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import type { Log } from '../../telemetry/log.ts'

/** A verdict has a few tokens. A model that needs more is too slow to wait for. */
const MAX_COMPLETION_TOKENS = 200
const MAX_RESPONSE_BYTES = 65_536
const FAILURES = 3
const OPEN_MS = 5_000
const MAX_CIRCUITS = 10_000

export function createJudgeCallPreparer(modelRouter: ModelRouter, catalogue: Catalogue, log: Log): PrepareJudgeCall {
  // Separate from the providers' circuits: a judge call that timed out says nothing about the provider.
  const circuits = new LRUCache<string, CircuitBreaker>({ max: MAX_CIRCUITS })

  function circuitOf(projectId: number, model: string): CircuitBreaker {
    const name = `${projectId} ${model}`
    let circuit = circuits.get(name)
    if (!circuit) {
      circuit = new CircuitBreaker({
        failures: FAILURES,
        openMs: OPEN_MS,
        onOpen: waitMs => log.warn({ projectId, model, waitMs }, 'judge model is skipped: its recent calls failed'),
        onClose: () => log.info({ projectId, model }, 'judge model is called again'),
      })
      circuits.set(name, circuit)
    }
    return circuit
  }

  return (resolvedKey, messages, schema) => {
    const { semantic_judge_model: model, project_id } = resolvedKey
    const provider = modelRouter.resolve(model, { ...withoutModelAllowlist(resolvedKey), named_provider_keys: null })
    if (provider instanceof ProxyError) return null
    const body = {
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } },
      max_completion_tokens: MAX_COMPLETION_TOKENS,
    }
    const catalogueModel = catalogue.find(provider.pricedAs, model)
    const priceOf = (usage: TokenUsage) =>
      provider.pricedAs === null ? 0 : (computeCostUsd(catalogueModel, usage) ?? 0)
    const promptTokens = estimatePromptTokens(body, 'chat')
    const maxUsage = { ...NO_USAGE, promptTokens, completionTokens: MAX_COMPLETION_TOKENS }
    const usageOf = (response: JsonObject) =>
      fillMissingCounts(
        omitImplausibleCost(chatFormat.readUsage(null, response) ?? maxUsage, provider, catalogueModel),
        maxUsage,
      )
    return {
      estimatedUsd: priceOf(maxUsage),
      async send(signal, trace) {
        const circuit = circuitOf(project_id, model)
        if (circuit.waitMs() > 0)
          throw brokenResponseError(provider.name, 'is skipped as a judge because its recent calls failed')
        const attempt = circuit.enter()
        try {
          const description = { endpoint: 'chat', model, provider: provider.name, purpose: 'judge' as const }
          const send = (headers: Headers) => sendToJudge(provider, body, headers, signal)
          const response = await (trace ? trace.traceInternalCall(description, send) : send(new Headers()))
          attempt.settle('well')
          return { content: readContent(response), costUsd: priceOf(usageOf(response)) }
        } catch (error) {
          attempt.settle('failed')
          throw error
        }
      },
    }
  }
}

async function sendToJudge(
  provider: Provider,
  body: JsonObject,
  headers: Headers,
  signal: AbortSignal,
): Promise<JsonObject> {
  const bodyText = JSON.stringify(body)
  const request = { endpoint: 'chat' as const, bodyText, body, headers, stream: false, signal }
  const response = await provider.send(request)
  const bytes = response.plain?.bytes ?? (await readAllBytes(response.body, provider.name, MAX_RESPONSE_BYTES))
  if (response.status !== 200)
    throw brokenResponseError(provider.name, `responded to the judge request with status ${response.status}`)
  const parsed = parseJsonObject(new TextDecoder().decode(bytes))
  if (!parsed) throw brokenResponseError(provider.name, 'sent a response that is not a JSON object')
  return parsed
}

/** Returns '' for an incomplete response, which has no verdict. */
function readContent({ choices }: JsonObject): string {
  const [choice] = Array.isArray(choices) ? choices : []
  if (!isJsonObject(choice) || choice.finish_reason !== 'stop' || !isJsonObject(choice.message)) return ''
  return typeof choice.message.content === 'string' ? choice.message.content : ''
}
