/** Reserves the transcription of the audio that was sent, in blocks, until the session ends. */
import type { CostBound } from '../../../admission/budgets.ts'
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import { AUDIO_BLOCK_SECONDS, BASE64_G711_CHARACTERS_PER_SECOND } from './session-prices.ts'

interface TranscriptionOptions {
  getResolvedKey(): Pick<ResolvedKey, 'has_budgets'>
  open(model: string): RequestRecorder
  /** Returns the bound of one block. */
  maxCost(model: string): CostBound | null
}

export class TranscriptionReservation {
  /** The model that transcribes the session's input; null if none does. */
  model: string | null = null
  readonly #options: TranscriptionOptions
  #recorder: RequestRecorder | null = null
  #seconds = 0
  #blocks = 0
  #hasEnded = false

  constructor(options: TranscriptionOptions) {
    this.#options = options
  }

  /** Reserves for further characters of audio, which this model transcribes from now on. Throws 400, 429 or 503. */
  async reserve(model: string, characters: number): Promise<void> {
    const { getResolvedKey, open, maxCost } = this.#options
    if (model !== this.model) this.#seconds = this.#blocks = 0
    this.#seconds += characters / BASE64_G711_CHARACTERS_PER_SECOND
    while (getResolvedKey().has_budgets && this.#blocks * AUDIO_BLOCK_SECONDS < this.#seconds) {
      if (!this.#recorder?.spending?.hasBudgets) this.#recorder = open(model)
      await this.#recorder.spending?.reserveMoney(model, maxCost(model))
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
