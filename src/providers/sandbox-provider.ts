/** The sandbox as a provider: answers test keys in-process, free of charge, in the formats of an upstream. */
import { createError } from '../errors/errors.ts'
import { streamInChunks } from '../event-loop/chunks.ts'
import { WorkerJob } from '../event-loop/worker-pool.ts'
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import { withAttempts } from './attempts.ts'
import { isLongRequest, runBodyJob } from './long-body.ts'
import type { SandboxInput, SandboxResponse, SandboxTarget } from './sandbox/response.ts'
import { withTranslations } from './translations/with-translations.ts'
import type { Provider, UpstreamRequest, UpstreamResponse } from './upstream.ts'

/** Runs in a worker, because only workers load vocabularies. */
const RESPOND = new WorkerJob<SandboxInput, SandboxResponse>(
  new URL('./jobs.ts', import.meta.url),
  'respondInSandboxJob',
)
/** The owner of all jobs of the sandbox: test keys share one turn, so that they hardly delay other projects. */
const TEST_KEYS = 'test keys'

export function createSandboxProvider(): Provider {
  const sandbox: Provider = {
    name: 'sandbox',
    pricedAs: null,
    hasFloatVectors: true,
    passThrough: ({ path, body }) =>
      respond({ path }, body === null || body.form ? encode(body?.fields ?? {}) : body.bytes),
    send: request => respond(targetOf(request), isLongRequest(request) ? request.bodyBytes : encode(request.body)),
  }
  const target = { maxOutputTokens: null, canReason: true, supportsCacheControl: false }
  const options = { nativeEndpoints: [], resolveTarget: () => target, extrasKeys: null, turnRulesOf: () => [] }
  return withAttempts(withTranslations(sandbox, options), null)
}

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

function targetOf({ endpoint, stream }: UpstreamRequest): SandboxTarget {
  if (isTranslatableEndpoint(endpoint)) throw createError('endpointUnsupported', { vendor: 'The sandbox', endpoint })
  return { endpoint, stream }
}

async function respond(target: SandboxTarget, bodyBytes: Uint8Array): Promise<UpstreamResponse> {
  const { contentType, bytes } = await runBodyJob<SandboxTarget, SandboxResponse>(
    RESPOND,
    { bodyBytes, owner: TEST_KEYS },
    target,
  )
  return {
    status: 200,
    headers: new Headers({ 'content-type': contentType }),
    body: streamInChunks(bytes),
    isStorable: () => true,
  }
}
