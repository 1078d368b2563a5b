-- Types of the API and the dashboard. Their comments and checks become the description of the admin API.

create domain unix_seconds as bigint;
comment on domain unix_seconds is 'Unix seconds.';
create domain natural_number as bigint check (value >= 0);
comment on domain natural_number is '';
create domain positive_number as bigint check (value >= 1);
comment on domain positive_number is '';
create domain usd as numeric;
comment on domain usd is 'US dollars.';

create domain project_status as text check (value in ('active', 'archived'));
create domain project_role as text check (value in ('owner', 'member', 'viewer'));
create domain key_type as text check (value in ('project', 'test'));
create domain key_status as text check (value in ('active', 'expired', 'deactivated'));
create domain access as text check (value in ('active', 'inactive'));
create domain setting_type as text check (value in ('choice', 'number', 'whole', 'text', 'models', 'aliases', 'durations', 'contexts'));
create domain budget_unit as text check (value in ('usd', 'tokens'));
create domain budget_length as text check (value in ('day', 'week', 'month', 'total'));
create domain enforcement_status as text check (value in ('enforcing', 'inactive'));
create domain model_permissions_mode as text check (value in ('allow_list', 'deny_list'));
create domain webhook_format as text check (value in ('standard', 'slack', 'email'));
create domain delivery_state as text check (value in ('pending', 'delivered', 'failed'));

create domain cache_match_kind as text check (value in ('exact', 'normalized', 'similar'));

create type service_account as (id text, created_at unix_seconds, name text, role text);
create type api_key_owner as (type text, service_account service_account);
create type service_account_key as (object text, id text, name text, value text, created_at unix_seconds, expires_at unix_seconds);
comment on column service_account_key.expires_at is 'Null: never.';

create domain verdict as text check (value in ('same', 'different'));
create domain verdict_source as text check (value in ('person', 'review', 'judge'));
create domain match_reason as text check (value in ('normalized', 'proved', 'verified', 'judged', 'threshold', 'undecided'));

create type cache_match as (
    _served_at timestamptz,
    _cached_wording text,
    _sealed_wording bytea,
    request_id text,
    created_at unix_seconds,
    reason match_reason,
    difference text,
    similarity double precision,
    is_shadow boolean,
    saved_usd usd,
    prompt_tokens natural_number,
    entry_id text,
    model text,
    endpoint text,
    verdict verdict,
    verdict_source verdict_source
);
comment on column cache_match._cached_wording is 'Null: the question was not stored.';
comment on column cache_match._sealed_wording is 'Null: it was not stored.';
comment on column cache_match.difference is 'Null: none.';
comment on column cache_match.entry_id is 'Null: the entry was deleted.';
comment on column cache_match.model is 'Null: the entry was deleted.';
comment on column cache_match.endpoint is 'Null: the entry was deleted.';
comment on column cache_match.verdict is 'Null: none was given.';
comment on column cache_match.verdict_source is 'Null: none was given.';

create type cache_verdict as (
    _given_at timestamptz,
    verdict_id text,
    created_at unix_seconds,
    verdict verdict,
    source verdict_source,
    similarity double precision,
    difference text,
    model text,
    wordings text[]
);
comment on column cache_verdict.similarity is 'Null: it was not measured.';
comment on column cache_verdict.difference is 'Null: none.';
comment on column cache_verdict.model is 'Null: the entries were deleted.';

create type cache_scope_report as (
    scope text,
    requests natural_number,
    named natural_number,
    users natural_number,
    answered natural_number,
    since unix_seconds
);

comment on type cache_scope_report is 'The hits that the cache would have served under another sharing scope.';
comment on column cache_scope_report.scope is 'project, key or user.';
comment on column cache_scope_report.requests is 'The number of requests.';
comment on column cache_scope_report.named is 'The number of them that named an end user.';
comment on column cache_scope_report.users is 'The number of end users that they named.';
comment on column cache_scope_report.answered is 'The number of them that an identical request in the sharing scope preceded, recently enough for its response to be cached.';
comment on column cache_scope_report.since is 'When the first of them was answered. Null: there is none.';

