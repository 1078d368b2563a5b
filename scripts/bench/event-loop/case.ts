/** A request that may hold the event loop up, with its upstream's response. */
export interface Case {
  name: string
  path: string
  /** The project's key by default. */
  key?: 'test'
  /** Created in the client's process. */
  body(): string | FormData
  /** Of the simulated upstream; complete responses by default. */
  scenario?: Record<string, unknown>
}
