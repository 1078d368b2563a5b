/** Audio that was sent may all be transcribed: of the price of that, blocks are reserved until the session ends. */
import type { CostBound } from '../../../admission/budgets.ts'
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import { AUDIO_BLOCK_SECONDS, AUDIO_CHARACTERS_PER_SECOND } from './session-prices.ts'

interface AudioReservation {
  account(): Pick<ResolvedKey, 'has_budgets'>
  open(model: string): RequestRecorder
  /** Of one block. */
  largest(model: string): CostBound | null
}

export class TranscriptionReservation {
  /** The model that transcribes the session's input; null: it is not transcribed. */
  model: string | null = null
  readonly #options: AudioReservation
  #recorder: RequestRecorder | null = null
  #seconds = 0
  #blocks = 0
  #hasEnded = false

  constructor(options: AudioReservation) {
    this.#options = options
  }

  /** Reserves for further characters of audio, transcribed by this model from now on. Throws 400, 429 or 503. */
  async reserve(model: string, characters: number): Promise<void> {
    const { account, open, largest } = this.#options
    if (model !== this.model) this.#seconds = this.#blocks = 0
    this.#seconds += characters / AUDIO_CHARACTERS_PER_SECOND
    while (account().has_budgets && this.#blocks * AUDIO_BLOCK_SECONDS < this.#seconds) {
      if (!this.#recorder?.spending?.hasBudgets) this.#recorder = open(model)
      await this.#recorder.spending?.reserveMoney(model, largest(model))
      this.#blocks++
    }
    this.model = model
    if (this.#hasEnded) this.end()
  }

  end(): void {
    this.#hasEnded = true
    this.#recorder?.spending?.release()
  }
}
