/** Chat, Responses, Messages and Gemini treat every chat response of a provider alike. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import type { Endpoint } from '../harness/outcomes/outcome.ts'
import type { Row } from '../harness/provider-cases/case.ts'
import { anyResponse, type GeneratedResponse, textWithMangledUsage } from '../harness/provider-cases/generate.ts'
import { isKept } from '../harness/provider-cases/is-kept.ts'
import { type ProviderTable, type RowOutcomes, sendRows, startTable } from '../harness/provider-cases/send-rows.ts'
import { siblingCase } from '../harness/provider-cases/write-bytes.ts'

const ENDPOINTS: readonly Endpoint[] = ['chat', 'responses', 'messages', 'generate_content']
/** More than the prompt tokens of a generated request, which are counted if its provider reports none. Reported counts are higher. */
const LONGEST_ESTIMATE = 100
/** The same limit in each format. */
const LIMITS: Record<Endpoint, Record<string, number>> = {
  chat: { max_tokens: 4096 },
  responses: { max_output_tokens: 4096 },
  messages: { max_tokens: 4096 },
  generate_content: { max_output_tokens: 4096 },
}

type ByEndpoint<Value> = Record<Endpoint, Value>

describeOnce('any chat response', backend => {
  let table: ProviderTable

  beforeAll(async () => {
    table = await startTable(backend)
  })
  afterAll(() => table?.stop())

  async function send({ mode, sent }: GeneratedResponse): Promise<ByEndpoint<RowOutcomes>> {
    const rows = ENDPOINTS.map((endpoint): Row => {
      const each = siblingCase('generated', '', {}, {}, { tools: true, extra: LIMITS[endpoint] })
      return { case: each, endpoint, mode, sent, expected: {} }
    })
    const answered = await sendRows(table, rows)
    return Object.fromEntries(ENDPOINTS.map((endpoint, at) => [endpoint, answered[at]])) as ByEndpoint<RowOutcomes>
  }

  /** Checks that a value is the same at all endpoints. */
  function agree(read: (row: RowOutcomes) => unknown) {
    const property = fc.asyncProperty(anyResponse, async generated => {
      const rows = await send(generated)
      const [chat, ...others] = ENDPOINTS.map(endpoint => read(rows[endpoint]))
      for (const other of others) expect(other).toEqual(chat)
    })
    return fc.assert(property)
  }

  const isFailed = ({ first }: RowOutcomes) => first.end === 'error'

  test('has failed or not, at every endpoint alike', () =>
    agree(({ first }) => ({ isFailed: first.end === 'error', isEnded: first.end !== 'none' })))

  test('is stored or not, unless a part of it is omitted', () => {
    const property = fc.asyncProperty(anyResponse, async generated => {
      const rows = await send(generated)
      const isStored = (endpoint: Endpoint) => rows[endpoint].second.cache === 'HIT'
      for (const endpoint of ENDPOINTS) {
        if (rows[endpoint].first.omitted === null)
          expect({ endpoint, isStored: isStored(endpoint) }).toEqual({ endpoint, isStored: isStored('chat') })
      }
    })
    return fc.assert(property)
  })

  test('has the same text and the same calls', () =>
    agree(row => (isFailed(row) ? null : { text: row.first.text + row.first.refusal, calls: row.first.calls })))

  test('is recorded with the same tokens and cost', () =>
    agree(({ first: { record } }) => {
      // Estimates may differ, because they include the request's length and limit, which differ.
      const isEstimated = record?.estimated || (record?.p ?? 0) < LONGEST_ESTIMATE
      return record && isEstimated ? { isFree: record.cost === 0 } : record
    }))

  test('is read by strict clients, and is the same from the cache', () => {
    const property = fc.asyncProperty(anyResponse, async generated => {
      const rows = await send(generated)
      for (const endpoint of ENDPOINTS) {
        const { first, second } = rows[endpoint]
        expect({ endpoint, problems: [...first.problems, ...second.problems] }).toEqual({ endpoint, problems: [] })
        if (second.cache === 'HIT') expect({ endpoint, ...essence(second) }).toEqual({ endpoint, ...essence(first) })
      }
    })
    return fc.assert(property)
  })

  test('loses none of its strings', () => {
    const property = fc.asyncProperty(anyResponse, async generated => {
      const rows = await send(generated)
      for (const endpoint of ENDPOINTS) {
        const { first } = rows[endpoint]
        if (first.end === 'error') continue
        const output = [first.text, first.reasoning, first.refusal, JSON.stringify(first.calls)].join('\n')
        const lost = generated.texts.filter(text => !output.includes(text) && !isKept(first, text))
        expect({ endpoint, lost }).toEqual({ endpoint, lost: [] })
      }
    })
    return fc.assert(property)
  })

  test('with text is never free, whatever its usage is', () => {
    const property = fc.asyncProperty(textWithMangledUsage, async generated => {
      const rows = await send(generated)
      for (const endpoint of ENDPOINTS) {
        const { text, end, record } = rows[endpoint].first
        const isFree = !(record && record.cost > 0)
        expect({ endpoint, text, end, isFree }).toEqual({
          endpoint,
          text: generated.texts[0],
          end: 'stop',
          isFree: false,
        })
      }
    })
    return fc.assert(property)
  })
})

function essence({ text, calls, end }: RowOutcomes['first']): object {
  return { text, calls, end }
}
