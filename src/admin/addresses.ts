/** The URLs of the dashboard and the proxy. They derive from PUBLIC_URL if it is set, else from the request's own URL. */
import type { Config } from '../config/config.ts'
import { isHttps } from '../http/is-https.ts'

export type AddressConfig = Pick<Config, 'publicUrl' | 'port' | 'dashboard' | 'trustedProxies'>

/** Returns the dashboard's origin. PUBLIC_URL applies only if the dashboard shares the proxy's port. */
export function dashboardOriginOf(request: Request, { publicUrl, dashboard, trustedProxies }: AddressConfig): string {
  if (publicUrl !== null && dashboard === 'on') return new URL(publicUrl).origin
  return `${isHttps(request, trustedProxies) ? 'https' : 'http'}://${request.headers.get('host') ?? 'localhost'}`
}

/** Returns the base URL for clients. It ends in /v1. */
export function proxyBaseUrlOf(request: Request, config: AddressConfig): string {
  if (config.publicUrl !== null) return `${config.publicUrl}/v1`
  const url = new URL('/v1', dashboardOriginOf(request, config))
  if (typeof config.dashboard === 'number') url.port = String(config.port)
  return url.href
}
