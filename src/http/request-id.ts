/** X-Request-Id: the client's if it is well formed, else a generated one. */

const SANE = /^[A-Za-z0-9._:-]{1,128}$/

export function readRequestId(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && SANE.test(given) ? given : crypto.randomUUID()
}
