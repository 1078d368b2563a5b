/** Calls admit() so that each batch counts once: a batch whose reply was lost is sent again, and its reservations are given back. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import { type Account, type AdmitAsk, type AdmitBatch, type AdmitReply, admit } from '../postgres/admit.ts'
import { AnswerLost, type Database } from '../postgres/database.ts'

const ASK_AGAIN_AFTER_MS = 250

export interface AdmitOnce {
  /** Rejects with AnswerLost when it is unknown what was reserved. Whatever was reserved is given back later. */
  admit(asks: readonly AdmitAsk[]): Promise<AdmitReply[]>
  /** Resolves when no batch is in doubt any more. */
  settled(): Promise<void>
}

/** `giveBack` is called with reservations that no request uses. */
export function createAdmitOnce(database: Database, giveBack: (account: Account, requests: number) => void): AdmitOnce {
  const free: AdmitBatch[] = []
  const settling = new BackgroundWork()

  /** Retries the same batch until it is answered. admit() recognizes the batch, so it is counted exactly once. */
  async function settle(asks: readonly AdmitAsk[], batch: AdmitBatch): Promise<void> {
    for (;;) {
      await Bun.sleep(ASK_AGAIN_AFTER_MS)
      const replies = await admit(database, asks, batch).catch(() => null)
      if (!replies) continue
      for (const { account, granted } of replies)
        if (account.verdict !== 'unknown' && granted > 0) giveBack(account, granted)
      free.push(batch)
      return
    }
  }

  return {
    async admit(asks) {
      if (asks.every(ask => ask.wanted === 0)) return admit(database, asks)
      const batch = free.pop() ?? { slot: crypto.randomUUID(), sequence: 0 }
      batch.sequence++
      try {
        const replies = await admit(database, asks, batch)
        free.push(batch)
        return replies
      } catch (error) {
        if (error instanceof AnswerLost) void settling.add(settle(asks, batch))
        // The server refused the batch, or never received it: its slot can be used again.
        else free.push(batch)
        throw error
      }
    },
    settled: () => settling.settled(),
  }
}
