/** Catalogue entries with status 500 and above. The operator, the proxy's stores or a provider must fix them. */
import { CLOSE_CONNECTION, DO_NOT_RETRY, defineErrors, type ErrorDefinition, RETRY_SOON } from './error-definition.ts'

export const SERVER_ERRORS = {
  // Missing setup by the operator or the project.
  ...defineErrors(503, 'service_unavailable', {
    localServerNotSet: {
      description:
        'The vendor in the name is a server that needs no key, and the operator has not set its address. Its usual address is used without a setting only with the embedded database and without an aggregator.',
      message:
        'The address of {title} is not set for model {model}: the operator must set {setting}, or change the vendor’s row.',
      headers: DO_NOT_RETRY,
    },
    noUpstreamForVendor: {
      description: 'There is neither an aggregator nor a key for the vendor in the name.',
      message:
        'No upstream is configured for model {model}: the project must store a key for {providers}, or the operator set AGGREGATOR_API_KEY.',
      headers: DO_NOT_RETRY,
    },
    noStorageProvider: {
      description: 'There is neither an aggregator nor a key for a provider that stores files or batches.',
      message:
        'No upstream is configured for files and batches: the project must store a key for openai or groq, or the operator set AGGREGATOR_API_KEY.',
      headers: DO_NOT_RETRY,
    },
    noAggregator: {
      description: 'Only an aggregator can reach the vendor in the name, and none is configured.',
      message:
        'No upstream is configured for <vendor>/<model> names. The operator must set AGGREGATOR_API_KEY; test keys (lgw_test_) are answered without one.',
      headers: DO_NOT_RETRY,
    },
    vendorAddressMissing: {
      description: 'The vendor has another address in each installation, and the operator has set none.',
      message:
        'The base URL of {title} is not set: the operator must set {setting}, or run model-proxy set-vendor {name}.',
      headers: DO_NOT_RETRY,
    },
    operatorKeyMissing: {
      description:
        'The aggregator, or a vendor that is used without a key, requires one, and the operator has set none.',
      message: 'Upstream {provider} requires a key: the operator must set {setting}.',
      headers: DO_NOT_RETRY,
    },
  }),

  // Overload, and stores out of reach.
  internal: {
    status: 500,
    code: 'internal_error',
    description: 'An unexpected failure. The log has the cause.',
    message: 'Something went wrong on our side.',
  },
  ...defineErrors(503, 'service_unavailable', {
    databaseUnavailable: {
      description: 'PostgreSQL is unreachable. No request is admitted while keys cannot be checked.',
      message: 'The database is unavailable; try again shortly.',
      headers: RETRY_SOON,
    },
    busy: {
      description:
        'More requests are waiting than can be admitted in time, because the database replies too late. Or a worker thread did not start, or did not finish, a job within 30 seconds.',
      message: 'The proxy is busy; try again shortly.',
      headers: RETRY_SOON,
    },
    processingTimeout: {
      description:
        'Reading or translating one long request or response took more than ten seconds while other projects waited.',
      message:
        'Processing this request took too long while other projects were waiting. Send a shorter request, or try again.',
      headers: RETRY_SOON,
    },
    providerKeyUnreadable: {
      description: 'The project’s stored key for the provider could not be read from the database.',
      message: "The project's {provider} key could not be read; try again shortly.",
      headers: RETRY_SOON,
    },
    installationKeyUnreadable: {
      description:
        'The operator’s key for the provider could not be read: its file, the output of its command, or the database.',
      message: 'The key of this service for {provider} could not be read; the operator has to check it.',
      headers: RETRY_SOON,
    },
    encryptionKeyMissing: {
      description:
        'The project has stored a key for the provider, but the proxy has no ENCRYPTION_KEY to decrypt it with.',
      message: "The project's {provider} key cannot be {use}: the operator must set ENCRYPTION_KEY.",
    },
    encryptionKeyUnreadable: {
      description: 'The file with the encryption key cannot be read, or does not contain one.',
      message: "The project's {provider} key cannot be {use}: {problem}.",
    },
    encryptionKeyChanged: {
      description: 'The project’s stored key was encrypted with another ENCRYPTION_KEY.',
      message:
        "The project's {provider} key cannot be used: it was encrypted with another ENCRYPTION_KEY. Store it again.",
    },
    encryptionKeyMismatch: {
      description:
        '`bun run reseal` finds a stored key that no key of the rotation decrypts. Only operators see this error.',
      message:
        "The project's {provider} key cannot be encrypted again: neither ENCRYPTION_KEY nor another key of the rotation decrypts it.",
    },
  }),
  queryTooLong: {
    status: 503,
    code: 'query_too_long',
    description:
      'An operation of the admin API read so much data that the database cancelled its query after the time limit. The log has the operation.',
    message:
      'The query reads too much data to finish in time. Narrow it, for example to a shorter time span or to one project.',
    headers: DO_NOT_RETRY,
  },
  hookUnavailable: {
    status: 503,
    code: 'hook_unavailable',
    description:
      'The installation’s [hook](hooks.md) made no decision, and it is set to fail closed. If it was called for a response, the provider charges for that response.',
    message: 'The hook of this installation is unavailable, so the request cannot be checked; try again shortly.',
    headers: { 'retry-after': '{seconds}' },
  },
  tooManyLargeBodies: {
    status: 503,
    code: 'too_many_large_requests',
    description: 'The bodies of requests in progress, raw and parsed, have reached their memory limit.',
    message: 'Too many large requests are being read at once; try again shortly.',
    headers: { ...RETRY_SOON, ...CLOSE_CONNECTION },
  },
  tooManyUnreadStreams: {
    status: 503,
    code: 'too_many_unread_streams',
    description:
      'Data that clients have not read yet has reached its memory limit (MAX_UNREAD_BYTES). No new stream or large response begins.',
    message: 'Too many streams and large responses are waiting for their clients to read them; try again shortly.',
    headers: RETRY_SOON,
  },
  slowReader: {
    status: 503,
    code: 'read_too_slowly',
    description:
      'Sent within a stream: its client was among the slowest readers when streams reached their memory limit (MAX_UNREAD_BYTES).',
    message:
      'The stream was ended because its client read too slowly and other streams needed the memory. The data before this event is intact; read faster, or try again.',
  },
  tooManyConnections: {
    status: 503,
    code: 'too_many_connections',
    description: 'The process has as many requests in progress as its file descriptors allow.',
    message: 'This process has as many requests in progress as it can hold; try again shortly.',
    headers: { ...RETRY_SOON, ...CLOSE_CONNECTION },
  },

  // Failed calls to a provider.
  notCached: {
    status: 504,
    code: 'not_cached',
    description: 'The request accepts only a cached response, but there is none.',
    message: 'No response to this request is cached, and its Cache-Control: only-if-cached forbids calling a provider.',
    param: 'Cache-Control',
  },
  ...defineErrors(502, 'upstream_error', {
    upstreamUnreachable: {
      description: 'The connection to the provider failed, or ended before a response began.',
      message: 'Upstream {provider} could not be reached.',
    },
    upstreamBroken: {
      description: 'The provider’s response ended early, is too large, or is not in the endpoint’s format.',
      message: 'Upstream {provider} {fault}.',
    },
    operatorKeyRejected: {
      description: 'The provider rejected the operator’s key.',
      message: 'Upstream {provider} rejected {refused} with status {status}. The operator has been notified.',
      headers: DO_NOT_RETRY,
    },
    responseUnreadable: {
      description: 'The provider’s response is inconsistent and cannot be translated into the endpoint’s format.',
      message: 'The provider {fault}.',
    },
    upstreamInterrupted: {
      description: 'The response that this request shared with others ended before it was complete.',
      message: 'The upstream ended its response before it was complete.',
    },
    upstreamCallFailed: {
      description: 'The call that this request shared with others failed. The log has the cause.',
      message: 'The upstream call failed; try again.',
    },
  }),
  circuitOpen: {
    status: 503,
    code: 'service_unavailable',
    description: 'The model, or all of its provider, has failed many times and gets no requests for a while.',
    message: 'Upstream {provider} has been failing and gets no requests for now; try again in {seconds} s.',
    headers: { 'retry-after': '{seconds}' },
  },
  ...defineErrors(504, 'upstream_timeout', {
    upstreamConnectTimeout: {
      description: 'No connection to the provider could be opened in time. Nothing was sent.',
      message: 'Upstream {provider} timed out: no connection within {limitMs} ms.',
    },
    upstreamTimeout: {
      description:
        'The provider received the request, but a part of its response did not arrive in time: the first byte, the first or next token, or the end of a plain response. It may still process the request and charge for it, so X-Should-Retry tells clients not to retry.',
      message: 'Upstream {provider} timed out: no {awaited} within {limitMs} ms.',
      headers: { 'x-should-retry': 'false' },
    },
  }),
} as const satisfies Record<string, ErrorDefinition>
