/** The form of one line of the catalogue of errors. */

export interface CatalogueEntry {
  status: number
  /** OpenAI's `error.code`. Several errors may share one. */
  code: string
  /** The cause in one plain sentence, for the documentation. */
  when: string
  /** With gaps in braces: whoever raises the error fills them. Never a prompt, a key or a secret. */
  message: string
  /** OpenAI's `error.type`, where the status does not tell it. */
  type?: string
  param?: string
  headers?: Readonly<Record<string, string>>
}

/** Headers where what was sent has not been read to its end: the connection cannot be used again. */
export const CLOSE = { connection: 'close' } as const
export const SOON = { 'retry-after': '1' } as const
