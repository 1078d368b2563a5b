/** The type of one entry in the catalogue of errors. */

export interface CatalogueEntry {
  status: number
  /** OpenAI's `error.code`. Several errors may share one. */
  code: string
  /** The cause in one plain sentence, for the documentation. */
  when: string
  /** A template: `refuse` fills the gaps in braces. Never contains a prompt, a key or a secret. */
  message: string
  /** OpenAI's `error.type`, if the status does not imply it. */
  type?: string
  param?: string
  headers?: Readonly<Record<string, string>>
}

/** Headers when the request was not read to its end: the connection cannot be reused. */
export const CLOSE = { connection: 'close' } as const
export const SOON = { 'retry-after': '1' } as const
