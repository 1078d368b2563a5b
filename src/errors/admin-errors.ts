/** Catalogue entries for errors of the admin API and the dashboard. */
import { defineErrors, type ErrorDefinition } from './error-definition.ts'

export const ADMIN_ERRORS = {
  alreadyExists: {
    status: 409,
    code: 'already_exists',
    // OpenAI's clients retry a 409 by default.
    headers: { 'x-should-retry': 'false' },
    description:
      'The request creates an object that already exists: its name is in use, or the user is already a member of the project.',
    message: '{problem}',
  },
  idempotencyKeyReused: {
    status: 422,
    code: 'idempotency_key_reused',
    description: 'The `Idempotency-Key` was sent before with another path or body.',
    message: 'This Idempotency-Key belongs to another request: send a new key with another path or body.',
  },
  idempotentRequestInFlight: {
    status: 409,
    code: 'idempotent_request_in_flight',
    headers: { 'retry-after': '1' },
    description: 'An equal request with the same `Idempotency-Key` is in flight.',
    message: 'An equal request with this Idempotency-Key is in flight: repeat this one in a second.',
  },
  idempotentResponseMissing: {
    status: 409,
    code: 'idempotent_response_missing',
    headers: { 'x-should-retry': 'false' },
    description:
      'The request was carried out before with the same `Idempotency-Key`, but its response is not stored: no encryption key is configured, it was changed, or the proxy stopped before it responded.',
    message: 'This request was carried out before, and its response is not stored. {result}',
  },
  ...defineErrors(400, 'not_possible', {
    notPossible: {
      description: 'The state of the project, key or account does not allow the request.',
      message: '{problem}',
    },
    limitsSetByPlan: {
      description: 'The request changes the rate limits of a single project. They are set by its plan.',
      message:
        'Limits belong to plans, and this project is on plan {plan}: move it to another (POST /v1/organization/projects/{project} with plan), or change the plan (POST /v1/organization/plans/{plan}).',
    },
  }),
  ...defineErrors(401, 'invalid_admin_key', {
    missingAdminKey: {
      description: 'The request has neither an admin key nor a session cookie.',
      message: 'Missing admin API key, or not logged in',
    },
    invalidAdminKey: {
      description: 'The admin key is malformed, was never issued, or was deleted.',
      message: 'Invalid admin API key',
    },
  }),
  wrongPassword: {
    status: 401,
    code: 'wrong_password',
    description: 'No account has this e-mail address, or the password is wrong.',
    message: 'Wrong e-mail address or password.',
  },
  ...defineErrors(403, 'permission_denied', {
    notPermitted: {
      description: 'The caller’s role does not permit the request.',
      message: '{problem}',
    },
    readOnlyAdminKey: {
      description: 'The request would make a change, and its admin key is read-only.',
      message: 'This admin key is read-only: it can send GET requests only. Use an admin key with all permissions.',
    },
  }),
  ...defineErrors(403, 'forbidden_origin', {
    invalidCsrfToken: {
      description: 'A browser session sends a change without the session’s CSRF token.',
      message: 'The X-CSRF-Token header is missing or does not belong to this session. Reload the page.',
    },
    crossOriginRequest: {
      description: 'The browser reports that a page of another origin sent the request.',
      message: 'This request was sent by a page of another origin: use the dashboard’s own pages, or an admin key.',
    },
  }),
  httpsRequired: {
    status: 403,
    code: 'https_required',
    description: 'A login arrives over plain HTTP from another machine.',
    message:
      'Logging in requires HTTPS, except on the machine that the proxy runs on. Behind a reverse proxy, set TRUST_PROXY and have it send X-Forwarded-Proto.',
  },
  notFound: {
    status: 404,
    code: 'not_found',
    description: 'The object that the request names does not exist, or the caller may not see it.',
    message: '{problem}',
  },
  tooManyLogins: {
    status: 429,
    code: 'too_many_logins',
    description: 'There were too many login attempts for this account or from this address.',
    message: 'Too many login attempts. Try again in {minutes} minutes.',
    headers: { 'retry-after': '{seconds}' },
  },
} as const satisfies Record<string, ErrorDefinition>
