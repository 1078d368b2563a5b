/** Requests that a fake provider received, and whether each client stayed connected until the end of the response. */

export interface RecordedRequest {
  method: string
  /** Without the query. */
  path: string
  /** Without its question mark. */
  query: string
  headers: Record<string, string>
  bodyText: string
  /** The body's bytes. */
  bytes?: Uint8Array
  /** The parsed body; undefined if it is not JSON. */
  body: unknown
  /** In milliseconds of `performance.now()`. */
  receivedAtMs: number
  /** The time at which the client disconnected before its response was complete; null if it did not. */
  abortedAtMs: number | null
  /** Whether the whole response was written. */
  isAnswered: boolean
  /** The amount that the vendor charges so far, even if no client reads the response. */
  billed?: BilledTokens
}

/** Tokens. For images and audio, the amounts of their usage. */
export interface BilledTokens {
  input: number
  output: number
}

/**
 * Bills a response: input and reasoning at once, output as it is written. `visible` is the number of tokens in all parts. The returned
 * function is called after each part with the share written so far.
 */
export function billProgressively(
  request: RecordedRequest,
  all: BilledTokens,
  visible: number,
): (share: number) => void {
  const billed = { input: all.input, output: Math.max(0, all.output - visible) }
  request.billed = billed
  const thought = billed.output
  return share => {
    billed.output = thought + Math.ceil(Math.min(visible, all.output) * share)
  }
}

export interface RequestCounts {
  total: number
  byPath: Record<string, number>
  /** Requests whose response is still being written, including hanging ones. */
  active: number
  answered: number
  aborted: number
}

export interface Recording {
  requests: RecordedRequest[]
  counts: RequestCounts
  add(request: RecordedRequest): void
  /** Ends a request. Later calls for the same request have no effect. */
  end(request: RecordedRequest, outcome: 'answered' | 'aborted' | 'cut'): void
  reset(): void
}

/** With `keepsRequests` false, requests are only counted, for runs of millions. */
export function createRecording(keepsRequests: boolean): Recording {
  const counts: RequestCounts = { total: 0, byPath: {}, active: 0, answered: 0, aborted: 0 }
  let open = new Set<RecordedRequest>()
  const recording: Recording = {
    requests: [],
    counts,
    add(request) {
      if (keepsRequests) recording.requests.push(request)
      open.add(request)
      counts.total++
      counts.byPath[request.path] = (counts.byPath[request.path] ?? 0) + 1
      counts.active = open.size
    },
    end(request, outcome) {
      if (!open.delete(request)) return
      counts.active = open.size
      if (outcome === 'answered') {
        request.isAnswered = true
        counts.answered++
      } else if (outcome === 'aborted') {
        request.abortedAtMs = performance.now()
        counts.aborted++
      }
    },
    reset() {
      recording.requests.length = 0
      open = new Set()
      Object.assign(counts, { total: 0, byPath: {}, active: 0, answered: 0, aborted: 0 })
    },
  }
  return recording
}
