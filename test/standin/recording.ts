/** What the stand-in upstream saw: each request, and whether its client stayed for the answer. */

export interface RecordedRequest {
  method: string
  /** Without the query. */
  path: string
  headers: Record<string, string>
  bodyText: string
  /** The same before it was read as text. */
  bytes?: Uint8Array
  /** The parsed body; undefined where it is not JSON. */
  body: unknown
  /** By `performance.now()`. */
  receivedAtMs: number
  /** When the client went away before its answer was complete; null where it did not. */
  abortedAtMs: number | null
  /** The whole answer was written. */
  isAnswered: boolean
  /** What its vendor charges for, by now: whether or not anybody read it. */
  billed?: Billed
}

/** Tokens; of pictures and sound, as their usage says. */
export interface Billed {
  input: number
  output: number
}

/**
 * Bills an answer: what was read and thought at once, what is written as it is written. `visible` are the tokens of all its parts. Returns
 * what is to be called after each part.
 */
export function billAsWritten(request: RecordedRequest, all: Billed, visible: number): (share: number) => void {
  const billed = { input: all.input, output: Math.max(0, all.output - visible) }
  request.billed = billed
  const thought = billed.output
  return share => {
    billed.output = thought + Math.ceil(Math.min(visible, all.output) * share)
  }
}

export interface Counts {
  total: number
  byPath: Record<string, number>
  /** Requests whose answer is still being written, hanging ones included. */
  active: number
  answered: number
  aborted: number
}

export interface Recording {
  requests: RecordedRequest[]
  counts: Counts
  add(request: RecordedRequest): void
  /** Ends a request, once: later calls change nothing. */
  end(request: RecordedRequest, outcome: 'answered' | 'aborted' | 'cut'): void
  reset(): void
}

/** `keepsRequests` false: counted only, for runs of millions. */
export function createRecording(keepsRequests: boolean): Recording {
  const counts: Counts = { total: 0, byPath: {}, active: 0, answered: 0, aborted: 0 }
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
