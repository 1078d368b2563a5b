/** The calls of the database that the pages of the dashboard make, for a large project and for all projects. */
import type { ActorArguments } from '../../src/postgres/admin/call-as.ts'
import type { FunctionName } from '../../src/postgres/call.ts'

/** What of the filled database the calls name. */
export interface Subject {
  now: Date
  /** The project with the most records. */
  project: number
  project_name: string
  key: number
  test_key: number
  /** Of one record. */
  request_id: string
  asked_id: string
  session: string
  end_user: string
}

export interface AdminCall {
  title: string
  name: FunctionName
  given: object
}

const DAY_MS = 86_400_000
const ANY = { of_model: null, of_key: null, of_key_type: null }
/** Sums are read by the month, the day and so on: how many rows a range needs depends on where it begins and ends. */
const DAYS_BACK = [0, 8, 15]

export function listAdminCalls(subject: Subject): AdminCall[] {
  return [...usageCalls(subject), ...projectCalls(subject), ...requestCalls(subject)]
}

function call<Name extends FunctionName>(title: string, name: Name, given: ActorArguments<Name>): AdminCall {
  return { title, name, given }
}

const at = ({ now }: Subject, daysAgo: number) => new Date(now.getTime() - daysAgo * DAY_MS).toISOString()

/** The time of that many days, which ended some days ago, beginning in the middle of an hour. */
function span(subject: Subject, days: number, back = 0) {
  return { from_time: at(subject, days + back + 0.014), until_time: at(subject, back === 0 ? -1 : back) }
}

function usageCalls(subject: Subject): AdminCall[] {
  const everybody = [
    ['organization', null],
    ['project', [subject.project]],
  ] as const
  return everybody.flatMap(([who, projects]) => {
    const of_projects = projects && [...projects]
    const month = { of_projects, ...span(subject, 30) }
    const overview = (title: string, given: object) =>
      call(`overview of the ${who}, 30 days ${title}`, 'usage_overview', {
        ...{ ...month, ...ANY, width: 'day', zone: 'UTC' },
        ...given,
      })
    return [
      ...DAYS_BACK.map(back => overview(`until ${back} days ago`, span(subject, 30, back))),
      ...['Asia/Kolkata', 'Pacific/Auckland'].map(zone => overview(`of ${zone}`, { zone })),
      overview('by the hour', { width: 'hour' }),
      overview('of a model', { of_model: 'vendor/model-3' }),
      overview('of a key', { of_key: subject.key }),
      ...['model', 'api_key', 'tag'].flatMap(share_by =>
        DAYS_BACK.map(back =>
          call(`shares of the ${who} by ${share_by}, 30 days until ${back} days ago`, 'usage_shares', {
            ...{ of_projects, ...span(subject, 30, back), ...ANY },
            ...{ share_by, ordered_by: 'requests', max_rows: 20 },
          }),
        ),
      ),
      call(`latencies of the ${who}`, 'latency_percentiles', month),
      call(`estimated costs of the ${who}`, 'estimated_costs', { ...month, ...ANY }),
      call(`a tag of the ${who}`, 'usage_by_tag', {
        ...{ ...month, ...ANY, of_tags: { team: 'team-5' }, groupings: ['time', 'model', 'tag'] },
        ...{ width: 'day', zone: 'UTC', ordered_by: 'requests' },
      }),
      ...['team', 'api_key', 'model', 'end_user', 'provider_key'].flatMap(share_by =>
        DAYS_BACK.map(back =>
          call(`costs of the ${who} by ${share_by}, 30 days until ${back} days ago`, 'cost_shares', {
            ...{ of_projects, previous_time: at(subject, 60 + back), previous_until: at(subject, 30 + back) },
            ...{ ...span(subject, 30, back), share_by, of_key_type: null, max_rows: 1000 },
          }),
        ),
      ),
      call(`report of the ${who}`, 'monthly_report', { project: projects ? subject.project_name : '', month: '' }),
    ]
  })
}

