/** Records the response to each request of a soak's clients, and finds errors that no outage explains. */
import { mayCause, type Outage, type OutageKind } from './outages.ts'
import type { ProjectName } from './stores.ts'

export interface Answered {
  id: string
  /** The port of the called proxy. */
  port: number
  project: ProjectName
  /** The client's behaviour. */
  kind: string
  startedAtMs: number
  endedAtMs: number
  /** 0 if the connection ended before a status. */
  status: number
  code: string | null
  /** Whether it is a 503 with Retry-After. */
  isBusy: boolean
  /** Whether the response is complete and was read to its end. */
  isWhole: boolean
  /** Whether the client disconnected deliberately before the end. */
  hasLeft: boolean
  /** The end of the response, if it is wrong. */
  detail?: string
}

/** An outage with its time; the end is Infinity while it lasts. */
interface Spell {
  outage: Outage
  beganAtMs: number
  endedAtMs: number
}

/** Circuits stay open for 5 s, and a recovered server is detected within 5 s. */
const GRACE_MS = 8_000
/** The time before a crash of the database or a proxy whose counts and records may be lost. */
const FORGOTTEN_MS = 1_500

export interface Ledger {
  readonly answered: readonly Answered[]
  /** Number of proxies. */
  readonly processes: number
  /** Whether an outage of this kind overlaps the time: of the proxy at `port`, or of a store or the upstream without one. */
  hadOutage(kind: OutageKind, fromMs: number, toMs: number, port?: number): boolean
  note(answered: Answered): void
  begin(outage: Outage): void
  end(outage: Outage): void
  /** Whether this request's count or record may have been lost. */
  mayBeForgotten(one: Answered): boolean
  /** Every wrong response that no outage explains. */
  findUnexplained(): Answered[]
}

export function createLedger(processes: number): Ledger {
  const answered: Answered[] = []
  const spells: Spell[] = []

  function isExplained(one: Answered): boolean {
    const about = spells.filter(
      ({ beganAtMs, endedAtMs }) => one.startedAtMs < endedAtMs + GRACE_MS && one.endedAtMs > beganAtMs,
    )
    return about.some(({ outage }) => mayCause(outage, one))
  }

  return {
    answered,
    processes,
    hadOutage: (kind, fromMs, toMs, port) =>
      spells.some(
        ({ outage, beganAtMs, endedAtMs }) =>
          outage.kind === kind && outage.port === port && beganAtMs < toMs && endedAtMs > fromMs,
      ),
    note: one => void answered.push(one),
    begin: outage => void spells.push({ outage, beganAtMs: Date.now(), endedAtMs: Number.POSITIVE_INFINITY }),
    end(outage) {
      const spell = spells.findLast(one => one.outage === outage)
      if (spell) spell.endedAtMs = Date.now()
    },
    mayBeForgotten: ({ endedAtMs, port }) =>
      spells.some(
        ({ outage, beganAtMs }) =>
          outage.forgets &&
          (outage.port ?? port) === port &&
          endedAtMs > beganAtMs - FORGOTTEN_MS &&
          endedAtMs < beganAtMs + FORGOTTEN_MS,
      ),
    findUnexplained: () =>
      answered.filter(one => {
        if (one.hasLeft || (one.status === 200 && one.isWhole)) return false
        // The limit that this project's clients are expected to reach.
        if (one.project === 'limited' && one.status === 429) return false
        return !isExplained(one)
      }),
  }
}
