/** The sandbox as a provider: answers test keys in-process, at no cost, in the same forms as an upstream. */
import { encodeSse, splitAnswer } from '../openai-format/split.ts'
import { answerInSandbox } from './sandbox/answer-in-sandbox.ts'
import { answerPassed } from './sandbox/passed/answer-passed.ts'
import { withTranslations } from './translations/with-translations.ts'
import { unsupportedEndpoint } from './unsupported-endpoint.ts'
import type { Provider } from './upstream.ts'

const encoder = new TextEncoder()

export function createSandboxProvider(): Provider {
  const sandbox: Provider = {
    name: 'sandbox',
    pricedAs: null,
    pass: answerPassed,
    async ask({ endpoint, body, stream }) {
      if (endpoint === 'responses' || endpoint === 'messages') throw unsupportedEndpoint('The sandbox', endpoint)
      const answer = await answerInSandbox(endpoint, body)
      const bytes = stream
        ? encodeSse(splitAnswer(answer, { includeUsage: true }))
        : encoder.encode(JSON.stringify(answer))
      const type = stream ? 'text/event-stream' : 'application/json'
      return { status: 200, headers: new Headers({ 'content-type': type }), body: streamOf(bytes) }
    },
  }
  const target = { maxOutputTokens: null, canReason: true, keepsCacheMarks: false }
  return withTranslations(sandbox, { has: [], targetOf: () => target })
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