create type setting_effect as (setting text, value text, hits bigint, saved_usd usd);
comment on type setting_effect is 'What another value of a setting would have changed in a project''s last week.';
comment on column setting_effect.value is 'The other value.';
comment on column setting_effect.hits is 'How many more requests would have been answered from the cache; negative: how many fewer.';
comment on column setting_effect.saved_usd is 'How much more would have been saved; negative: how much less.';
create type requested_model as (model text, requests natural_number);
comment on type requested_model is 'A model or alias that requests named.';

create type similarity_band as (
    at_least double precision,
    served natural_number,
    stopped natural_number,
    saved_usd usd,
    missed_usd usd,
    same natural_number,
    different natural_number
);

create type calibration_step as (
    difference text,
    threshold double precision,
    served natural_number,
    "precision" double precision,
    precision_low double precision,
    precision_high double precision
);

create type cache_context as (
    instructions_hash text,
    misses natural_number,
    first_at unix_seconds,
    last_at unix_seconds,
    last_request_id text
);

create type end_user_data as (
    id text,
    items natural_number,
    bytes natural_number,
    oldest_at unix_seconds,
    newest_at unix_seconds
);
comment on column end_user_data.id is 'The kind of data.';
comment on column end_user_data.items is 'The number of items.';
comment on column end_user_data.oldest_at is 'Null: not known.';
comment on column end_user_data.newest_at is 'Null: not known.';

create type cache_stats as (
    entries natural_number,
    bytes natural_number,
    prompts natural_number,
    with_vector natural_number,
    vectors natural_number,
    expired natural_number,
    saveable_tokens natural_number,
    oldest_at unix_seconds,
    newest_at unix_seconds
);
comment on column cache_stats.oldest_at is 'Null: it is empty.';
comment on column cache_stats.newest_at is 'Null: it is empty.';
create type enforcement as (status enforcement_status);
create type notification_channel as (type text, recipients text[], subject_prefix text);
comment on column notification_channel.subject_prefix is 'Null: none.';

create type quota as (keys key_type, used natural_number, quota natural_number, remaining bigint);
create type key_activity as (id text, name text, redacted_value text, type key_type, requests_last_minute natural_number, requests_per_minute natural_number);
create domain leaked_key_kind as text check (value in ('api_key', 'admin_api_key'));
create type leaked_key as (
    id text,
    kind leaked_key_kind,
    project_id text,
    project_name text,
    name text,
    redacted_value text,
    state key_status,
    is_whole_key boolean,
    created_at unix_seconds,
    last_used_at unix_seconds,
    expires_at unix_seconds
);
comment on column leaked_key.project_id is 'Null: an admin key for all projects.';
comment on column leaked_key.project_name is 'Null: an admin key for all projects.';
comment on column leaked_key.is_whole_key is 'False if only the displayed beginning is that of the text.';
comment on column leaked_key.last_used_at is 'Null: never.';
comment on column leaked_key.expires_at is 'Null: never.';

create domain limit_kind as text check (value in ('monthly_requests', 'requests_per_minute', 'tokens_per_minute', 'budget'));
create type nearest_limit as (
    kind limit_kind,
    key_type key_type,
    api_key_id text,
    api_key_name text,
    budget_id text,
    model text,
    tag text,
    per budget_length,
    unit text,
    used numeric,
    amount numeric,
    share double precision,
    resets_at unix_seconds,
    is_of_plan boolean,
    is_of_organization boolean
);
comment on type nearest_limit is 'A limit that applies to requests of a project, and how much of it is used.';
comment on column nearest_limit.key_type is 'The keys to which the quota applies together. Null: the limit is no quota.';
comment on column nearest_limit.api_key_id is 'The key to which the limit applies. Null: it applies to all keys.';
comment on column nearest_limit.api_key_name is 'Null: it applies to all keys.';
comment on column nearest_limit.budget_id is 'Null: the limit is no budget.';
comment on column nearest_limit.model is 'The model to which a budget applies. Null: any.';
comment on column nearest_limit.tag is 'The tag to which a budget applies, as name=value. Null: any.';
comment on column nearest_limit.per is 'The period of a budget. Null: the limit is no budget.';
comment on column nearest_limit.unit is 'requests, tokens or usd.';
comment on column nearest_limit.used is 'In the present period, with the amounts that requests in flight have reserved; per minute, by requests that ended in the last minute.';
comment on column nearest_limit.amount is 'The limit.';
comment on column nearest_limit.share is 'The used share; 1 for a limit of zero.';
comment on column nearest_limit.resets_at is 'When the period ends. Null: a total, or a limit per minute, which applies to every interval of 60 seconds.';
comment on column nearest_limit.is_of_plan is 'True: the plan sets it. False: the project does, or for one of its keys an owner.';
comment on column nearest_limit.is_of_organization is 'True: a budget of all projects together.';

