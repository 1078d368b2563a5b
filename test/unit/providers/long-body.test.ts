import { expect, test } from 'vitest'
import { replaceLongBody } from '../../../src/providers/long-body.ts'
import { withTranslations } from '../../../src/providers/translations/with-translations.ts'
import type { Provider, UpstreamRequest } from '../../../src/providers/upstream.ts'

test('translates a long request like a short one, and reports it', async () => {
  const asked: UpstreamRequest[] = []
  const provider: Provider = {
    name: 'p',
    pricedAs: null,
    send: async request => {
      asked.push(request)
      return { status: 500, headers: new Headers(), body: new Blob(['{}']).stream(), isStorable: () => true }
    },
  }
  const target = { maxOutputTokens: null, canReason: true, supportsCacheControl: false }
  const translating = withTranslations(provider, {
    nativeEndpoints: [],
    resolveTarget: () => target,
    extrasKeys: null,
    turnRulesOf: () => [],
  })
  const body = { model: 'm', input: 'Hi' }
  const bodyText = JSON.stringify(body)
  const { signal } = new AbortController()
  const sent = { endpoint: 'responses', headers: new Headers(), stream: false, signal } as const
  await translating.send({ ...sent, body, bodyText })
  await translating.send(replaceLongBody(sent, body, new TextEncoder().encode(bodyText)))
  const [short, long] = asked.map(request => [request.endpoint, request.isTranslated, JSON.parse(request.bodyText)])
  expect(short).toEqual(['chat', true, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }])
  expect(long).toEqual(short)
})
