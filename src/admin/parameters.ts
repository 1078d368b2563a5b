/** Descriptions of parameters for OpenAPI, except for ids, which `completeOpenApiDocument` describes. A name has the same meaning in every route. */
import { VENDORS } from '../config/vendors.ts'

/** The groups of operations. */
export const OPENAPI_TAGS = {
  Projects: 'Projects, their settings, and the routes of their models.',
  'API keys': 'Keys with which clients authenticate for a project.',
  'Provider keys': 'A project’s own keys for providers. They are encrypted, and never shown again.',
  Members: 'Users who may view or change a project.',
  Limits: 'Plans, rate limits and quotas.',
  Budgets: 'Spending limits of projects, keys, models and tags.',
  Webhooks: 'URLs that receive a project’s events.',
  Users: 'The installation’s users.',
  'Admin keys': 'Keys of this API.',
  'Audit log': 'Changes, and the users who made them.',
  Usage: 'Reports of usage and costs.',
  Requests: 'The request log.',
  'End users': 'Stored data of an end user of a project.',
  Cache: 'Cached responses.',
  Matches: 'Semantic hits and near misses, and verdicts on them.',
  Sessions: 'Logins with a browser.',
}
export type OpenApiTag = keyof typeof OPENAPI_TAGS

export const PARAMETER_DESCRIPTIONS: Readonly<Record<string, string>> = {
  // Path parameters.
  provider: `One of ${VENDORS.map(({ name }) => name).join(', ')}.`,
  rate_limit_id: 'Id of a rate limit from the list.',
  verdict_id: 'The verdict_id of the verdict.',
  request_id: 'In a path, the id of the request from the list; in a query, the X-Request-Id of its response.',
  plan: 'The name of a plan.',
  // Pages.
  after: 'The id of the item after which the page starts.',
  before: 'The id of the item before which the page ends.',
  limit: 'The maximum number of items or buckets.',
  order: 'asc: oldest first; desc: newest first.',
  page: 'The next_page of a previous response.',
  sort: 'newest: newest first; slowest: slowest first, only requests of a second or longer; dearest: most expensive first, only requests with a cost.',
  format: 'The format of the file.',
  // Times, in Unix seconds.
  start_time: 'Start of the time range in Unix seconds, inclusive.',
  end_time: 'End of the time range in Unix seconds, exclusive; by default now.',
  effective_at: 'Time range in Unix seconds: effective_at[gte]=…, with gt, gte, lt or lte.',
  older_than_seconds: 'Only entries that were stored longer ago than this number of seconds.',
  bucket_width: 'The width of a bucket: a minute, an hour, or a UTC day.',
  width: 'The width of a bucket, in the time zone.',
  time_zone: 'The time zone of hours, days and months, such as Europe/Vienna.',
  // Filters.
  name: 'The name of the key, if a project has several keys of the provider.',
  include_archived: 'Whether to include archived projects.',
  include_inactive: 'Whether to include deactivated and expired keys.',
  emails: 'Only these users.',
  project_ids: 'Only these projects.',
  api_key_ids: 'Only these API keys.',
  api_key_id: 'Only this API key.',
  key_type: 'Only keys of this type. Test keys use the sandbox.',
  models: 'Only these models.',
  line_items: 'Only these models.',
  model: 'Only this model; for requests, a part of its name.',
  model_name: 'Only the model with exactly this name.',
  group_by: 'Fields by which rows are grouped; tag:team groups by the values of the tag team.',
  tags: 'Only requests with all of these tags, each as name=value.',
  question:
    'A part of the question, ignoring case. Searches the newest 50,000 entries. Only for members, and if the project stores contents.',
  namespace: 'Only this namespace of the cache.',
  endpoint: 'Only this endpoint, such as chat or embeddings.',
  cache_result: 'Only requests with this result of the cache.',
  outcome: 'Only requests with this outcome.',
  status: 'Only responses with this HTTP status.',
  error_code: 'Only responses with this error code.',
  end_user: 'The end user: the whole name, as in requests.',
  event_types: 'Only these kinds of changes.',
  actor_ids: 'Only changes by these users.',
  actor_emails: 'Only changes by users with these e-mail addresses.',
  resource_ids: 'Only changes of these objects.',
  tenant_only: 'Accepted for OpenAI’s clients, without effect: there is one tenant.',
  native_to: 'The models of this provider, under its own names.',
  provider_keys: 'The providers for which to assume that the project has keys; one empty name stands for none.',
}