create type rejection_count as (
    reason text,
    project_id text,
    project_name text,
    api_key_id text,
    api_key_name text,
    api_key_redacted_value text,
    requests natural_number,
    recorded_requests natural_number,
    latest_hour unix_seconds
);
comment on column rejection_count.reason is 'The code of the error.';
comment on column rejection_count.project_id is 'Null: no known key.';
comment on column rejection_count.project_name is 'Null: no known key, or the project was deleted.';
comment on column rejection_count.api_key_id is 'Null: no known key.';
comment on column rejection_count.api_key_name is 'Null: no known key, or it was deleted.';
comment on column rejection_count.api_key_redacted_value is 'Null: no known key, or it was deleted.';
comment on column rejection_count.requests is 'All of them.';
comment on column rejection_count.recorded_requests is 'The number of them in the list of requests. Each process records at most 30 a minute for each key.';
create domain user_role as text check (value in ('owner', 'reader'));
create domain admin_key_permissions as text check (value in ('all', 'read_only'));
create domain invite_status as text check (value in ('pending', 'accepted', 'expired'));
create type invite_project as (id text, role project_role);
create type admin_api_key_owner as (type text, object text, id text, name text, created_at unix_seconds, role user_role);
create type open_session as (id text, address text, user_agent text, created_at unix_seconds, last_seen_at unix_seconds, is_this_one boolean);

create domain audit_actor_type as text check (value in ('session', 'api_key'));
create type audit_project as (id text, name text);
comment on column audit_project.name is 'Left out: the project was deleted.';
create type audit_user as (id text, email text);
create type audit_session as ("user" audit_user, ip_address text);
comment on column audit_session.ip_address is 'Left out: the change was made with psql, or by the proxy itself.';
create type audit_api_key as (id text, type text, name text, "user" audit_user);
comment on column audit_api_key.name is 'At the time of the change.';
create type audit_actor as (type audit_actor_type, session audit_session, api_key audit_api_key);
comment on column audit_actor.session is 'Left out: it was an admin API key.';
comment on column audit_actor.api_key is 'Left out: it was a session.';
create type audit_change as (id text, name text, data jsonb);
comment on column audit_change.name is 'At the time of the change. Left out: the object has no name.';

create domain cache_result as text check (value in ('HIT', 'HIT-SEMANTIC', 'MISS'));
create type usage_share as (
    name text,
    requests natural_number,
    hits natural_number,
    misses natural_number,
    failed natural_number,
    tokens natural_number,
    cost_usd usd,
    saved_usd usd
);
create type cost_bucket as (start_time unix_seconds, cost_usd usd);
create type project_share as (
    id text,
    name text,
    created_at unix_seconds,
    status project_status,
    plan text,
    your_role project_role,
    requests natural_number,
    hits natural_number,
    misses natural_number,
    failed natural_number,
    cost_usd usd,
    saved_usd usd,
    previous_cost_usd usd,
    buckets cost_bucket[]
);
comment on type project_share is 'A project with its usage.';
comment on column project_share.your_role is 'The caller''s; an administrator owns all projects.';
comment on column project_share.failed is 'The number of requests with a status from 400 on.';
comment on column project_share.previous_cost_usd is 'The cost in the time range of equal length before.';
comment on column project_share.buckets is 'The cost by hour, day or month. Those without requests are missing.';
create type estimated_cost as (reason text, requests natural_number, cost_usd usd, doubtful_usd usd);
create type request_filter_value as (kind text, value text, requests natural_number);
comment on column request_filter_value.kind is 'The kind of filter, such as model, end_user or tag.';
comment on column request_filter_value.value is 'A value that occurs in the time range.';
comment on column request_filter_value.requests is 'The number of its requests. Null: not counted.';
create type latency as (cache_result cache_result, requests natural_number, p50_ms double precision, p95_ms double precision, p99_ms double precision);

