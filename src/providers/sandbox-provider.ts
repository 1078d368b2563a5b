/** The sandbox as a provider: answers test keys in-process, free of charge, in the formats of an upstream. */
import { refuse } from '../errors/errors.ts'
import { inPieces } from '../event-loop/in-pieces.ts'
import { Job } from '../event-loop/off-loop.ts'
import { isTranslated } from '../formats/format-of.ts'
import { isLong, runOnBody } from './long-body.ts'
import type { SandboxAnswer, SandboxInput, SandboxTarget } from './sandbox/answer.ts'
import { withTranslations } from './translations/with-translations.ts'
import type { Provider, UpstreamAnswer, UpstreamRequest } from './upstream.ts'

/** A worker answers, which alone loads vocabularies. */
const ANSWER = new Job<SandboxInput, SandboxAnswer>(new URL('./jobs.ts', import.meta.url), 'answerInSandbox')
/** The owner of its jobs: test keys share one turn, so that they hardly delay other projects. */
const TEST_KEYS = 'test keys'

export function createSandboxProvider(): Provider {
  const sandbox: Provider = {
    name: 'sandbox',
    pricedAs: null,
    hasFloatVectors: true,
    pass: ({ path, body }) => answer({ path }, body === null || body.form ? encode(body?.fields ?? {}) : body.bytes),
    ask: request => answer(targetOf(request), isLong(request) ? request.bodyBytes : encode(request.body)),
  }
  const target = { maxOutputTokens: null, canReason: true, keepsCacheMarks: false }
  return withTranslations(sandbox, { has: [], targetOf: () => target, extrasKeys: null })
}

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

function targetOf({ endpoint, stream }: UpstreamRequest): SandboxTarget {
  if (isTranslated(endpoint)) throw refuse('endpointUnsupported', { vendor: 'The sandbox', endpoint })
  return { endpoint, stream }
}

async function answer(target: SandboxTarget, bodyBytes: Uint8Array): Promise<UpstreamAnswer> {
  const { contentType, bytes } = await runOnBody<SandboxTarget, SandboxAnswer>(
    ANSWER,
    { bodyBytes, owner: TEST_KEYS },
    target,
  )
  return {
    status: 200,
    headers: new Headers({ 'content-type': contentType }),
    body: inPieces(bytes),
    mayStore: () => true,
  }
}
