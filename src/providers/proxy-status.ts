/** Writes the header Proxy-Status (RFC 9209): the attempts of a request of which at least one failed. */
import type { Attempt } from '../postgres/usage-record.ts'
import type { AttemptList } from './attempts.ts'
import { FAILURE_KINDS } from './failure-kind.ts'

/** The last attempts are listed. Reverse proxies limit the size of all headers, some to 4 KiB. */
const MAX_LISTED = 8
const MAX_TEXT_CHARS = 128

export function setProxyStatusHeader({ failed }: AttemptList, headers: Record<string, string>): void {
  if (failed) headers['proxy-status'] = failed.slice(-MAX_LISTED).map(writeMember).join(', ')
}

/** `error` is the kind of failure itself where RFC 9209 has no type for it. */
function writeMember({ model, provider, key, kind, status, ms }: Attempt): string {
  const parameters = [
    ...(kind === null ? [] : [`error=${FAILURE_KINDS[kind] ?? kind}`]),
    ...(status === null ? [] : [`received-status=${status}`]),
    `next-hop=${writeString(provider)}`,
    `model=${writeString(model)}`,
    ...(key === null ? [] : [`key=${writeString(key)}`]),
    ...(kind === null ? [] : [`kind=${kind}`]),
    `ms=${ms}`,
  ]
  return ['model-proxy', ...parameters].join('; ')
}

/** Writes a string of RFC 9651. Other characters than printable ASCII are percent-encoded. */
function writeString(text: string): string {
  const ascii = text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
  return `"${ascii.slice(0, MAX_TEXT_CHARS).replace(/["\\]/g, '\\$&')}"`
}
