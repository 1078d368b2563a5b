/** Where browsers reach the dashboard, and clients the proxy: PUBLIC_URL, or else what the request was sent to. */
import type { Config } from '../config/config.ts'
import { isHttps } from '../http/is-https.ts'

export type AddressConfig = Pick<Config, 'publicUrl' | 'port' | 'dashboard' | 'trustedProxies'>

/** The dashboard's own: PUBLIC_URL is the proxy's, which is another where the dashboard has a port of its own. */
export function dashboardOriginOf(request: Request, { publicUrl, dashboard, trustedProxies }: AddressConfig): string {
  if (publicUrl !== null && dashboard === 'on') return new URL(publicUrl).origin
  return `${isHttps(request, trustedProxies) ? 'https' : 'http'}://${request.headers.get('host') ?? 'localhost'}`
}

/** What clients set as their base address: it ends in /v1. */
export function proxyBaseUrlOf(request: Request, config: AddressConfig): string {
  if (config.publicUrl !== null) return `${config.publicUrl}/v1`
  const url = new URL('/v1', dashboardOriginOf(request, config))
  if (typeof config.dashboard === 'number') url.port = String(config.port)
  return url.href
}
