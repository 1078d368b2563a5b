/** The sandbox as a provider: answers test keys in-process, free of charge, in the formats of an upstream. */
import { inPieces } from '../event-loop/in-pieces.ts'
import { Job, offLoop } from '../event-loop/off-loop.ts'
import { isLong, runOnBody } from './long-body.ts'
import { answerPassed } from './sandbox/passed/answer-passed.ts'
import { TEST_KEYS } from './sandbox/test-keys.ts'
import { type SandboxEndpoint, type SandboxInput, writeAnswer } from './sandbox/write-answer.ts'
import { withTranslations } from './translations/with-translations.ts'
import { unsupportedEndpoint } from './unsupported-endpoint.ts'
import type { Provider, UpstreamRequest } from './upstream.ts'

const ANSWER = new Job<SandboxInput, Uint8Array>(new URL('./sandbox/sandbox-job.ts', import.meta.url))

export function createSandboxProvider(): Provider {
  const sandbox: Provider = {
    name: 'sandbox',
    pricedAs: null,
    pass: answerPassed,
    async ask(request) {
      const { endpoint, stream } = request
      if (endpoint === 'responses' || endpoint === 'messages') throw unsupportedEndpoint('The sandbox', endpoint)
      const bytes = await write(request, endpoint)
      const type = stream ? 'text/event-stream' : 'application/json'
      return { status: 200, headers: new Headers({ 'content-type': type }), body: inPieces(bytes) }
    },
  }
  const target = { maxOutputTokens: null, canReason: true, keepsCacheMarks: false }
  return withTranslations(sandbox, { has: [], targetOf: () => target })
}

async function write(request: UpstreamRequest, endpoint: SandboxEndpoint): Promise<Uint8Array> {
  if (isLong(request)) return runOnBody(ANSWER, request, { endpoint, stream: request.stream }, TEST_KEYS)
  const { body, bodyText, stream } = request
  // A worker has chat's tokens counted anyway, and must not be kept while a schema is tried.
  if (endpoint === 'chat') return writeAnswer(endpoint, body, stream)
  return offLoop.run(ANSWER, { endpoint, stream, bytes: new TextEncoder().encode(bodyText) }, { owner: TEST_KEYS })
}
