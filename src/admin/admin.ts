/** The admin API: its controllers, and its description at /openapi.json. */

import { type AnyElysia, Elysia } from 'elysia'
import type { Config } from '../config/config.ts'
import type { EncryptionConfig } from '../providers/keys/encryption-key.ts'
import { createQuestionVault } from '../providers/keys/question-vault.ts'
import { openVault } from '../providers/keys/vault.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { type AddressConfig, publicDashboardOriginOf } from './addresses.ts'
import { completeOpenApiDocument } from './complete-openapi.ts'
import type { AdminOptions } from './controller.ts'
import { createCredentialAttemptLimiter } from './credential-attempts.ts'
import { createAccountMails } from './mail/account-mails.ts'
import { createMailer } from './mail/mailer.ts'
import { createMethodNotAllowedController } from './method-not-allowed.ts'
import { createOidcController } from './oidc-controller.ts'
import { ADMIN_OPERATIONS } from './operations.generated.ts'
import { OPENAPI_TAGS } from './parameters.ts'
import { errorSchema } from './responses/shared.ts'
import { serveOperations } from './serve-operations.ts'
import {
  createLoginController,
  createLogoutController,
  createPasswordResetController,
  createSessionController,
} from './sessions.ts'

/** What the application provides to the admin API. The database is migrated. */
export interface AdminSetup
  extends Pick<AdminOptions, 'database' | 'memory' | 'rejections' | 'recordVerdict' | 'modelRouter' | 'log'> {
  config: AddressConfig & Pick<Config, 'oidc' | 'allowsPrivateWebhooks' | 'mail'> & EncryptionConfig
  /** A store of this process. It counts attempts with unknown keys. */
  store: Pick<FastStore, 'count' | 'uncount'>
}

const DOCUMENTATION = {
  openapi: '3.1.2',
  info: {
    title: 'Model Proxy admin API',
    version: '1',
    description:
      'Projects, keys, users, usage and the cache. Follows OpenAI’s Administration API where that has an equivalent.',
  },
  components: {
    securitySchemes: { adminKey: { type: 'http' as const, scheme: 'bearer' } },
    responses: {
      Refused: {
        description: 'The request was rejected or failed. `message` describes the problem.',
        content: { 'application/json': { schema: errorSchema as object } },
      },
    },
  },
  security: [{ adminKey: [] }],
  tags: Object.entries(OPENAPI_TAGS).map(([name, description]) => ({ name, description })),
}

export function createAdmin({ config, store, ...provided }: AdminSetup) {
  const vault = openVault(config)
  const mailer = createMailer(config.mail)
  const options: AdminOptions = {
    ...provided,
    vault,
    wordingReader: createQuestionVault(vault),
    trustedProxies: config.trustedProxies,
    addresses: config,
    allowsPrivateWebhooks: config.allowsPrivateWebhooks,
    mailer,
    accountMails: createAccountMails(mailer, publicDashboardOriginOf(config), provided.log),
    credentialAttempts: createCredentialAttemptLimiter(store),
  }
  const admin = new Elysia({ normalize: false })
  let description: Promise<unknown> | null = null
  admin
    .get('/openapi.json', () => (description ??= describe(admin)), { detail: { hide: true } })
    .use(serveOperations(options, ADMIN_OPERATIONS))
    .use(createLoginController(options))
    .use(createPasswordResetController(options))
    .use(createOidcController(options, config.oidc))
    .use(createSessionController(options, config.oidc))
    .use(createLogoutController(options))
  return admin.use(createMethodNotAllowedController(options, admin.routes))
}

/** Generates the description. Uses only the schema generator of the plugin, because its page loads a script from another host. */
async function describe(admin: AnyElysia): Promise<unknown> {
  const { toOpenAPISchema } = await import('@elysiajs/openapi/openapi')
  const { paths, components } = toOpenAPISchema(admin)
  const document = { ...DOCUMENTATION, paths, components: { ...DOCUMENTATION.components, schemas: components.schemas } }
  return completeOpenApiDocument(document, admin.routes, ADMIN_OPERATIONS)
}