create domain paid_again_reason as text check (value in (
    'no_cache', 'cache_off', 'old_version', 'rejected_by_hook', 'other_scope', 'expired', 'tools', 'not_stored', 'shadow', 'difference', 'too_far'
));
create domain paid_again_action as text check (value in (
    'remove_no_cache', 'enable_cache', 'widen_scope', 'extend_ttl', 'enable_semantic_cache', 'confirm_same'
));
create type paid_question as (
    _last_at timestamptz,
    _sealed_request bytea,
    asked_id text,
    reason paid_again_reason,
    difference text,
    action paid_again_action,
    requests natural_number,
    cost_usd usd,
    first_at unix_seconds,
    last_at unix_seconds,
    last_request_id text,
    model text,
    endpoint text,
    verdict verdict
);
comment on type paid_question is 'A question that was paid for although it had been answered before.';
comment on column paid_question._sealed_request is 'Null: it was not stored.';
comment on column paid_question.asked_id is 'As in the request log: identical requests share it.';
comment on column paid_question.reason is 'Why the earlier response was not served. Identical requests: no_cache, cache_off, old_version, rejected_by_hook, other_scope, expired, tools, not_stored. Similar questions: shadow, difference, too_far.';
comment on column paid_question.difference is 'The kind of difference from the cached question. Null: another reason.';
comment on column paid_question.action is 'The change that would have the next such request served from the cache. Null: none.';
comment on column paid_question.requests is 'The number of requests that were paid for again.';
comment on column paid_question.cost_usd is 'Their cost.';
comment on column paid_question.first_at is 'When the first of them was answered.';
comment on column paid_question.last_at is 'When the last of them was answered.';
comment on column paid_question.verdict is 'For a similar question, the verdict on it and the cached one. Null: none.';

create type agent_session as (
    id text,
    started_at unix_seconds,
    ended_at unix_seconds,
    requests natural_number,
    failed natural_number,
    hits natural_number,
    misses natural_number,
    models text[],
    end_user text,
    prompt_tokens natural_number,
    cached_prompt_tokens natural_number,
    cache_write_tokens natural_number,
    completion_tokens natural_number,
    cost_usd usd,
    saved_usd usd,
    prompt_cache_saved_usd usd,
    is_unread boolean
);
comment on type agent_session is 'The requests of an agent''s task or of a conversation.';
comment on column agent_session.id is 'The session, as in the request log.';
comment on column agent_session.started_at is 'When its first request arrived.';
comment on column agent_session.ended_at is 'When its last response ended.';
comment on column agent_session.failed is 'The number of requests with a status from 400 on.';
comment on column agent_session.hits is 'The number of cache hits.';
comment on column agent_session.misses is 'The number of cache misses.';
comment on column agent_session.end_user is 'The end user, if all requests name the same. Null: none, or several.';
comment on column agent_session.cached_prompt_tokens is 'The number of prompt tokens that the provider read from its prompt cache.';
comment on column agent_session.cache_write_tokens is 'The number of prompt tokens that the provider wrote to its prompt cache and charged extra for.';
comment on column agent_session.saved_usd is 'The cost that cache hits saved.';
comment on column agent_session.prompt_cache_saved_usd is 'What the provider''s prompt cache saved. Below zero if writing cost more than reading saved.';
comment on column agent_session.is_unread is 'Whether the provider''s prompt cache was written, but never read, and the last response is older than five minutes, for which providers cache by default.';

create domain audit_severity as text check (value in ('violation', 'notice'));
create type audit_observation as (kind text, project_id bigint, key_id bigint, at timestamptz, subject text, expected text, found text);
comment on type audit_observation is 'A finding of one part of the audit.';
comment on column audit_observation.project_id is 'Null: it concerns no single project.';
comment on column audit_observation.key_id is 'Null: it concerns no single key.';
create type audit_finding as (
    kind text,
    severity audit_severity,
    project text,
    api_key text,
    at timestamptz,
    subject text,
    expected text,
    found text
);
comment on column audit_finding.project is 'Null: it concerns no single project.';
comment on column audit_finding.api_key is 'Null: it concerns no single key.';
