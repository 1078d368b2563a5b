/** The catalogue's errors of the admin API and the dashboard. */
import type { CatalogueEntry } from './catalogue-entry.ts'

export const ADMIN_ERRORS = {
  alreadyExists: {
    status: 409,
    code: 'already_exists',
    // OpenAI's clients retry a 409 by default.
    headers: { 'x-should-retry': 'false' },
    when: 'What is to be made has the name of something that is there.',
    message: '{problem}',
  },
  notPossible: {
    status: 400,
    code: 'not_possible',
    when: 'What is asked for cannot be done as things stand.',
    message: '{problem}',
  },
  limitsAreThePlans: {
    status: 400,
    code: 'not_possible',
    when: 'A rate limit of one project is to be changed.',
    message:
      'Limits belong to plans, and this project is on plan {plan}: move it to another (POST /v1/organization/projects/{project} with plan), or change the plan (POST /v1/organization/plans/{plan}).',
  },
  missingAdminKey: {
    status: 401,
    code: 'invalid_admin_key',
    when: 'The request carries neither an admin key nor a session’s cookie.',
    message: 'Missing admin API key, or not logged in',
  },
  invalidAdminKey: {
    status: 401,
    code: 'invalid_admin_key',
    when: 'The admin key does not have the form of one, or nobody has been issued it, or it was deleted.',
    message: 'Invalid admin API key',
  },
  wrongPassword: {
    status: 401,
    code: 'wrong_password',
    when: 'No account has this e-mail address and this password.',
    message: 'E-mail address and password do not fit together.',
  },
  notPermitted: {
    status: 403,
    code: 'permission_denied',
    when: 'The caller’s role in the project does not go so far.',
    message: '{problem}',
  },
  csrfTokenWrong: {
    status: 403,
    code: 'forbidden_origin',
    when: 'A change in a browser’s session comes without the session’s CSRF token.',
    message: 'The header X-CSRF-Token is missing or is not that of this session.',
  },
  otherOrigin: {
    status: 403,
    code: 'forbidden_origin',
    when: 'The browser says that another site’s page sent the request.',
    message: 'This was sent by a page of another origin.',
  },
  httpsRequired: {
    status: 403,
    code: 'https_required',
    when: 'A login comes over plain HTTP from another machine.',
    message:
      'The dashboard takes logins over https alone, or on this machine itself. Behind a reverse proxy, set TRUST_PROXY and have it send X-Forwarded-Proto.',
  },
  nothingThere: {
    status: 404,
    code: 'not_found',
    when: 'What the request names does not exist, or the caller may not see it.',
    message: '{problem}',
  },
  tooManyLogins: {
    status: 429,
    code: 'too_many_logins',
    when: 'There were too many attempts to log in, of this account or from this address.',
    message: 'Too many attempts to log in. Try again in {minutes} minutes.',
    headers: { 'retry-after': '{seconds}' },
  },
} as const satisfies Record<string, CatalogueEntry>
