/** What the sandbox answers a pass-through operation with. */

export interface SandboxAnswer {
  contentType: string
  body: string | Uint8Array
}
