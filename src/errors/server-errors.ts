/** The catalogue's errors with status 500 and above: the operator, the proxy's stores or a provider must fix them. */
import { CLOSE_CONNECTION, DO_NOT_RETRY, defineErrors, type ErrorDefinition, RETRY_SOON } from './error-definition.ts'

export const SERVER_ERRORS = {
  // Missing setup by the operator or the project.
  ...defineErrors(503, 'service_unavailable', {
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
      description: 'Only an aggregator reaches the vendor in the name, and none is configured.',
      message:
        'No upstream is configured for <vendor>/<model> names. The operator must set AGGREGATOR_API_KEY; test keys (lgw_test_) are answered without one.',
      headers: DO_NOT_RETRY,
    },
    operatorKeyMissing: {
      description: 'The aggregator wants a key.',
      message: 'Upstream {provider} wants a key: the operator must set {setting}.',
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
      description: 'PostgreSQL does not answer. No request is admitted while keys cannot be checked.',
      message: 'The database is unavailable; try again shortly.',
      headers: RETRY_SOON,
    },
    busy: {
      description:
        'More requests are waiting than can be admitted in time: the database answers, but too late. Or work beside the event loop neither began nor ended within 30 seconds each.',
      message: 'The proxy is busy; try again shortly.',
      headers: RETRY_SOON,
    },
    processingTimeout: {
      description:
        'Reading or translating one long request or answer took more than ten seconds, while other projects waited for their turn.',
      message: 'This took longer to work on than one project may keep others waiting; send less at once, or try again.',
      headers: RETRY_SOON,
    },
    providerKeyUnreadable: {
      description: 'The project’s stored key for the provider could not be read from the database.',
      message: "The project's {provider} key could not be read; try again shortly.",
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
        "The project's {provider} key cannot be used: it was sealed with another ENCRYPTION_KEY, and must be stored again.",
    },
    encryptionKeyMismatch: {
      description:
        '`bun run reseal` finds a stored key that no key of the rotation decrypts. Only operators see this error.',
      message:
        "The project's {provider} key cannot be sealed anew: neither ENCRYPTION_KEY nor another key of the rotation decrypts it.",
    },
  }),
  queryTooLong: {
    status: 503,
    code: 'query_too_long',
    description:
      'An operation of the admin API read so much that the database ended its query after the time limit. The log has the operation.',
    message:
      'This read too much to be answered in time; narrow it, for example to a shorter time span or to one project.',
    headers: DO_NOT_RETRY,
  },
  hookUnavailable: {
    status: 503,
    code: 'hook_unavailable',
    description:
      'The installation’s [hook](hooks.md) gave no verdict, without which nothing passes. Where it was asked about an answer, the provider charges for that.',
    message: 'The rules of this installation cannot be checked now; try again shortly.',
    headers: { 'retry-after': '{seconds}' },
  },
  tooManyLargeBodies: {
    status: 503,
    code: 'too_many_large_requests',
    description:
      'The bodies of requests in progress, parsed ones with what they became, take as much memory as they may.',
    message: 'Too many large requests are being read at once; try again shortly.',
    headers: { ...RETRY_SOON, ...CLOSE_CONNECTION },
  },
  tooManyUnreadStreams: {
    status: 503,
    code: 'too_many_unread_streams',
    description:
      'Data that clients have not read yet takes as much memory as it may (MAX_UNREAD_BYTES). No new stream or large response begins.',
    message: 'Too many streams and large responses are waiting for their clients to read them; try again shortly.',
    headers: RETRY_SOON,
  },
  slowReader: {
    status: 503,
    code: 'read_too_slowly',
    description:
      'Within a stream: its client was among the slowest readers when streams took as much memory as they may (MAX_UNREAD_BYTES).',
    message:
      'The stream was ended because it was read too slowly, and others needed its memory; what came before is as it was sent.',
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
    description: 'The request accepts only a cached answer, but there is none.',
    message: 'No answer to this request is cached, and its Cache-Control: only-if-cached allows no other.',
    param: 'Cache-Control',
  },
  ...defineErrors(502, 'upstream_error', {
    upstreamUnreachable: {
      description: 'The connection to the provider failed, or ended before an answer began.',
      message: 'Upstream {provider} could not be reached.',
    },
    upstreamBroken: {
      description: 'The provider’s answer broke off, is too large, or is not in the endpoint’s format.',
      message: 'Upstream {provider} {fault}.',
    },
    operatorKeyRejected: {
      description: 'The provider refused the operator’s key.',
      message: 'Upstream {provider} refused {refused}, whose operator has been told (status {status}).',
      headers: DO_NOT_RETRY,
    },
    responseUnreadable: {
      description: 'The provider’s answer is inconsistent and cannot be translated into the endpoint’s format.',
      message: 'The provider {fault}.',
    },
    upstreamInterrupted: {
      description: 'The answer that this request shared with others ended before it was complete.',
      message: 'The upstream broke off its answer.',
    },
    upstreamCallFailed: {
      description: 'The call that this request shared with others failed. The log has the cause.',
      message: 'The request could not be answered.',
    },
  }),
  circuitOpen: {
    status: 503,
    code: 'service_unavailable',
    description: 'The provider has failed many times in a row and gets no requests for a while.',
    message: 'Upstream {provider} has been failing and gets no requests for now; try again in {seconds} s.',
    headers: { 'retry-after': '{seconds}' },
  },
  upstreamConnectTimeout: {
    status: 504,
    code: 'upstream_timeout',
    description: 'No connection to the provider could be opened in time. Nothing was sent.',
    message: 'Upstream {provider} timed out: no connection within {limitMs} ms.',
  },
  upstreamTimeout: {
    status: 504,
    code: 'upstream_timeout',
    description:
      'The provider received the request but sent nothing in time. It may still be working on it and charge for it, so clients are told not to retry.',
    message: 'Upstream {provider} timed out: no {awaited} within {limitMs} ms.',
    headers: { 'x-should-retry': 'false' },
  },
} as const satisfies Record<string, ErrorDefinition>
