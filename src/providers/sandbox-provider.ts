/** The sandbox as a provider: answers test keys in-process, free of charge, in the formats of an upstream. */
import { inPieces } from '../event-loop/in-pieces.ts'
import { Job } from '../event-loop/off-loop.ts'
import { isLong, runOnBody } from './long-body.ts'
import { type SandboxAnswer, type SandboxTarget, writeAnswer } from './sandbox/answer.ts'
import type { SandboxInput } from './sandbox/sandbox-job.ts'
import { TEST_KEYS } from './sandbox/test-keys.ts'
import { withTranslations } from './translations/with-translations.ts'
import { unsupportedEndpoint } from './unsupported-endpoint.ts'
import type { PassedRequest, Provider, UpstreamAnswer, UpstreamRequest } from './upstream.ts'

const ANSWER = new Job<SandboxInput, SandboxAnswer>(new URL('./sandbox/sandbox-job.ts', import.meta.url))

export function createSandboxProvider(): Provider {
  const sandbox: Provider = {
    name: 'sandbox',
    pricedAs: null,
    pass: async request => respond(await answerPassed(request)),
    ask: async request => respond(await answer(request)),
  }
  const target = { maxOutputTokens: null, canReason: true, keepsCacheMarks: false }
  return withTranslations(sandbox, { has: [], targetOf: () => target })
}

function respond({ contentType, bytes }: SandboxAnswer): UpstreamAnswer {
  return { status: 200, headers: new Headers({ 'content-type': contentType }), body: inPieces(bytes) }
}

async function answer(request: UpstreamRequest): Promise<SandboxAnswer> {
  const { endpoint, stream } = request
  if (endpoint === 'responses' || endpoint === 'messages') throw unsupportedEndpoint('The sandbox', endpoint)
  const target = { endpoint, stream }
  if (isLong(request)) return answerBytes(target, request.bodyBytes)
  // A worker has chat's tokens counted anyway, and must not be kept while a schema is tried.
  if (endpoint === 'chat') return writeAnswer(target, request.body)
  return answerBytes(target, new TextEncoder().encode(request.bodyText))
}

/** A form's fields are few and short. */
async function answerPassed({ path, body }: PassedRequest): Promise<SandboxAnswer> {
  return body === null || body.form ? writeAnswer({ path }, body?.fields ?? {}) : answerBytes({ path }, body.bytes)
}

/** On a copy of the bytes: they may be needed again. */
function answerBytes(target: SandboxTarget, bodyBytes: Uint8Array): Promise<SandboxAnswer> {
  return runOnBody<SandboxTarget, SandboxAnswer>(ANSWER, { bodyBytes }, target, TEST_KEYS)
}
