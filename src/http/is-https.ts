/** Whether a request came over https, as far as the proxy can tell: `trustedProxies` in front of it may say so. */
export function isHttps(request: Pick<Request, 'url' | 'headers'>, trustedProxies: number): boolean {
  if (request.url.startsWith('https:')) return true
  return trustedProxies > 0 && request.headers.get('x-forwarded-proto')?.split(',').at(-1)?.trim() === 'https'
}

/** Strict-Transport-Security for responses over https; browsers ignore it elsewhere. RFC 6797. */
export const HSTS = 'max-age=31536000'
