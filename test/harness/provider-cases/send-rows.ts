/** Sends every row of the table twice through one proxy, and reads the responses and the records. */

import type { RecordedRequest } from '../../fake-provider/recording.ts'
import type { Backend } from '../backends.ts'
import { post } from '../client.ts'
import { startUpstreams, storeKey, type Upstreams } from '../direct-upstreams.ts'
import type { Outcome } from '../outcomes/outcome.ts'
import { readOutcome } from '../outcomes/read-outcome.ts'
import { startProxy, type TestProxy } from '../proxy.ts'
import type { Project, ProviderResponseBytes, Row } from './case.ts'
import { type CaseRequest, MODELS, pathOf, writeRequest } from './requests.ts'

export interface CaseOutcome extends Outcome {
  requestId: string
  status: number
  cache: string | null
  omitted: string | null
  body: string
  record: UsageRecord | undefined
}

export interface UsageRecord {
  p: number
  cp: number
  c: number
  cost: number
  estimated: string | null
}

export interface RowOutcomes {
  first: CaseOutcome
  second: CaseOutcome
}

export interface ProviderTable {
  proxy: TestProxy
  keys: Record<Project, string>
  /** Responses by a part of the request's text. */
  answers: Map<string, ProviderResponseBytes>
  stop(): Promise<void>
}

const AT_ONCE = 24
const HANGS_AFTER_MS = 60_000
const PROVIDERS = { oai: 'openai', ant: 'anthropic', groq: 'groq' } as const
const ENVIRONMENT = { UPSTREAM_MAX_RETRIES: '0', UPSTREAM_CIRCUIT_FAILURES: '1000000' }

export async function startTable(backend: Backend): Promise<ProviderTable> {
  const upstreams = await startUpstreams()
  const stores = await backend.open()
  const proxy = await startProxy({ stores, environment: { ...upstreams.environment, ...ENVIRONMENT } })
  const keys: Partial<Record<Project, string>> = {}
  for (const project of ['agg', 'oai', 'ant', 'groq'] as const) {
    keys[project] = await proxy.createKey({ project, type: 'project', settings: { semantic_mode: 'off' } })
    if (project !== 'agg') await storeKey(stores, project, PROVIDERS[project], 'sk-own')
  }
  const answers = new Map<string, ProviderResponseBytes>()
  answerFrom(answers, upstreams)
  return {
    proxy,
    keys: keys as Record<Project, string>,
    answers,
    async stop() {
      await proxy.stop()
      await upstreams.stop()
    },
  }
}

function answerFrom(answers: ProviderTable['answers'], { aggregator, openai, groq, anthropic }: Upstreams): void {
  const find = ({ bodyText }: RecordedRequest) => answers.get(/answer-\d+/.exec(bodyText)?.[0] ?? '')
  for (const fakeProvider of [aggregator, openai, groq])
    fakeProvider.script(request => {
      const { status, contentType, body } = find(request) ?? { status: 500, contentType: null, body: 'no answer' }
      return { kind: 'raw', status, headers: { 'content-type': contentType }, parts: body === '' ? [] : [body] }
    })
  anthropic.script(request => {
    const { status, contentType, body } = find(request) ?? { status: 500, contentType: null, body: 'no answer' }
    return { kind: 'raw', status, headers: contentType === null ? {} : { 'content-type': contentType }, body }
  })
}

/** The result is in the order of the rows. */
export async function sendRows(table: ProviderTable, rows: readonly Row[]): Promise<RowOutcomes[]> {
  const sent: RowOutcomes[] = []
  let next = 0
  async function work(): Promise<void> {
    for (let at = next++; at < rows.length; at = next++) sent[at] = await sendTwice(table, rows[at] as Row)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await table.proxy.settle()
  await addRecords(
    table.proxy,
    sent.flatMap(({ first, second }) => [first, second]),
  )
  return sent
}

let answers = 0

async function sendTwice(table: ProviderTable, { case: { project, tools, extra }, endpoint, mode, sent }: Row) {
  const name = `answer-${++answers}`
  table.answers.set(name, sent)
  const request = { endpoint, mode, model: MODELS[project], prompt: `Give me ${name}.`, tools, extra }
  const first = await sendOnce(table, project, request)
  return { first, second: await sendOnce(table, project, request) }
}

async function sendOnce({ proxy, keys }: ProviderTable, project: Project, request: CaseRequest): Promise<CaseOutcome> {
  const { endpoint, mode } = request
  const requestId = crypto.randomUUID()
  const sending = { headers: { 'x-request-id': requestId }, signal: AbortSignal.timeout(HANGS_AFTER_MS) }
  const response = await post(proxy, keys[project], pathOf(request), writeRequest(request), sending)
  const { status, headers } = response
  const { body, isCut } = await readBody(response)
  const contentType = headers.get('content-type') ?? ''
  return {
    ...readOutcome(endpoint, mode, { status, contentType, body, isCut }),
    requestId,
    status,
    cache: headers.get('x-proxy-cache'),
    omitted: headers.get('x-proxy-omitted') ?? OMITTED_COMMENT.exec(body)?.[1] ?? null,
    body,
    record: undefined,
  }
}

/** A stream reports omitted parts in a comment, because its headers are already sent; Gemini's in a field. */
const OMITTED_COMMENT = /(?:^: |\bfinishMessage":")x-proxy-omitted: ([^"\n]+)/m

async function readBody(response: Response): Promise<{ body: string; isCut: boolean }> {
  const decoder = new TextDecoder()
  let body = ''
  try {
    for await (const part of response.body ?? []) body += decoder.decode(part, { stream: true })
    return { body, isCut: false }
  } catch {
    return { body, isCut: true }
  }
}

async function addRecords(proxy: TestProxy, sent: readonly CaseOutcome[]): Promise<void> {
  const rows = await proxy.query<UsageRecord & { request_id: string }>(
    `select request_id, prompt_tokens as p, cached_prompt_tokens as cp, completion_tokens as c, cost_usd::float8 as cost, cost_estimated as estimated
     from usage_records where request_id in (${sent.map(({ requestId }) => `'${requestId}'`).join()})`,
  )
  const records = new Map(rows.map(({ request_id, ...record }) => [request_id, record]))
  for (const each of sent) each.record = records.get(each.requestId)
}
