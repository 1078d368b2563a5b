/** Keys of every invalid form: 401, each with the exact message. */
import { type HostileRequest, MARKER, write } from './hostile-request.ts'

const MISSING: Record<string, string | null> = {
  'no header': null,
  'an empty header': 'Authorization:',
  'a header of spaces': 'Authorization:    ',
  'another header': `X-Key: lgw_test_${MARKER}`,
}

/** `KEY` is replaced by the valid key. */
const INVALID: Record<string, string> = {
  'a scheme alone': 'Authorization: Bearer',
  'a scheme and spaces': 'Authorization: Bearer    ',
  'no scheme': 'Authorization: KEY',
  Basic: `Authorization: Basic ${btoa(`user:${MARKER}`)}`,
  'Basic with the key': 'Authorization: Basic KEY',
  Digest: `Authorization: Digest username="${MARKER}"`,
  'the scheme without a space': 'Authorization: BearerKEY',
  'a tab after the scheme': 'Authorization: Bearer\tKEY',
  'the scheme twice': 'Authorization: Bearer Bearer KEY',
  'a comma after the key': 'Authorization: Bearer KEY,',
  'two keys': 'Authorization: Bearer KEY, Bearer KEY',
  'two keys and a space': 'Authorization: Bearer KEY KEY',
  quotes: 'Authorization: Bearer "KEY"',
  'a vendor key': `Authorization: Bearer sk-proj-${MARKER}`,
  'the prefix alone': 'Authorization: Bearer lgw_proj_',
  'the other prefix alone': 'Authorization: Bearer lgw_test_',
  'a prefix in capitals': `Authorization: Bearer LGW_TEST_${MARKER}`,
  'an unknown kind': `Authorization: Bearer lgw_admin_${MARKER}`,
  'a short key': 'Authorization: Bearer lgw_test_abc',
  'a stranger in X-Api-Key': `X-Api-Key: lgw_test_${MARKER}`,
  'a stranger in Api-Key': `Api-Key: lgw_test_${MARKER}`,
  'a well-formed stranger': `Authorization: Bearer lgw_test_${MARKER}`,
  'a stranger of the other kind': `Authorization: Bearer lgw_proj_${MARKER}`,
  'the good key and a letter': 'Authorization: Bearer KEYx',
  'the good key reversed in case': 'Authorization: Bearer lgw_test_KEY',
  'a key of 201 letters': `Authorization: Bearer lgw_test_${'k'.repeat(201)}`,
  'a key of 8,000 letters': `Authorization: Bearer lgw_test_${'k'.repeat(8_000)}`,
  SQL: `Authorization: Bearer lgw_test_' or '1'='1' -- ${MARKER}`,
  'a percent sign': `Authorization: Bearer lgw_test_%00${MARKER}`,
  'a wildcard': 'Authorization: Bearer lgw_test_%%%%%%%%',
  'Latin-1': `Authorization: Bearer lgw_test_caf\u00e9${MARKER}`,
  'a second header after the good one': `Authorization: Bearer KEY\r\nAuthorization: Bearer lgw_test_${MARKER}`,
  'a second header before the good one': `Authorization: Bearer lgw_test_${MARKER}\r\nAuthorization: Bearer KEY`,
  'the good header twice': 'Authorization: Bearer KEY\r\nAuthorization: Bearer KEY',
}

function withKey(authorization: string | null, body?: string): HostileRequest['send'] {
  const sending = body === undefined ? {} : { body }
  return key => write({ ...sending, authorization: authorization?.replaceAll('KEY', key) ?? null })(key)
}

const UNPARSABLE = `{"model": ${MARKER}`
const missing = { statuses: [401], error: { code: 'missing_api_key', message: 'Missing API key', param: null } }
const invalid = { statuses: [401], error: { code: 'invalid_api_key', message: 'Invalid API key', param: null } }

export const BAD_KEYS: HostileRequest[] = [
  ...Object.entries(MISSING).map(([name, line]) => ({ name: `no key: ${name}`, send: withKey(line), ...missing })),
  ...Object.entries(INVALID).map(([name, line]) => ({ name: `a bad key: ${name}`, send: withKey(line), ...invalid })),
  { name: 'no key and no JSON', send: withKey(null, UNPARSABLE), ...missing },
  { name: 'a bad key and no JSON', send: withKey(`Authorization: Bearer sk-${MARKER}`, UNPARSABLE), ...invalid },
  {
    name: 'a well-formed stranger and no JSON',
    send: withKey(`Authorization: Bearer lgw_proj_${MARKER}2`, UNPARSABLE),
    ...invalid,
  },
  {
    name: 'a key in the query',
    send: key => write({ authorization: null, path: `/v1/chat/completions?api_key=${key}` })(key),
    ...missing,
  },
]
