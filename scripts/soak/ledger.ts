/** Records what each client of a soak got for each request, and finds responses that no outage explains. */
import { mayCause, type Outage, type OutageKind } from './outages.ts'
import type { ProjectName } from './stores.ts'

export interface Answered {
  id: string
  /** Of the proxy that was asked. */
  port: number
  project: ProjectName
  /** The client's behaviour. */
  kind: string
  startedAtMs: number
  endedAtMs: number
  /** 0: the connection ended before a status. */
  status: number
  code: string | null
  /** A 503 that says when to come back. */
  isBusy: boolean
  /** Whether it was read to its end, and complete. */
  isWhole: boolean
  /** Whether the client left before the end, by its own choice. */
  hasLeft: boolean
  /** The response, if it is wrong. */
  detail?: string
}

/** An outage and its time; the end is unknown while it lasts. */
interface Spell {
  outage: Outage
  beganAtMs: number
  endedAtMs: number
}

/** Circuits stay open for 5 s, and a recovered server is found again within 5 s. */
const GRACE_MS = 8_000
/** How much of the counters and records a crash of the database, or of a proxy, may lose. */
const FORGOTTEN_MS = 1_500

export interface Ledger {
  readonly answered: readonly Answered[]
  /** Number of proxies. */
  readonly processes: number
  /** Whether an outage of this kind, of the proxy at this port if one is given, overlaps that time. */
  hadOutage(kind: OutageKind, fromMs: number, toMs: number, port?: number): boolean
  note(answered: Answered): void
  begin(outage: Outage): void
  end(outage: Outage): void
  /** Whether what was written about this request may have been lost. */
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
        // The expected limit.
        if (one.project === 'limited' && one.status === 429) return false
        return !isExplained(one)
      }),
  }
}
