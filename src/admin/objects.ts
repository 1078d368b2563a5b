/** The objects of the admin API that are rows of views: what each is called, and how its ids begin. */
import { type TObject, Type as t } from '@sinclair/typebox'
import { TYPES, VIEWS } from '../postgres/admin/views.generated.ts'
import type { Shown, ViewName } from '../postgres/admin/views.ts'
import type { IdKind } from './ids.ts'

export interface ApiObject<View extends ViewName = ViewName> {
  view: View
  /** The field `object` of an answer. */
  kind: string
  idKind: IdKind
  /** What is said where there is none. */
  missing: string
  schema: TObject
}

/** `name` is that of its schema in the description. */
function object<View extends ViewName, const Kind extends string>(
  name: string,
  kind: Kind,
  view: View,
  idKind: IdKind,
  missing: string,
) {
  const columns: (typeof VIEWS)[View]['columns'] = VIEWS[view].columns
  const schema = t.Object({ object: t.Literal(kind), ...columns }, { $id: name, description: VIEWS[view].comment })
  return { view, kind, idKind, missing, schema }
}

const NO_PROJECT = 'This project does not exist, or you are not a member of it.'
const NO_ENTRY = "There is no such entry in this project's cache."
const NO_KEY = 'There is no such key in this project.'

export const project = object('Project', 'organization.project', 'organization_projects', 'proj', NO_PROJECT)
export const apiKey = object('ApiKey', 'organization.project.api_key', 'project_api_keys', 'key', NO_KEY)
export const serviceAccount = object(
  'ServiceAccount',
  'organization.project.service_account',
  'project_service_accounts',
  'svc_acct',
  NO_KEY,
)

export const cacheEntry = object('CacheEntry', 'cache.entry', 'cached_answers', 'entry', NO_ENTRY)

/** With the key itself, which is shown this once. */
export const issuedKey = t.Object({ ...apiKey.schema.properties, value: t.String() }, { $id: 'IssuedApiKey' })
/** With its key, which is shown this once. */
export const addedServiceAccount = t.Object(
  {
    ...serviceAccount.schema.properties,
    api_key: t.Object({ ...TYPES.service_account_key }, { $id: 'ServiceAccountKey' }),
  },
  { $id: 'AddedServiceAccount' },
)

/** As it is answered. */
type Answer<Described extends { kind: string; view: ViewName }> = { object: Described['kind'] } & Shown<
  Described['view']
>
export type Project = Answer<typeof project>
/** `question`: its beginning, where entries are found by it. */
export type CacheEntry = Answer<typeof cacheEntry> & { question?: string }
export type ApiKey = Answer<typeof apiKey>
