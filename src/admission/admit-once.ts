/** admit() in batches that count once: one whose answer was lost is asked for again, and what it had reserved is given back. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import { type Account, type AdmitAsk, type AdmitBatch, type AdmitReply, admit } from '../postgres/admit.ts'
import { AnswerLost, type Database } from '../postgres/database.ts'

const ASK_AGAIN_AFTER_MS = 250

export interface AdmitOnce {
  /** Rejects with AnswerLost when nobody knows what was reserved; whatever it was is given back. */
  admit(asks: readonly AdmitAsk[]): Promise<AdmitReply[]>
  /** Resolves when nothing is in doubt any more. */
  settled(): Promise<void>
}

/** `giveBack` is called with what was reserved for nobody. */
export function createAdmitOnce(database: Database, giveBack: (account: Account, requests: number) => void): AdmitOnce {
  const free: AdmitBatch[] = []
  const settling = new BackgroundWork()

  /** The same batch again, as often as it takes: whether it came or not, it has then been counted, and once. */
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
        // The server refused it, or was never asked.
        else free.push(batch)
        throw error
      }
    },
    settled: () => settling.settled(),
  }
}
