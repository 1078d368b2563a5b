/** Whether a request came over https. X-Forwarded-Proto counts if there are `trustedProxies`. */
export function isHttps(request: Pick<Request, 'url' | 'headers'>, trustedProxies: number): boolean {
  if (request.url.startsWith('https:')) return true
  return trustedProxies > 0 && request.headers.get('x-forwarded-proto')?.split(',').at(-1)?.trim() === 'https'
}

/** Strict-Transport-Security for responses over https; browsers ignore it elsewhere. RFC 6797. */
export const HSTS = 'max-age=31536000'