function projectCalls(subject: Subject): AdminCall[] {
  const of_project = subject.project
  const names = (in_kind: string, search: string) =>
    call(`search for ${in_kind} '${search}'`, 'search_names', { in_kind, of_project, search, max_rows: 21 })
  return [
    ...['UTC', 'Pacific/Auckland'].map(zone =>
      call(`projects, 30 days, ${zone}`, 'project_shares', {
        ...{ previous_time: at(subject, 60), ...span(subject, 30), width: 'day', zone },
      }),
    ),
    ...[30, 60].flatMap(days =>
      (days === 30 ? DAYS_BACK : [0]).map(back =>
        call(`end users, ${days} days until ${back} days ago`, 'list_end_users', {
          ...{ of_project, ...span(subject, days, back) },
        }),
      ),
    ),
    ...[7, 30].flatMap(days => [
      call(`paid again, ${days} days`, 'paid_again', { of_project, ...span(subject, days) }),
      call(`values of filters, ${days} days`, 'request_filter_values', {
        ...{ of_project, ...span(subject, days), max_values: 200 },
      }),
      call(`sessions, ${days} days`, 'agent_sessions', { of_project, ...span(subject, days) }),
    ]),
    call('effects of settings', 'policy_effects', { of_project }),
    ...['', 'user-0-1', 'nobody'].map(search => names('end_user', search)),
    ...['', 'team-1', 'nothing'].map(search => names('tag', search)),
  ]
}

function requestCalls(subject: Subject): AdminCall[] {
  const { key: of_key, end_user, request_id, asked_id, session } = subject
  const filters: Record<string, object> = {
    all: {},
    'of a key': { of_key },
    'of test keys': { of_key_type: 'test' },
    'of a part of a model': { model_part: 'model-3' },
    'of no model': { model_part: 'nothing' },
    'of a model': { of_model: 'vendor/model-5' },
    'of a model of a key': { of_model: 'vendor/model-5', of_key },
    'of an endpoint': { of_endpoint: 'embeddings' },
    'of a provider': { of_provider: 'vendor-2' },
    hits: { of_result: 'HIT' },
    'failed hits': { of_result: 'HIT', of_outcome: 'failed' },
    ...Object.fromEntries(
      ['ok', 'failed', 'client_error', 'server_error', 'estimated'].map(of_outcome => [of_outcome, { of_outcome }]),
    ),
    ...Object.fromEntries([200, 503, 418].map(of_status => [`with status ${of_status}`, { of_status }])),
    ...Object.fromEntries(['rate_limited', 'nothing'].map(of_error => [`with error ${of_error}`, { of_error }])),
    ...Object.fromEntries([end_user, 'nobody'].map(of_end_user => [`of ${of_end_user}`, { of_end_user }])),
    'of a model and a user': { of_end_user: 'user-0-0', of_model: 'vendor/model-5' },
    ...Object.fromEntries([request_id, 'nothing'].map(id => [`with id ${id}`, { of_request_id: id }])),
    ...Object.fromEntries([asked_id, 'nothing'].map(id => [`identical to ${id}`, { of_asked_id: id }])),
    ...Object.fromEntries([session, 'nothing'].map(of_session => [`of session ${of_session}`, { of_session }])),
    'with a tag': { of_tags: { team: 'team-1' } },
    'with two tags': { of_tags: { team: 'team-7', feature: 'feature-11' } },
    'with no tag': { of_tags: { team: 'nobody' } },
    'with a tag of a key': { of_tags: { team: 'team-6' }, of_key: subject.test_key },
    'with a tag that names a user': { of_tags: { user_id: 'user-17' } },
  }
  return ['newest', 'slowest', 'dearest'].flatMap(sorted =>
    Object.entries(filters).flatMap(([title, filter]) =>
      [7, 60].map(days =>
        call(`${sorted} requests of ${days} days, ${title}`, 'find_requests', {
          ...{ of_project: subject.project, ...span(subject, days), sorted, page_size: 21 },
          ...filter,
        }),
      ),
    ),
  )
}
