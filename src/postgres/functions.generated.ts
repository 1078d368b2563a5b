/** Written by `bun run generate-types` from the functions in sql/: what each takes and gives. `?` after a type: may be null; `=`: has a default; `|` between words: one of them. */
export const SQL_FUNCTIONS = {
  /** Uses up an invitation or a password reset: sets the user's password hash, ends sessions and other tokens, and returns the user's id. Raises no_data_found when there is no such invitation. Null: client_address (an operator accepts it). */
  accept_invitation: { takes: { token: 'text', password_hash: 'text', client_address: 'text=' }, gives: 'bigint' },
  /** Makes the user with that e-mail address owner, member or viewer of a project. Raises unique_violation where the user is a member. An unknown address is added as a user, and the invitation returned; it is not shown again. Requires an owner of the project. Null: invitation (the user was known). */
  add_member: { takes: { project: 'text', member_email: 'text', member_role: 'text' }, gives: { id: 'bigint', invitation: 'text?' } },
  /** Makes a user owner, member or viewer of a project; raises unique_violation if the user is a member. Requires an owner of it. */
  add_membership: { takes: { project: 'text', of_user: 'bigint', member_role: 'text' }, gives: 'void' },
  /** Adds vectors that were not ready when store_cached_responses() stored their prompts. The lists have one item per vector. A vector is skipped if the entry was deleted or has expired, or its prompt belongs to another project, has another context or text, or has a vector. */
  add_prompt_vectors: { takes: { entry_ids: 'bigint[]', project_ids: 'bigint[]', context_hashes: 'bytea[]', normalized_hashes: 'bytea[]', space_ids: 'integer[]', vectors: 'text[]' }, gives: 'void' },
  /** Adds a user without a permission check, which callers must make; see create_user(). */
  add_user: { takes: { email: 'text', user_role: 'text', password_hash: 'text=' }, gives: 'bigint' },
  /** Adds a webhook for a project's events: of these kinds, or of all kinds if none is given. sealed: the signing secret, encrypted by the proxy. format: standard, slack or email, whose url is mailto: and an address. Requires an owner. */
  add_webhook: { takes: { project: 'text', url: 'text', kinds: 'text[]', sealed: 'bytea', format: 'text=' }, gives: 'bigint' },
  /** Validates a batch of distinct keys (hex SHA-256) and reserves up to that many requests for each against its month. requested 0: only validates. verdict: active, expired, disabled, unknown; account: in JSON; granted < requested: the quota is used up. Idempotent: the same batch of the same slot, sent again, reserves nothing and returns the same grants. A locked counter fails the batch within lock_wait_ms, 40 ms at least (55P03). near_end: the month is nearly used up, and no request may be admitted before this is on disk; with commits_on_disk, its commit waits for that. Null: in_slot, this_batch (they are not remembered), key_version (the key is unknown), account (it is unknown, or the caller knows this version of it). */
  admit: { takes: { key_hashes: 'text[]', requested: 'integer[]', in_slot: 'uuid?', this_batch: 'bigint?', known_versions: 'text[]', commits_on_disk: 'boolean', lock_wait_ms: 'integer' }, gives: { ordinal: 'integer', verdict: 'text', granted: 'integer', month: 'date', key_version: 'text?', account: 'text?', near_end: 'boolean' } },
  /** Returns all advisory locks that the proxy uses. number is the only or the first of the two numbers in pg_locks. All locks end with their transaction. */
  advisory_locks: { reads: true, takes: {}, gives: { name: 'text', number: 'integer', guards: 'text' } },
  /** The sessions of a project within a time: their number, cost and what the provider's prompt cache saved; the number of those that wrote it without ever reading it (unread), and what that cost; and a page of them, or of the unread ones (only_unread), after the session after_session. Sorted newest or dearest. At most the newest 50,000 requests with a session are read. Null: of_key, of_key_type, of_end_user (any); after_session (the first page); since (all were read; otherwise, from when on they were). */
  agent_sessions: { reads: true, takes: { of_project: 'bigint', from_time: 'timestamptz', until_time: 'timestamptz', of_key: 'bigint=', of_key_type: 'text=', of_end_user: 'text=', only_unread: 'boolean=', sorted: 'text=', after_session: 'text=', page_size: 'integer=' }, gives: { since: 'bigint?', sessions: 'bigint', cost_usd: 'numeric', prompt_cache_saved_usd: 'numeric', unread_sessions: 'bigint', unread_usd: 'numeric', page: 'agent_session[]' } },
  /** Archives a project permanently: its keys are deactivated, and no new one is issued; its records stay. Requires an owner of it. Idempotent. */
  archive_project: { takes: { project: 'text' }, gives: 'void' },
  /** Records an action of the current actor in the audit log. The settings proxy_caller.actor, user_id, admin_key_id and address identify the actor; without them it is the database user. Raises as require_key_permission() does, except for an export. */
  audit: { takes: { action: 'text', of_project: 'bigint', target: 'text', details: 'jsonb=' }, gives: 'void' },
  /** Compares the spent and reserved amounts of budgets with records and reservations. Null: of_project (all, and the organization). */
  audit_budgets: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz', of_project: 'bigint?' }, gives: { kind: 'text', project_id: 'bigint?', key_id: 'bigint?', at: 'timestamptz', subject: 'text', expected: 'text', found: 'text' } },
  /** Every kind of finding that an audit reports, the part of the audit that looks for it (see audit_parts()), and what it means. severity: violation, or notice, which no rule forbids. */
  audit_kinds: { reads: true, takes: {}, gives: { kind: 'text', part: 'text', severity: 'violation|notice', meaning: 'text' } },
  /** The parts of an audit of a period, each of which run_audit_part() reads in one statement. Records and sums are read by partition: partitions are not in memory together, and records past their retention are not expected. Null: from_time (31 days ago), until_time (two minutes ago). */
  audit_parts: { reads: true, takes: { from_time: 'timestamptz=', until_time: 'timestamptz=' }, gives: { part: 'text', begins: 'timestamptz', ends: 'timestamptz' } },
  /** Compares the monthly counters with plans, and with the number of requests that got a response. Null: of_project (all). */
  audit_quotas: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz', of_project: 'bigint?' }, gives: { kind: 'text', project_id: 'bigint?', key_id: 'bigint?', at: 'timestamptz', subject: 'text', expected: 'text', found: 'text' } },
  /** Finds records that contradict their key, its limits, or themselves. Null: of_project (all). */
  audit_records: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz', of_project: 'bigint?' }, gives: { kind: 'text', project_id: 'bigint?', key_id: 'bigint?', at: 'timestamptz', subject: 'text', expected: 'text', found: 'text' } },
  /** Compares sums and latency counts with records, and those of each grain with those of the next, by whole UTC days. Null: of_project (all). */
  audit_sums: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz', of_project: 'bigint?' }, gives: { kind: 'text', project_id: 'bigint?', key_id: 'bigint?', at: 'timestamptz', subject: 'text', expected: 'text', found: 'text' } },
  /** Finds overdue maintenance. Null: of_project (all). */
  audit_upkeep: { reads: true, takes: { of_project: 'bigint?' }, gives: { kind: 'text', project_id: 'bigint?', key_id: 'bigint?', at: 'timestamptz', subject: 'text', expected: 'text', found: 'text' } },
  /** The administrator for whom an admin API key (hex SHA-256) acts, its permissions, and the only project in which it may act; no row when the key is unknown or has expired. Null: project_id (all). */
  authenticate_admin_key: { takes: { hash: 'text' }, gives: { admin_key_id: 'bigint', user_id: 'bigint', email: 'text', role: 'owner|reader', permissions: 'all|read_only', project_id: 'bigint?' } },
  /** The user of a session cookie (hex SHA-256); no row when it is unknown, has expired, or was not used for seven days. */
  authenticate_session: { takes: { token_hash: 'text' }, gives: { session_id: 'bigint', user_id: 'bigint', email: 'text', role: 'owner|reader' } },
  /** Raises when the current user lacks the role viewer, member or owner in a project: no_data_found for a user who is no member, else insufficient_privilege. Administrators and operators with psql pass. */
  authorize: { reads: true, takes: { of_project: 'bigint', needed: 'text' }, gives: 'void' },
  /** The day, week (from Monday) or month of a time zone that contains a moment, from its first moment to the first one after it; for a total, all time. Every moment is in exactly one of them, even if midnight occurs twice, or never. */
  budget_period_at: { reads: true, takes: { per: 'text', zone: 'text', at: 'timestamptz' }, gives: { begins: 'timestamptz', ends: 'timestamptz' } },
  /** A sentence for each name in a budget (its model, key or tag) that no request has matched. Empty if the budget has spent anything. */
  budget_warnings: { reads: true, takes: { of_budget: 'bigint' }, gives: 'text[]' },
  /** The contents of a project's cache: entries and their stored bytes, prompts and vectors. */
  cache_stats: { reads: true, takes: { of_project: 'bigint' }, gives: { entries: 'bigint', bytes: 'bigint', prompts: 'bigint', with_vector: 'bigint', vectors: 'bigint', expired: 'bigint', saveable_tokens: 'bigint', oldest_at: 'bigint?', newest_at: 'bigint?' } },
  /** Whether an administrator who can log in is left when this user gets another role (null: is deleted). Where none can, one who is invited must be left. */
  can_lose_role: { takes: { of_user: 'bigint', new_role: 'text' }, gives: 'boolean' },
  /** Spends the cost of a call that belongs to no key, such as the judge's, at once: in all of the project's budgets in US dollars without key and tag, or in none (result false). A negative amount is a refund. */
  charge_budgets: { takes: { of_project: 'bigint', of_model: 'text', usd: 'numeric' }, gives: 'boolean' },
  /** Raises, with a description of valid values, unless the setting exists and accepts the value. */
  check_setting: { reads: true, takes: { setting: 'text', value: 'text' }, gives: 'void' },
  /** Selects the sums that a report reads: models, the sums of all projects together, by model and type of key, if the current user may see all projects and the report groups neither by key nor by project; totals, the sums of each project by type of key, if it does not group by key and model either; otherwise projects, all sums of each project. Null: of_projects (all). */
  choose_usage_sums: { reads: true, takes: { of_projects: 'bigint[]?', by_key: 'boolean', by_model: 'boolean', by_project: 'boolean=' }, gives: 'text' },
  /** Returns a row to exactly one caller per batch, which then records its usage: the tags of the request that started the batch, as JSON, and its end user. Null: tags (it had none), end_user (it named none). */
  claim_batch_settlement: { takes: { of_project: 'bigint', batch_id: 'text' }, gives: { tags: 'text?', end_user: 'text?' } },
  /** Claims the ids of objects that the provider has created for a request, such as a response and its items, for the request's project, for longer than providers store them: 30 days, and conversations without end. An id that another project has claimed stays that project's: a response may repeat an id that its request named. */
  claim_created_ids: { takes: { of_project: 'bigint', of_provider: 'text', ids: 'text[]' }, gives: 'void' },
  /** Claims the next due delivery of up to that many webhooks; no other process gets deliveries of these webhooks for a minute, or until record_delivery_result(). */
  claim_deliveries: { takes: { max_rows: 'integer' }, gives: { id: 'bigint', webhook_id: 'bigint', project_id: 'bigint', project: 'text', url: 'text', format: 'standard|slack|email', sealed: 'bytea', event_id: 'text', kind: 'text', at: 'timestamptz', payload: 'text' } },
  /** Records the change of this transaction under the idempotency key of its request {caller, key_hash, request_hash, attempt}. Raises PX001 if another request of the last day has made a change under that key. */
  claim_idempotency_key: { takes: { request: 'json' }, gives: 'void' },
  /** Claims up to that many queued pairs for two minutes, with the data for calling the judge: settle_judgement() ends a claim, requeue_judgements() returns the pair to the queue. Pairs whose project has turned the judge off, or without an entry, are removed. */
  claim_judgements: { takes: { max_rows: 'integer' }, gives: { id: 'bigint', project_id: 'bigint', project_name: 'text', context_hash: 'text', asked_hash: 'text', cached_hash: 'text', is_review: 'boolean', context: 'text', asked: 'text', cached: 'text', similarity: 'double precision', expires_at: 'timestamptz', semantic_judge_model: 'text', direct_providers: 'text[]', provider_keys_version: 'bigint' } },
  /** Returns the ids that the project may not name to the provider: those that another project has claimed and, under a key that projects share, those that this project has not claimed. With a key of its own, a project claims the ids that it names first; if several projects name an id at the same time, one of them claims it. */
  claim_referenced_ids: { takes: { of_project: 'bigint', of_provider: 'text', under_shared_key: 'boolean', ids: 'text[]' }, gives: { id: 'text' } },
  /** Claims up to max_rows responses whose usage is due to be requested, with the data for the request; they are due again after some seconds, with growing intervals, until reconcile_response() or delete_unreconciled_response(). Null: named_provider_keys (each provider has one key at most, named default). */
  claim_unreconciled_responses: { takes: { max_rows: 'integer' }, gives: { project_id: 'bigint', id: 'text', provider: 'text', model: 'text', direct_providers: 'text[]', provider_keys_version: 'bigint', named_provider_keys: 'text[]?' } },
  /** Ends one session of the current user: the one that sent the request (is_current), or another. Raises no_data_found for anybody else's. */
  close_session: { takes: { session_id: 'bigint', is_current: 'boolean' }, gives: 'void' },
  /** Ends all sessions of the current user, and returns how many there were. */
  close_sessions: { takes: {}, gives: 'integer' },
  /** The hits of a project's last week under each cache_scope: requests that follow an identical request in the same scope. At most the newest 200,000 requests are read. */
  compare_scopes: { reads: true, takes: { of_project: 'bigint' }, gives: { scope: 'text', requests: 'bigint', named: 'bigint', users: 'bigint', answered: 'bigint', since: 'bigint?' } },
  /** Replaces a response that was stored when its provider started to generate it with the complete response. */
  complete_stored_response: { takes: { of_project: 'bigint', of_key: 'bigint', response_id: 'text', response: 'text', item_ids: 'text[]' }, gives: 'void' },
  /** Corrects the timestamps written by a clock that ran ahead and was set back: otherwise keys, sessions, leases and cache entries would outlive their time, and delayed work could wait for a year. Usage records keep their times. A column named …_at is the time of a past event, unless its comment says how far ahead it may be: "Ahead of created_at", as long after that as before; "Ahead: at most 5 minutes" from now; or "Ahead", and why it is not changed. */
  correct_future_timestamps: { takes: {}, gives: 'void' },
  /** Costs in a time by a group of grouped_costs(), most expensive first, with their estimated part and the cost from previous_time to previous_until. level: group (the first max_rows; an empty name: without one), rest (the others together) or total. shares: how many groups a row has; beyond max_rows, end users and provider keys without requests now are not counted. Null: of_projects (all that may be seen), of_key_type (any), name (rest, total). */
  cost_shares: { reads: true, takes: { of_projects: 'bigint[]?', previous_time: 'timestamptz', previous_until: 'timestamptz', from_time: 'timestamptz', until_time: 'timestamptz', share_by: 'text', of_key_type: 'text?', max_rows: 'integer' }, gives: { level: 'text', name: 'text?', shares: 'bigint', requests: 'bigint', hits: 'bigint', misses: 'bigint', cost_usd: 'numeric', estimated_usd: 'numeric', saved_usd: 'numeric', previous_usd: 'numeric' } },
  /** Counts login attempts (0: none, it only reads), and returns how many seconds to wait before the next: 0 for the first 10 of an account from a client address, 30 of an address and 100 of an account in 15 minutes. From an address where the account has logged in lately, only the first of these limits applies. */
  count_login_attempt: { takes: { email: 'text', address: 'text', attempts: 'integer' }, gives: 'integer' },
  /** Counts a key's requests of the last 61 seconds while a process that cannot reach Redis admits some: called by that process (without_redis), which marks the key, and for a marked key by all others, with the counts of Redis for each second up to at_second, including the batch. Returns how many requests of the batch are admitted, and the seconds until another might be. */
  count_minute_requests: { takes: { of_project: 'bigint', of_key: 'bigint', requested: 'integer', max_requests: 'integer', at_second: 'bigint', in_redis: 'integer[]', without_redis: 'boolean' }, gives: { granted: 'integer', wait_seconds: 'integer' } },
  /** The requests of a project's last week by the requested model, or alias; none if there are 50,000 or more. */
  count_requested_models: { reads: true, takes: { of_project: 'bigint' }, gives: { model: 'text', requests: 'bigint' } },
  /** How many vectors a project has in its cache; none for a user who may not see it. */
  count_vectors: { reads: true, takes: { of_project: 'bigint' }, gives: 'bigint' },
  /** Adds an administrator and returns a token to set a password with; for an administrator who lost the password, returns another token. Raises for a user who is not an administrator, unless promote is true: then the user becomes one. For operators. */
  create_administrator: { takes: { email: 'text', promote: 'boolean=' }, gives: 'text' },
  /** Creates a key (type project or test), with a budget of it {unit, amount, per} as set_budget() sets it, which requires an owner. The value is not shown again. Raises on an unknown project or type, and on a name that an active key of the project has. Null: expires (never), budget (none). */
  create_api_key: { takes: { project: 'text', key_type: 'text', key_name: 'text', expires: 'timestamptz=', budget: 'jsonb=' }, gives: { id: 'bigint', value: 'text' } },
  /** Creates the first administrator of a new installation; false when there is one already. */
  create_first_administrator: { takes: { email: 'text', password_hash: 'text' }, gives: 'boolean' },
  /** Creates an invitation without a permission check, which callers must make; see invite_user(). */
  create_invitation: { takes: { of_user: 'bigint' }, gives: 'text' },
  /** Creates a project on a plan and returns its id. Raises on an invalid or taken name and on an unknown plan. Requires an administrator. */
  create_project: { takes: { project: 'text', plan: 'text' }, gives: 'bigint' },
  /** Creates a key of a project in the form of OpenAI's service account. Null: expires (never). */
  create_service_account: { takes: { project: 'text', key_name: 'text', expires: 'timestamptz?' }, gives: { id: 'bigint', api_key: 'service_account_key' } },
  /** Adds a user (role owner: administrator, or reader) and returns the id; without a password hash, an invitation sets the password. Requires an administrator. Raises on an invalid or taken e-mail address. */
  create_user: { takes: { email: 'text', user_role: 'text', password_hash: 'text=' }, gives: 'bigint' },
  /** The only project in which the admin key of the current user may act; 0 (no project) for a key that has been deleted meanwhile. Null: result (all projects of the user, or no admin key). */
  current_key_project: { reads: true, takes: {}, gives: 'bigint?' },
  /** First day of the current calendar month in UTC, by which quotas are counted. */
  current_month: { reads: true, takes: {}, gives: 'date' },
  /** The current user's role in a project: viewer, member or owner, as administrators and operators with psql are. Null: result (none). */
  current_project_role: { reads: true, takes: { of_project: 'bigint' }, gives: 'text?' },
  /** The user on whose behalf run_as_actor() runs a statement; null for an operator with psql and for the proxy itself. */
  current_user_id: { reads: true, takes: {}, gives: 'bigint' },
  /** Deactivates the one key that is given whole or by its displayed prefix, and returns the prefix; the key is rejected from the next request on. Idempotent. Raises when no key or several match. */
  deactivate_key: { takes: { key_or_prefix: 'text' }, gives: 'text' },
  /** Deactivates a key, deletes its stored turns and returns its prefix; the key is rejected from the next request on. Idempotent. Requires a member of its project. */
  deactivate_key_with_id: { takes: { key_id: 'bigint' }, gives: 'text' },
  /** Deletes an admin API key; the key is rejected from the next request on. Requires an administrator. */
  delete_admin_key: { takes: { key_id: 'bigint' }, gives: 'void' },
  /** Deletes the cache entry of a request that the hook rejected. The request is given by its hex hash. */
  delete_entry: { takes: { of_project: 'bigint', of_request: 'text' }, gives: 'void' },
  /** Deletes up to that many expired cache entries, and as many expired vectors. Returns the greater number; if it is below the limit, none are left. */
  delete_expired_entries: { takes: { max_rows: 'integer' }, gives: 'integer' },
  /** Deletes up to that many rows of each table whose rows outlive their use: sums after 13 months, events and versions of cached responses that no request names after 90 days, ids of batches and idempotency keys after a day, expired sessions, invitations, stored turns and ids whose objects a provider has deleted, old login attempts, minutes that are not counted any more. Returns the greatest number: fewer than max_rows means that none are left. */
  delete_expired_rows: { takes: { max_rows: 'integer' }, gives: 'integer' },
  /** Deletes expired stored responses. Returns their number. */
  delete_expired_stored_responses: { takes: { max_rows: 'integer' }, gives: 'integer' },
  /** Deletes up to that many verdicts that have expired and have no entry, as many semantic hits older than a week and contexts without a miss for 30 days, and as many pairs that have been queued for the judge for a day; returns the greatest number. Fewer than max_rows means that none are left. */
  delete_expired_verdicts: { takes: { max_rows: 'integer' }, gives: 'integer' },
  /** Deletes a user who was invited and cannot log in yet. Requires an administrator. */
  delete_invite: { takes: { of_user: 'bigint' }, gives: 'void' },
  /** Deletes the cache entries with the id of a response that was deleted at its provider, and returns the hex hashes of their requests. */
  delete_response_entries: { takes: { of_project: 'bigint', response_id: 'text' }, gives: { request_hash: 'text' } },
  /** Deletes up to that many rows of a table that satisfy a condition, except those that another transaction has locked, and returns how many. */
  delete_rows: { takes: { place: 'text', condition: 'text', max_rows: 'integer' }, gives: 'integer' },
  /** Deletes the record of an object that its provider no longer has. What else was claimed under this id stays the project's. */
  delete_stored_object: { takes: { of_project: 'bigint', of_collection: 'text', object_id: 'text' }, gives: 'void' },
  /** Deletes a stored response. Returns whether it existed. */
  delete_stored_response: { takes: { of_project: 'bigint', of_key: 'bigint', response_id: 'text' }, gives: 'boolean' },
  /** Deletes the records that expire_reservations() wrote for requests whose process seemed to have ended: their own records replace them. */
  delete_superseded_records: { takes: { reserved_as: 'uuid[]' }, gives: 'void' },
  /** Deletes a response whose usage its provider will never report: the estimate stays. */
  delete_unreconciled_response: { takes: { of_project: 'bigint', response_id: 'text' }, gives: 'void' },
  /** Deletes a budget that is not enforced once it has no alerts, and updates projects.has_budgets: of a project, or for null of all. */
  delete_unused_budget: { takes: { owner_id: 'bigint', of_budget: 'bigint' }, gives: 'void' },
  /** Deletes a user, with memberships, sessions and admin keys. Requires an administrator; neither the last administrator who can log in nor the last such owner of a project can be deleted. */
  delete_user: { takes: { of_user: 'bigint' }, gives: 'void' },
  /** Deletes these vectors of a project, or with null all, counts the deletions, and returns how many there were. */
  delete_vectors: { takes: { of_project: 'bigint', given_names: 'bytea[]' }, gives: 'integer' },
  /** The fields of both objects whose values differ, as "input 2 -> 1.5, output 8 -> 6"; null when none does. */
  describe_changes: { reads: true, takes: { before: 'jsonb', after: 'jsonb' }, gives: 'text' },
  /** The time for which the possible cost of a request beyond its estimate stays reserved, unless its cost is settled earlier. */
  doubtful_reservation_ttl: { reads: true, takes: {}, gives: 'interval' },
  /** The doubtful reservations of the request of this record. */
  doubtful_reservations: { reads: true, takes: { of_project: 'bigint', of_request: 'text', recorded: 'timestamptz' }, gives: { id: 'uuid', budget_id: 'bigint', begins: 'timestamptz', amount: 'numeric', project_id: 'bigint', key_id: 'bigint', request_id: 'text', endpoint: 'text', model: 'text', tags: 'jsonb?', reserved_at: 'timestamptz', expires_at: 'timestamptz', doubtful_at: 'timestamptz?' } },
  /** Creates the role under which dashboard queries run, and grants it exactly the privileges that they need. Raises a warning if the database user lacks the privileges for this, because the proxy works without the role, and the dashboard reports the problem. */
  ensure_dashboard_role: { takes: {}, gives: 'void' },
  /** The estimated costs in a time, by reason (cost_estimated), and the amounts that may have been charged beyond them (doubtful_usd). Null: of_projects (all that may be seen), of_model, of_key, of_key_type (any). */
  estimated_costs: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz', of_model: 'text?', of_key: 'bigint?', of_key_type: 'text?' }, gives: { reason: 'text', requests: 'bigint', cost_usd: 'numeric', doubtful_usd: 'numeric' } },
  /** The requests with estimated costs in a time, by a group of cost_shares(). Empty name: without. Null: of_projects (all that may be seen), of_key_type (any). */
  estimated_shares: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz', share_by: 'text', of_key_type: 'text?' }, gives: { name: 'text', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', tokens: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** Deletes up to that many entries and vectors of projects that exceed their cache_bytes, or 1,000 for test keys: those that expire first. If the result is below the limit, no project exceeds its own. */
  evict_entries: { takes: { max_rows: 'integer' }, gives: 'integer' },
  /** Ends the reservations of processes that ended, and releases doubtful amounts after their time. For the former, the cost bound stays reserved as doubtful, and a record names the request (proxy_stopped); its own record, if it comes, replaces that one. */
  expire_reservations: { takes: {}, gives: 'void' },
  /** Starts the export of an end user: returns what find_end_user() does, and records in the audit log that an end user was exported, without the name. list_end_user_items() reads the items. */
  export_end_user: { takes: { project: 'text', of_user: 'text' }, gives: { id: 'text', items: 'bigint', bytes: 'bigint', oldest_at: 'bigint?', newest_at: 'bigint?' } },
  /** Cache entries whose question contains a text, newest first, with the beginning of the question, among the newest 50,000 before a given one: those that may_read_texts() lets the current user read. Sealed entries are returned without checking the text; the caller decrypts and searches them. Raises for viewers. */
  find_cache_entries: { reads: true, takes: { of_project: 'bigint', question_part: 'text', page_size: 'integer', of_model: 'text=', of_namespace: 'text=', of_key: 'bigint=', of_user: 'text=', stored_before: 'timestamptz=', before_id: 'bigint=', of_version: 'text=' }, gives: { entry_id: 'bigint', question: 'text' } },
  /** Whether each version, given as name@version, is known to be older than the newest of its name, and whether name_cache_version() has recorded it within a day. One row per version, in the given order. */
  find_cache_versions: { reads: true, takes: { project_ids: 'bigint[]', tests: 'boolean[]', namespaces: 'text[]', versions: 'text[]' }, gives: { is_old: 'boolean', is_recorded: 'boolean' } },
  /** A stored response and its predecessors, the first one first. The conversation is incomplete if the first one continued another. Null: previous_id (it began a conversation), input (it was too long to be stored). */
  find_conversation: { reads: true, takes: { of_project: 'bigint', of_key: 'bigint', response_id: 'text' }, gives: { id: 'text', previous_id: 'text?', input: 'text?', response: 'text', unfinished: 'boolean' } },
  /** The verdict that applies to two normalized questions in a context: the latest of a person, same there or different in any context; else a review's, else the judge's. No row: there is none. */
  find_effective_verdict: { reads: true, takes: { of_project: 'bigint', of_context: 'bytea', asked_hash: 'bytea', entry_hash: 'bytea' }, gives: { verdict: 'text', source: 'text' } },
  /** Returns the number and size of stored items of an end user (in the form of name_end_user()) of a project, by kind, as in end_user_items. Requires an owner of the project. */
  find_end_user: { takes: { project: 'text', of_user: 'text' }, gives: { id: 'text', items: 'bigint', bytes: 'bigint', oldest_at: 'bigint?', newest_at: 'bigint?' } },
  /** Returns the change of the last day under an idempotency key: the hash of its request, whether its response is known, its age, and its encrypted response. Null: target (unknown), response (not stored). */
  find_idempotent_request: { reads: true, takes: { of_caller: 'text', of_key_hash: 'text' }, gives: { request_hash: 'text', finished: 'boolean', seconds: 'integer', target: 'text?', response: 'bytea?' } },
  /** The user of an invitation; no row when it does not exist or has expired. */
  find_invitation: { reads: true, takes: { token: 'text' }, gives: { user_id: 'bigint', email: 'text' } },
  /** Id of the one key that is given whole or by its displayed prefix. Raises when no key or several match. */
  find_key: { reads: true, takes: { key_or_prefix: 'text' }, gives: 'bigint' },
  /** The key with that hex SHA-256 or, if there is none, the keys whose displayed prefix is that: API keys of projects that the current user may see and, for an administrator, admin keys. */
  find_leaked_keys: { reads: true, takes: { hash: 'text', key_prefix: 'text' }, gives: { id: 'text', kind: 'api_key|admin_api_key', project_id: 'text?', project_name: 'text?', name: 'text', redacted_value: 'text', state: 'active|expired|deactivated', is_whole_key: 'boolean', created_at: 'bigint', last_used_at: 'bigint?', expires_at: 'bigint?' } },
  /** Those of these keys (hex SHA-256), by their positions counted from 1, whose counter another transaction has locked, and its value: if the value changes, the counter is in use, not stuck. Waits for no lock. */
  find_locked_counters: { takes: { key_hashes: 'text[]' }, gives: { ordinal: 'integer', requests: 'bigint' } },
  /** argon2id hash of a user's password. Null: result (there is no such user, or no password yet). */
  find_password_hash: { reads: true, takes: { of_email: 'text' }, gives: 'text?' },
  /** Id of the project of that name; raises no_data_found when there is none. */
  find_project: { reads: true, takes: { project: 'text' }, gives: 'bigint' },
  /** Name of a project that the current user may see; raises no_data_found when there is none. */
  find_project_name: { reads: true, takes: { of_project: 'bigint' }, gives: 'text' },
  /** Finds a stored question by its normalized hash, with its model. The text is omitted if may_read_texts() returns false. Null: prompt. */
  find_question_text: { reads: true, takes: { of_project: 'bigint', of_context: 'bytea', of_hash: 'bytea' }, gives: { prompt: 'text?', model: 'text' } },
  /** Returns those of the entries whose questions the key may read: its own, and those that may_read_texts() lets members read. */
  find_readable_entries: { reads: true, takes: { of_project: 'bigint', of_key: 'bigint', entry_ids: 'bigint[]' }, gives: { entry_id: 'bigint' } },
  /** Returns the sealed body of the request that ended at that time. Null: result (it was not stored, or the current user may not read it: may_read_texts). */
  find_readable_request: { reads: true, takes: { of_project: 'bigint', of_request_id: 'text', at: 'timestamptz' }, gives: 'bytea?' },
  /** A project's records of an X-Request-Id, or of identical requests (asked_id), in a time, through the Bloom filters of usage_records_ids_idx. Null: of_request_id, of_asked_id (any). */
  find_records_by_id: { reads: true, takes: { of_project: 'bigint', of_request_id: 'text?', of_asked_id: 'text?', from_time: 'timestamptz', until_time: 'timestamptz' }, gives: { recorded_at: 'timestamptz', project_id: 'bigint', request_id: 'text', status: 'smallint', error_code: 'text', error_message: 'text', endpoint: 'text', model: 'text', asked_model: 'text', fallbacks: 'text', provider: 'text', provider_keys: 'text', cache_result: 'text', cache_reason: 'text', cache_id: 'text', refreshed: 'boolean', asked_id: 'text', similarity: 'real', cache_decision: 'jsonb?', streamed: 'boolean', prompt_tokens: 'integer', cached_prompt_tokens: 'integer', completion_tokens: 'integer', tokens_saved: 'integer', completion_tokens_saved: 'integer', cost_usd: 'numeric', cost_estimated: 'text?', doubtful_usd: 'numeric?', saved_usd: 'numeric', latency_ms: 'real', duration_ms: 'real', admission_ms: 'real', lookup_ms: 'real', embed_ms: 'real', upstream_ms: 'real', first_chunk_ms: 'real', attempts: 'smallint', attempt_list: 'jsonb', upstream_status: 'smallint', upstream_message: 'text', key_id: 'bigint', end_user: 'text', tags: 'jsonb', session: 'text?', cache_write_tokens: 'integer', prompt_cache_saved_usd: 'numeric?' } },
  /** Returns the sealed contents of the request that ended at that time, and of its response. Raises for viewers. Null: sealed_request, sealed_response (it was not stored). */
  find_request_content: { reads: true, takes: { of_project: 'bigint', of_request_id: 'text', at: 'timestamptz' }, gives: { sealed_request: 'bytea?', sealed_response: 'bytea?' } },
  /** Single requests of a project within a time, with what is set of: key, type of key (project, test), model or part of its name, endpoint, provider, cache result, outcome (ok, failed, client_error, server_error, or estimated: its cost is), status, error code, end user, X-Request-Id, tags, hash of the request (asked_id), session; those after the one at after_time. Sorted newest; slowest, of those that took a second or longer; dearest, of those that cost anything. Null: key_name, api_key_redacted_value (the key is gone). */
  find_requests: { reads: true, takes: { of_project: 'bigint', from_time: 'timestamptz', until_time: 'timestamptz', of_key: 'bigint=', model_part: 'text=', of_endpoint: 'text=', of_provider: 'text=', of_result: 'text=', of_outcome: 'text=', of_status: 'smallint=', of_error: 'text=', of_end_user: 'text=', of_request_id: 'text=', of_tags: 'jsonb=', sorted: 'text=', after_time: 'timestamptz=', after_request_id: 'text=', page_size: 'integer=', of_model: 'text=', of_key_type: 'text=', of_asked_id: 'text=', of_session: 'text=' }, gives: { record: 'usage_records', key_name: 'text?', api_key_redacted_value: 'text?' } },
  /** Finds stored responses of the key that have items with one of these ids, the latest last. Null: previous_id (it began a conversation), input (it was too long to be stored). */
  find_responses_by_item: { reads: true, takes: { of_project: 'bigint', of_key: 'bigint', names: 'text[]' }, gives: { id: 'text', previous_id: 'text?', input: 'text?', response: 'text', unfinished: 'boolean' } },
  /** The name with the smallest edit distance, by the rule of src/providers/similar-names.ts: at most two letters or two fifths may differ, and a name's vendor counts only if one was given. Null: result (none is similar). */
  find_similar_name: { reads: true, takes: { given_name: 'text', names: 'text[]' }, gives: 'text?' },
  /** The provider keys with which these objects of the project were created, in the form of stored_objects.provider, the one with the most objects first; no row for objects that were not created through the proxy. */
  find_storage_providers: { reads: true, takes: { of_project: 'bigint', of_provider: 'text', ids: 'text[]' }, gives: { provider: 'text' } },
  /** A file or a batch of the project; no row when it belongs to another project, or was not created through the proxy. Null: purpose, object (its provider has not reported it), models (they were not read). */
  find_stored_object: { reads: true, takes: { of_project: 'bigint', of_collection: 'text', object_id: 'text' }, gives: { id: 'text', provider: 'text', purpose: 'text?', requests: 'integer', object: 'text?', models: 'text[]?' } },
  /** Finds the stored responses of the key with these ids. Null: previous_id (it began a conversation), input (it was too long to be stored). */
  find_stored_responses: { reads: true, takes: { of_project: 'bigint', of_key: 'bigint', response_ids: 'text[]' }, gives: { id: 'text', previous_id: 'text?', input: 'text?', response: 'text', unfinished: 'boolean' } },
  /** Finds the stored turns of the key with these names. The digests are those of the extras that the client sent, in the order of the names. Null: extras (the client sent them all). */
  find_stored_turns: { reads: true, takes: { of_project: 'bigint', of_key: 'bigint', names: 'text[]', digests: 'text[]' }, gives: { name: 'text', made_by: 'text', extras: 'text?' } },
  /** The present name of an object of the admin API: of a key, plan, project or webhook its name, of a user the e-mail address. Null: result (it has no name, or does not exist). */
  find_target_name: { reads: true, takes: { target: 'text' }, gives: 'text?' },
  /** The project's vectors of these names, each with the position of its name, counted from 0. Null: max_age_seconds (any). */
  find_vectors: { reads: true, takes: { of_project: 'bigint', by_names: 'bytea[]', max_age_seconds: 'integer?' }, gives: { place: 'integer', vector: 'bytea', prompt_tokens: 'integer', response_model: 'text', created_at: 'timestamptz', expires_at: 'timestamptz' } },
  /** Id of the project, for a user with the role viewer, member or owner there. Raises when it has no such webhook. */
  find_webhook: { reads: true, takes: { project: 'text', webhook_id: 'bigint', needed: 'text' }, gives: 'bigint' },
  /** Stores the encrypted response of the request that made a change under an idempotency key. Null: of_target (none), sealed (it cannot be encrypted). */
  finish_idempotent_request: { takes: { of_caller: 'text', of_key_hash: 'text', of_attempt: 'uuid', of_target: 'text?', sealed: 'bytea?' }, gives: 'void' },
  /** An e-mail address in the form of users.email: without spaces around it, and with ASCII letters in lower case. */
  fold_email: { reads: true, takes: { given: 'text' }, gives: 'text' },
  /** Begins to forget an end user (in the form of name_end_user()) of a project, and returns the stored items as find_end_user() does; dry_run only returns them. From then on, no response cached before for the end user is served from a copy; forget_end_user_items() then deletes the items. Requires an owner of the project. */
  forget_end_user: { takes: { project: 'text', of_user: 'text', dry_run: 'boolean=' }, gives: { id: 'text', items: 'bigint', bytes: 'bigint', oldest_at: 'bigint?', newest_at: 'bigint?' } },
  /** Forgets the next stored items of an end user (in the form of name_end_user()), of one kind of end_user_tables, and returns how many; fewer than max_rows: none are left. Records, sums and batches stay without the name: the amounts spent do not change. Each call is short and locks only these rows, so that requests and their recording continue. forget_end_user() comes first, and writes to the audit log. Requires an owner of the project. */
  forget_end_user_items: { takes: { project: 'text', of_user: 'text', of_kind: 'text', max_rows: 'integer=' }, gives: 'integer' },
  /** A new secret: the prefix and 32 random letters and digits. */
  generate_secret: { takes: { prefix: 'text' }, gives: 'text' },
  /** record_feedback() for members and operators. Raises on an unknown project or request id, on a verdict other than wrong or right, and when the entry no longer exists. */
  give_feedback: { takes: { project: 'text', request_id: 'text', verdict: 'text' }, gives: 'void' },
  /** The start of the quarter of an hour, hour, UTC day, third of a UTC month or UTC month (grain: quarter, hour, day, third, month) in which a time lies. Thirds begin on the 1st, 11th and 21st. */
  grain_start: { reads: true, takes: { at: 'timestamptz', grain: 'text' }, gives: 'timestamptz' },
  /** All usage in a time by team (the tag team), API key, model, end user or provider key (share_by: team, api_key, model, end_user, provider_key), in no order: the rows add up to all requests. Empty name: without a team, and so on. With of_names, all other end users, or provider keys, are one row. Null: of_projects (all that may be seen), of_key_type (any), of_names (all), name (others). */
  grouped_costs: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz', share_by: 'text', of_key_type: 'text?', of_names: 'text[]=' }, gives: { name: 'text?', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', tokens: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** Whether the current user is an owner of the whole installation, even if an admin key limits what the user may do now. */
  has_administrator_role: { reads: true, takes: {}, gives: 'boolean' },
  /** Whether keys of another gateway were imported that have not expired: keys of any format are then looked up. Both conditions are index probes. */
  has_imported_keys: { reads: true, takes: {}, gives: 'boolean' },
  /** Whether others than this key can spend a budget: another key of its project or, if the organization owns the budget, another project. Null: of_owner (the organization). */
  has_other_spender: { reads: true, takes: { of_owner: 'bigint?', of_project: 'bigint', of_key: 'bigint' }, gives: 'boolean' },
  /** The scheme and host of a webhook's URL, without its path, which may be a secret. */
  hide_url_path: { reads: true, takes: { url: 'text' }, gives: 'text' },
  /** Imports the accounts of another gateway {gateway, plan, keys_until, has_all_keys, vendors, models, vendor_keys, projects, keys, budgets}, and returns how many of each kind were created or changed (expiry: keys that expire at another time). All or nothing; the same document again changes nothing. Objects are found by their ids at the gateway, keys by their hash. keys_until, if it is given, is when imported keys expire, those of earlier imports included, if they do not expire sooner at their former gateway; null: never. A dry run is rolled back. Requires an administrator. */
  import_accounts: { takes: { document: 'jsonb', is_dry_run: 'boolean=' }, gives: { kind: 'text', created: 'integer', changed: 'integer', unchanged: 'integer' } },
  /** Sets the budgets of an import, in US dollars, with what was spent at the former gateway in the present period. See import_accounts(). */
  import_budgets: { takes: { document: 'jsonb' }, gives: { created: 'integer', changed: 'integer', unchanged: 'integer' } },
  /** Adds the keys of an import by their hashes, or changes their limits, and deactivates those that are blocked or deleted at their former gateway. See import_accounts(). Null: until (they do not expire here). */
  import_keys: { takes: { document: 'jsonb', until: 'timestamptz?' }, gives: { created: 'integer', changed: 'integer', unchanged: 'integer' } },
  /** Creates the projects of an import, or changes their settings and adds members. A member that exists keeps its role. See import_accounts(). */
  import_projects: { takes: { document: 'jsonb' }, gives: { created: 'integer', changed: 'integer', unchanged: 'integer' } },
  /** Adds or changes the vendors of an import, copies the prices of their models, and stores the installation's keys for them. See import_accounts(). */
  import_vendors: { takes: { document: 'jsonb' }, gives: { created: 'integer', changed: 'integer', unchanged: 'integer' } },
  /** Identifies this database among all that may share a Redis with it: the same after a restart or a failover, another for a restored dump or a clone. */
  installation_id: { reads: true, takes: {}, gives: 'uuid' },
  /** Deletes the cached responses of a project that match every given filter, and returns how many; dry_run only counts. of_key, of_user (in the form of name_end_user()): those that a request of that key or end user created, and without other filters than an age, their vectors, too. of_version: name@version, or a name: its vectors, too, and without another filter the order of its versions is forgotten. Without any filter it is purge_cache(). Requires a member of the project. */
  invalidate_cache: { takes: { project: 'text', entry_id: 'bigint=', of_model: 'text=', of_namespace: 'text=', older_than_seconds: 'bigint=', of_key: 'bigint=', of_user: 'text=', of_version: 'text=', dry_run: 'boolean=' }, gives: { entries: 'bigint', vectors: 'bigint' } },
  /** Adds a user (role owner: administrator, or reader) who is at once a member of these projects with these roles, and returns the id and an invitation, which is not shown again. Requires an administrator; adds nobody where anything is not valid. */
  invite_new_user: { takes: { email: 'text', user_role: 'text', of_projects: 'bigint[]', member_roles: 'text[]' }, gives: { id: 'bigint', invitation: 'text' } },
  /** Creates and returns a token, valid for seven days and one use, with which a user sets a new password. It is not shown again. Requires an administrator. */
  invite_user: { takes: { of_user: 'bigint' }, gives: 'text' },
  /** Whether the current user is an owner of the whole installation, and does not act through an admin key that is limited to one project. */
  is_administrator: { reads: true, takes: {}, gives: 'boolean' },
  /** Whether a proxy is migrating this database, or did so a moment ago: delays are then temporary. */
  is_deploying: { takes: {}, gives: 'boolean' },
  /** Creates and returns an admin API key that acts for an administrator, with permissions all or read_only, in all projects or in one, where it has the rights of an owner. It is not shown again. Requires an administrator. Null: project (all). */
  issue_admin_key: { takes: { of_email: 'text', key_name: 'text', expires: 'timestamptz=', with_permissions: 'text=', project: 'text=' }, gives: { id: 'bigint', key: 'text' } },
  /** Creates a key as create_api_key() does, and returns its value. Null: expires (never). */
  issue_key: { takes: { project: 'text', key_type: 'text', key_name: 'text', expires: 'timestamptz=' }, gives: 'text' },
  /** A key of one session of the current user: it is valid for an hour, not listed, and ends with the session. Raises as create_api_key() does, and no_data_found for a session that has ended. */
  issue_session_key: { takes: { project: 'text', key_type: 'text', of_session: 'bigint' }, gives: 'text' },
  /** What a key's requests have cost in the last 13 months, in this UTC day, week and month; what all of its project have; and what it may still cost: the narrowest US dollar budget of the project that all requests of the key count against, and what is left of the narrowest, the organization's among them. Null: limit_usd, limit_per, remaining_usd, expires_at. */
  key_spending: { reads: true, takes: { of_key: 'bigint' }, gives: { usd: 'double precision', usd_today: 'double precision', usd_this_week: 'double precision', usd_this_month: 'double precision', usd_of_project: 'double precision', limit_usd: 'double precision?', limit_per: 'text?', remaining_usd: 'double precision?', expires_at: 'timestamptz?' } },
  /** The key_id of keys of this type in sums by type of key: 0 for project keys and deleted keys, -1 for test keys. */
  key_type_id: { reads: true, takes: { key_type: 'text' }, gives: 'bigint' },
  /** Median, 95th and 99th percentile of the time until responses began, by cache result, accurate to a tenth. Null: of_projects (any). */
  latency_percentiles: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz' }, gives: { cache_result: 'HIT|HIT-SEMANTIC|MISS', requests: 'bigint', p50_ms: 'double precision', p95_ms: 'double precision', p99_ms: 'double precision' } },
  /** The lowest and the highest value of a limit, a column of plans, for a project in a period, according to the audit log. Null: lowest, highest (a plan that the project had was deleted). */
  limits_in_period: { reads: true, takes: { of_project: 'bigint', of_limit: 'text', from_time: 'timestamptz', until_time: 'timestamptz' }, gives: { lowest: 'bigint?', highest: 'bigint?' } },
  /** The view calibration of one project. */
  list_calibration: { reads: true, takes: { of_project: 'bigint' }, gives: { difference: 'text', threshold: 'double precision', served: 'bigint', precision: 'double precision', precision_low: 'double precision', precision_high: 'double precision' } },
  /** The table cache_contexts of one project, latest first. */
  list_contexts: { reads: true, takes: { of_project: 'bigint' }, gives: { instructions_hash: 'text', misses: 'bigint', first_at: 'bigint', last_at: 'bigint', last_request_id: 'text' } },
  /** The stored items of an end user (in the form of name_end_user()) of a project, of one kind of end_user_tables, the oldest first, after a given one. Requires an owner of the project. Null: key_id, question, answer, sealed_question, sealed_answer, record (there is none of this kind). */
  list_end_user_items: { takes: { project: 'text', of_user: 'text', of_kind: 'text', page_size: 'integer', after_time: 'timestamptz=', after_id: 'text=' }, gives: { id: 'text', at: 'timestamptz', key_id: 'bigint?', bytes: 'bigint', question: 'text?', answer: 'text?', sealed_question: 'bytea?', sealed_answer: 'bytea?', record: 'jsonb?' } },
  /** A page of the end users that requests of a project name within a time, most expensive first, from sums by day and month: those after after_name whose name contains name_part, ignoring case. Null: of_key_type, name_part (any); after_name (the first page). */
  list_end_users: { reads: true, takes: { of_project: 'bigint', from_time: 'timestamptz', until_time: 'timestamptz', of_key_type: 'text=', name_part: 'text=', after_name: 'text=', page_size: 'integer=' }, gives: { name: 'text', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', tokens: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** Keys of a project, oldest first, by prefix: type, state (active, expired, deactivated), times in UTC. The name comes last, so that lines are easy to cut. Raises on an unknown project. */
  list_keys: { reads: true, takes: { project: 'text' }, gives: { prefix: 'text', type: 'text', state: 'text', created: 'text', expires: 'text', last_used: 'text', name: 'text' } },
  /** The current user's sessions, the last used first; current_session is the one that sent the request. None for an admin key that is limited to one project. Null: current_session (for an admin key). */
  list_own_sessions: { reads: true, takes: { current_session: 'bigint?' }, gives: { id: 'text', address: 'text', user_agent: 'text', created_at: 'bigint', last_seen_at: 'bigint', is_this_one: 'boolean' } },
  /** The partitions by time of a table, with the time that each covers and how many rows it had when it was last analyzed. */
  list_partitions: { reads: true, takes: { parent: 'regclass' }, gives: { name: 'text', begins: 'timestamptz', ends: 'timestamptz', estimated_rows: 'bigint' } },
  /** Rejected requests of all projects in the hours that begin in a time, by reason and key, the most frequent first. Requires an administrator. */
  list_rejections: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz' }, gives: { reason: 'text', project_id: 'text?', project_name: 'text?', api_key_id: 'text?', api_key_name: 'text?', api_key_redacted_value: 'text?', requests: 'bigint', recorded_requests: 'bigint', latest_hour: 'bigint' } },
  /** Semantic hits of a project (served), or near misses, latest first, after a given one, with the verdict on each pair. Wordings only where may_read_texts() lets the current user read them. Null: only_request, before_time, before_request_id (any). */
  list_semantic_matches: { reads: true, takes: { of_project: 'bigint', served: 'boolean', only_request: 'text?', before_time: 'timestamptz?', before_request_id: 'text?', page_size: 'integer' }, gives: { _served_at: 'timestamptz', _cached_wording: 'text?', _sealed_wording: 'bytea?', request_id: 'text', created_at: 'bigint', reason: 'normalized|proved|verified|judged|threshold|undecided', difference: 'text?', similarity: 'double precision', is_shadow: 'boolean', saved_usd: 'numeric', prompt_tokens: 'bigint', entry_id: 'text?', model: 'text?', endpoint: 'text?', verdict: 'same|different?', verdict_source: 'person|review|judge?' } },
  /** The settings of projects, the values that each accepts, and how a page shows it. */
  list_setting_kinds: { reads: true, takes: {}, gives: { name: 'text', type: 'choice|number|whole|text|models|aliases|durations|contexts', preset: 'text', least: 'double precision?', most: 'double precision?', words: 'text[]', help: 'text', place: 'integer', area: 'text', title: 'text', choices: 'text[]' } },
  /** The project's own files or batches, all or those that one provider stores, after a given one; empty when the given one does not exist. Null: stored_by, for_purpose, only_ids (any), after_id (from the first on), object (its provider has not reported it). */
  list_stored_objects: { reads: true, takes: { of_project: 'bigint', of_collection: 'text', stored_by: 'text?', for_purpose: 'text?', only_ids: 'text[]?', after_id: 'text?', newest_first: 'boolean', page_size: 'integer' }, gives: { id: 'text', provider: 'text', object: 'text?' } },
  /** The models that have responded to a request of the project. */
  list_used_models: { reads: true, takes: { of_project: 'bigint' }, gives: { model: 'text' } },
  /** Verdicts of people and the judge on pairs of questions in a project, latest first, after a given one. Null: before_time, before_id (the latest). */
  list_verdicts: { reads: true, takes: { of_project: 'bigint', before_time: 'timestamptz?', before_id: 'text?', page_size: 'integer' }, gives: { _given_at: 'timestamptz', verdict_id: 'text', created_at: 'bigint', verdict: 'same|different', source: 'person|review|judge', similarity: 'double precision?', difference: 'text?', model: 'text?', wordings: 'text[]' } },
  /** Returns the id of a version, given as name@version, if it is the newest of its name, and locks it until the end of the transaction, so that it remains the newest. Else null: then nothing is stored under it. */
  lock_cache_version: { takes: { of_project: 'bigint', for_test: 'boolean', in_namespace: 'text', named: 'text' }, gives: 'bigint' },
  /** Must be called before usage is recorded: a budget that start_budget_period() begins then either counts the usage, or is visible to the caller. Waits only for budgets of these projects, and of the organization. Other changes of a project do not wait for it. */
  lock_spending: { takes: { of_projects: 'bigint[]' }, gives: 'void' },
  /** open_session(), for at most 12 hours, for a person whom an identity provider has authenticated; the provider must then confirm again that the person may log in. issuer and subject identify the person; the verified address finds or creates the user only the first time, and ends a password, an invitation and sessions that a reader had before. A role, if given, becomes the user's, unless the last administrator would lose theirs; without one, a new user becomes a reader, who sees nothing until a project or an administrator permits it. Raises no_data_found when the address is another person's. Returns the user's id. Null: user_role (it stays). */
  log_in_by_identity: { takes: { of_issuer: 'text', of_subject: 'text', of_email: 'text', user_role: 'text?', token_hash: 'text', client_address: 'text', client_agent: 'text', origin: 'text' }, gives: 'bigint' },
  /** Opens a session, as open_session(), for a user whose password was verified against this hash. Raises no_data_found if the hash has changed or the user was deleted meanwhile. */
  log_in_by_password: { takes: { of_email: 'text', verified_hash: 'text', token_hash: 'text', client_address: 'text', client_agent: 'text', origin: 'text' }, gives: 'bigint' },
  /** Creates the partitions of a table, a UTC day or month each, up to three days ahead, and drops up to four of those that ended by keep_from; longer ones created ahead are replaced while they are empty. Waits at most 50 ms for a partition that is to be dropped. storage: the clauses after the columns of a new partition. */
  maintain_partitions: { takes: { parent: 'regclass', width: 'text', keep_from: 'timestamptz', storage: 'text' }, gives: 'void' },
  /** Maintains the partitions of records (a month each; a day each from 5,000,000 rows a month on) for service setting usage_retention_months, by default 13, of contents for content_retention_days, by default 7, and of sums by the quarter and the hour for 13 months; completes the Bloom filters of request ids. */
  maintain_usage_partitions: { takes: {}, gives: 'void' },
  /** The budgets that apply to such a request, including the organization's and those that are not enforced. */
  matching_budgets: { reads: true, takes: { of_project: 'bigint', of_key: 'bigint', of_model: 'text', of_tags: 'jsonb' }, gives: { id: 'bigint', project_id: 'bigint?', key_id: 'bigint?', model: 'text?', tag: 'jsonb?', unit: 'text', amount: 'numeric', per: 'text', time_zone: 'text', created_at: 'timestamptz', enforced: 'boolean' } },
  /** Whether the current user may read the texts of a request and its response: log_content was sealed when it was sent, and is for its key now; viewers never may. Every function that returns such texts has the rights of its owner, since others have none to these columns, and calls this one. Null: of_key (not known: as the project has it). */
  may_read_texts: { reads: true, takes: { of_project: 'bigint', of_key: 'bigint?', stored_log_content: 'text' }, gives: 'boolean' },
  /** What alerts are raised about, of all projects with a destination, from the sums of usage. level is 1 at the limit, and more beyond it. There is no row with fewer requests than the project's minimum, or where the limit is 0, and one about spending only if it may have reached the limit, or had when it was last measured. */
  measure_alerts: { reads: true, takes: { moment: 'timestamptz' }, gives: { project_id: 'bigint', kind: 'text', subject: 'text', level: 'double precision', payload: 'jsonb' } },
  /** A sentence for each model name that matches neither a model of the catalogue, under any of its names, nor a successful request of the project. In a pattern, * stands for any characters. own_names are also known. */
  model_name_warnings: { reads: true, takes: { of_project: 'bigint', names: 'text[]', own_names: 'text[]=' }, gives: 'text[]' },
  /** The names by which a budget may refer to a model, however the request named it: first, without the vendor and a variant, and with Claude's version as aggregators write it; second, also without the date of a snapshot. */
  model_names: { reads: true, takes: { of_model: 'text' }, gives: 'text[]' },
  /** Returns the report of a calendar month (UTC, such as 2026-10; empty: the current month) of a project, or of all projects (empty): days, the twenty most expensive models, keys and tags, all teams, cache misses by reason, and the number of hits that people judged wrong. Raises on an unknown project or an invalid month. */
  monthly_report: { reads: true, takes: { project: 'text', month: 'text' }, gives: 'jsonb' },
  /** Records that a request names a version, given as name@version, and returns whether it is older than the newest of its name. A version that is new and not older becomes the newest: purge_old_versions() then deletes what is stored under the former one. */
  name_cache_version: { takes: { of_project: 'bigint', for_test: 'boolean', in_namespace: 'text', named: 'text' }, gives: 'boolean' },
  /** Returns the unique form in which records, cached responses and stored contents name an end user: the name itself or, if it has more than 128 characters, is unprintable or looks like a shortened form, its beginning with a hash of the whole name. */
  name_end_user: { reads: true, takes: { name: 'text' }, gives: 'text' },
  /** The provider key that a record's response comes from: the provider and, if the project has several keys for it, the last key that was called, without the status of a rejected one. Null: provider (none was reached), provider_keys (there is one key), result (there is no provider). */
  name_provider_key: { reads: true, takes: { provider: 'text?', provider_keys: 'text?' }, gives: 'text?' },
  /** Usage in a time by end user, provider key or tag (of_kind: end_user, provider_key, tag), of those that requests name, in no order. A tag's name is name=value. Only names that begin with of_prefix; with of_names, all others are one row. Null: of_projects (all that may be seen), of_key_type (any), of_names (all), name (others). */
  name_shares: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz', of_key_type: 'text?', of_kind: 'text', of_prefix: 'text=', of_names: 'text[]=' }, gives: { name: 'text?', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', tokens: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** The limits of a project, of which the largest share is used first, at most that many: monthly quotas, requests and tokens per minute of each active key, budgets of the project, and those of the organization for administrators. */
  nearest_limits: { reads: true, takes: { of_project: 'bigint', max_rows: 'integer' }, gives: { kind: 'monthly_requests|requests_per_minute|tokens_per_minute|budget', key_type: 'project|test?', api_key_id: 'text?', api_key_name: 'text?', budget_id: 'text?', model: 'text?', tag: 'text?', per: 'day|week|month|total?', unit: 'text', used: 'numeric', amount: 'numeric', share: 'double precision', resets_at: 'bigint?', is_of_plan: 'boolean', is_of_organization: 'boolean' } },
  /** Opens a session for a user whose password was right, under the hex SHA-256 of its cookie, for 30 days at most. Deletes failed attempts, and records the origin (the address that limits count by) as one where the user has logged in. */
  open_session: { takes: { of_email: 'text', token_hash: 'text', client_address: 'text', client_agent: 'text', origin: 'text' }, gives: 'bigint' },
  /** The requests of a project within a time that were paid for although the question had been answered before: their number, their cost, and the twenty most expensive questions by reason. Identical requests are compared with those of the 30 days before, and similar questions with the near misses of the last week whose cached response still exists. At most the newest 50,000 requests are read. Null: of_model, of_key, of_key_type, of_tags (any); since (all were read; otherwise, from when on they were). */
  paid_again: { reads: true, takes: { of_project: 'bigint', from_time: 'timestamptz', until_time: 'timestamptz', of_model: 'text=', of_key: 'bigint=', of_key_type: 'text=', of_tags: 'jsonb=' }, gives: { since: 'bigint?', requests: 'bigint', cost_usd: 'numeric', questions: 'paid_question[]' } },
  /** Parses a date or time, in UTC unless it has another zone. Returns null for an empty value. */
  parse_expiry: { reads: true, takes: { value: 'text' }, gives: 'timestamptz' },
  /** Distinct model names separated by commas, in order. Raises invalid_text_representation on anything else; empty text is no model. */
  parse_model_names: { reads: true, takes: { listed: 'text' }, gives: 'text[]' },
  /** First day of a month that an operator typed as YYYY-MM; the current month when it is empty. */
  parse_month: { reads: true, takes: { value: 'text' }, gives: 'date' },
  /** IPv4 and IPv6 networks, in order; a single address is a network of one. Raises on anything else. */
  parse_networks: { reads: true, takes: { given: 'text[]' }, gives: 'cidr[]' },
  /** What other values of settings would have changed in a project's last week: cache hits and savings, compared with what happened. All hits are from sums. For sharing scopes, times to live and match policies, the records are replayed in order: a hit is lost if no identical request had been answered in the scope within the time to live, and a paid request becomes a hit if one had. Replays nothing if a project has 50,000 requests or more in 37 days. */
  policy_effects: { reads: true, takes: { of_project: 'bigint' }, gives: { setting: 'text', value: 'text', hits: 'bigint', saved_usd: 'numeric' } },
  /** Every setting of a project by name, in the form that set_setting() accepts. Null: result (there is no project that the current user may see). */
  project_settings: { reads: true, takes: { of_project: 'bigint' }, gives: 'jsonb?' },
  /** A page of the projects that the current user may see, with their usage from from_time to until_time, their cost from previous_time to from_time, and their cost by hour, day or month of a time zone (width; buckets without requests are missing). The order is sorted, highest first: cost, saved, hit_rate, requests, failed (share of requests) or change (of the cost). Null: of_key_type (any), after_project (the first page). */
  project_shares: { reads: true, takes: { previous_time: 'timestamptz', from_time: 'timestamptz', until_time: 'timestamptz', width: 'text', zone: 'text', of_key_type: 'text=', with_archived: 'boolean=', sorted: 'text=', after_project: 'bigint=', page_size: 'integer=' }, gives: { id: 'text', name: 'text', created_at: 'bigint', status: 'active|archived', plan: 'text', your_role: 'owner|member|viewer', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric', previous_cost_usd: 'numeric', buckets: 'cost_bucket[]' } },
  /** Deletes every cache entry, vector and stored turn of a project, with the verdicts about them, and returns how many entries there were. Raises on an unknown project. */
  purge_cache: { takes: { project: 'text' }, gives: 'bigint' },
  /** Deletes up to that many entries and vectors of superseded versions, and returns the names of their copies in Redis. If it deleted that many, more may be left. */
  purge_old_versions: { takes: { max_rows: 'integer' }, gives: { project_id: 'bigint', cache_generation: 'integer', entries: 'text[]', vectors: 'text[]' } },
  /** Queues pairs of questions for the judge: objects with columns of judge_queue, namely project_id, context_hash, asked_hash, entry_hash (of the entry that the question was compared with), is_review, context, asked, similarity, end_user. Skips pairs that are queued already, have a verdict or lost their entry, and pairs beyond the project's limit. */
  queue_judgements: { takes: { pairs: 'json' }, gives: 'void' },
  /** Queues a response whose usage is requested until its provider reports it; then reconcile_response() settles its request. */
  queue_reconciliation: { takes: { of_project: 'bigint', response_id: 'text', of_provider: 'text', of_request: 'text', recorded: 'timestamptz', charged: 'timestamptz', estimated_usd: 'numeric' }, gives: 'void' },
  /** Requests counted against a project's quotas in a calendar month (UTC), for its project keys and its test keys; the quota is that of its present plan. Raises on an unknown project. */
  quota_usage: { reads: true, takes: { project: 'text', in_month: 'date' }, gives: { keys: 'project|test', used: 'bigint', quota: 'bigint', remaining: 'bigint' } },
  /** A value as an error message may show it: quoted, on one line, at most 100 characters of it. */
  quote_for_message: { reads: true, takes: { value: 'text' }, gives: 'text' },
  /** Raises the events that depend on time: 80 or 100 percent of a monthly quota used, a key that expires soon. Idempotent; several processes may run it at the same time. */
  raise_due_events: { takes: {}, gives: 'void' },
  /** Records an event of a project, which is delivered to the project's webhooks once this transaction commits. An event with a value of once is raised a single time for this project and kind. The payload must not contain a prompt or a key. */
  raise_event: { takes: { of_project: 'bigint', kind: 'text', payload: 'jsonb', once: 'text=' }, gives: 'void' },
  /** Raises budget.threshold, once per period: for budgets of which 80 or 100 percent are spent, and for alerts whose amount is spent. since: any moment of the first period that is examined. */
  raise_threshold_events: { takes: { of_budgets: 'bigint[]', since: 'timestamptz' }, gives: 'void' },
  /** Reads an entry's question and response. Raises insufficient_privilege if may_read_texts() returns false. Null: question (only the exact request finds it). */
  read_cache_entry: { reads: true, takes: { of_project: 'bigint', of_entry: 'bigint' }, gives: { question: 'text?', response: 'text' } },
  /** Replaces the estimated usage and cost of a response by the reported ones, by settle_record(). False if there is no such record. */
  reconcile_response: { takes: { of_project: 'bigint', response_id: 'text', read_tokens: 'integer', cached_tokens: 'integer', written_tokens: 'integer', cost: 'numeric' }, gives: 'boolean' },
  /** Counts requests that missed the cache because of their context: objects with project_id, instructions_hash and last_request_id of cache_contexts. Contexts beyond the project's limit are not recorded. */
  record_contexts: { takes: { contexts: 'json' }, gives: 'void' },
  /** Called every minute. If the clock has stepped back by more than a minute, corrects timestamps that are now in the future. Returns by how many seconds it stepped back. */
  record_database_time: { takes: {}, gives: 'integer' },
  /** Ends an attempt of claim_deliveries(), which was made to that address. A failed attempt is repeated over ten hours; after a 410 the webhook receives nothing more. Null: response_status (no response), failure (the webhook accepted the event). */
  record_delivery_result: { takes: { of_delivery: 'bigint', to_url: 'text', response_status: 'integer?', failure: 'text?' }, gives: 'void' },
  /** Records that a response of the model was longer than its request allowed. Returns whether it is the first one. */
  record_exceeded_limit: { takes: { of_provider: 'text', of_model: 'text' }, gives: 'boolean' },
  /** Counts a failed login, and records it in the audit log. Limits count by the address. */
  record_failed_login: { takes: { of_email: 'text', client_address: 'text' }, gives: 'void' },
  /** Stores a person's verdict (wrong or right) on the semantic hit or near miss of this request. wrong separates the pair from the next request on, in every context; right serves one for the other, in their context. It applies to hits whose semantic_hits.scope_hash is one of within_scopes, and within that scope. Null: within_scopes (any: for members and operators). Returns noted; unknown if there is no such hit; gone if its entry is no longer stored, and so is not served any more. */
  record_feedback: { takes: { of_project: 'bigint', by_request_id: 'text', given: 'text', within_scopes: 'bytea[]=' }, gives: 'text' },
  /** Adds the requests that a proxy rejected since its last call to the sums of this hour, by reason and key (hex SHA-256; empty: none). Keys that were never issued count as none. */
  record_rejections: { takes: { reasons: 'text[]', key_hashes: 'text[]', counts: 'bigint[]' }, gives: 'void' },
  /** Stores the sealed contents of requests and their responses: objects with the columns of request_contents. */
  record_request_contents: { takes: { contents: 'json' }, gives: 'void' },
  /** Records semantic hits and near misses, objects with the columns of semantic_hits, so that people can say whether the response was, or would have been, right. */
  record_semantic_hits: { takes: { hits: 'json' }, gives: 'void' },
  /** Appends a batch of usage records, objects with the columns of usage_records, of which null ones may be omitted, and their sums, rows of usage_pending; settles spending by settle_spending(); updates when each key was last used. Idempotent by batch. Returns the time, so that a proxy can measure the error of its own clock. Null: spending (nothing). */
  record_usage: { takes: { records: 'json', sums: 'json', spending: 'json?', batch: 'uuid' }, gives: 'timestamptz' },
  /** A project's records in a time whose tag user_id has this value, found through usage_records_user_tag_idx, if the current user may see the project. */
  records_of_tagged_user: { reads: true, takes: { of_project: 'bigint', of_user: 'text', from_time: 'timestamptz', until_time: 'timestamptz' }, gives: { recorded_at: 'timestamptz', project_id: 'bigint', request_id: 'text', status: 'smallint', error_code: 'text', error_message: 'text', endpoint: 'text', model: 'text', asked_model: 'text', fallbacks: 'text', provider: 'text', provider_keys: 'text', cache_result: 'text', cache_reason: 'text', cache_id: 'text', refreshed: 'boolean', asked_id: 'text', similarity: 'real', cache_decision: 'jsonb?', streamed: 'boolean', prompt_tokens: 'integer', cached_prompt_tokens: 'integer', completion_tokens: 'integer', tokens_saved: 'integer', completion_tokens_saved: 'integer', cost_usd: 'numeric', cost_estimated: 'text?', doubtful_usd: 'numeric?', saved_usd: 'numeric', latency_ms: 'real', duration_ms: 'real', admission_ms: 'real', lookup_ms: 'real', embed_ms: 'real', upstream_ms: 'real', first_chunk_ms: 'real', attempts: 'smallint', attempt_list: 'jsonb', upstream_status: 'smallint', upstream_message: 'text', key_id: 'bigint', end_user: 'text', tags: 'jsonb', session: 'text?', cache_write_tokens: 'integer', prompt_cache_saved_usd: 'numeric?' } },
  /** Refunds reserved requests that were rejected after admission or failed, in the month in which they were reserved. Idempotent by batch. A locked counter fails the batch within 40 ms (55P03). */
  refund_requests: { takes: { project_ids: 'bigint[]', key_types: 'text[]', months: 'date[]', counts: 'integer[]', batch: 'uuid' }, gives: 'void' },
  /** Returns the id of the space of an embedding model with a number of dimensions. Creates it at first use. */
  register_embedding_space: { takes: { model: 'text', dimensions: 'integer' }, gives: 'integer' },
  /** The remaining amounts of that many budgets in US dollars, of all projects (the organization's have no name), those with the smallest remaining share first. */
  remaining_budgets: { reads: true, takes: { max_rows: 'integer' }, gives: { project: 'text', budget: 'text', per: 'text', remaining_usd: 'double precision' } },
  /** Removes a budget of a project, or for null of the organization, from the next request on. Raises when there is none of that id. */
  remove_budget: { takes: { project: 'text', of_budget: 'bigint' }, gives: 'void' },
  /** Removes a user from a project, and ends the keys of the user's sessions. Requires an owner of it; the last owner who can log in cannot be removed. */
  remove_member: { takes: { project: 'text', of_user: 'bigint' }, gives: 'void' },
  /** Deletes a project's key of this name for a direct provider and returns its last four characters; not used from the next request on. Raises on an unknown project and when there is no such key. */
  remove_provider_key: { takes: { project: 'text', provider: 'text', name: 'text' }, gives: 'text' },
  /** Removes a spend alert of a project, or for null of the organization. Raises when there is none of that id. */
  remove_spend_alert: { takes: { project: 'text', of_alert: 'bigint' }, gives: 'void' },
  /** Removes the tag user_id of an end user from a project's sums by tag, and from those of all projects together, and returns how many sums had it. The amounts stay. */
  remove_user_from_sums: { takes: { of_project: 'bigint', of_user: 'text' }, gives: 'integer' },
  /** Removes a vendor, and with_keys its keys, too; no process uses it after a few seconds. Requires an administrator. Raises on an unknown vendor, and on one with keys unless they are removed, too. */
  remove_vendor: { takes: { vendor: 'text', with_keys: 'boolean' }, gives: 'void' },
  /** Withdraws the verdict on a pair of questions: from the next request on, the policy decides again. Raises on an unknown project or verdict. */
  remove_verdict: { takes: { project: 'text', verdict_id: 'text' }, gives: 'void' },
  /** Removes a webhook with its pending deliveries. Requires an owner. */
  remove_webhook: { takes: { project: 'text', webhook_id: 'bigint' }, gives: 'void' },
  /** Renames an admin API key. Requires an administrator. */
  rename_admin_key: { takes: { key_id: 'bigint', new_name: 'text' }, gives: 'void' },
  /** Renews the reservations of requests in flight. Each process calls it every minute. */
  renew_reservations: { takes: { ids: 'uuid[]' }, gives: 'void' },
  /** The values that occur in a project's requests in a time, by which find_requests() can filter: at most max_values of each kind (model, provider, endpoint, api_key, cache_result, outcome, tag, status, error_code, end_user), most used first; of end users the most expensive, of error codes, those of the newest 500 requests with each status. */
  request_filter_values: { reads: true, takes: { of_project: 'bigint', from_time: 'timestamptz', until_time: 'timestamptz', max_values: 'integer' }, gives: { kind: 'text', value: 'text', requests: 'bigint?' } },
  /** Creates a token, valid for an hour and one use, with which the user of this address sets a new password, and returns it with the address to mail it to: the user's own, whatever was given. Only its hash is stored. No row: there is no such user with a password, or the last token is less than five minutes old. */
  request_password_reset: { takes: { of_email: 'text', client_address: 'text' }, gives: { email: 'text', token: 'text' } },
  /** Returns a pair from claim_judgements() to the queue, and delays all pairs of its project by that many seconds. Without counts_attempt, the claim does not count as an attempt. */
  requeue_judgements: { takes: { of_project: 'bigint', queued_id: 'bigint', counts_attempt: 'boolean', for_seconds: 'integer' }, gives: 'void' },
  /** Raises insufficient_privilege when the current user is not an administrator; operators with psql pass. */
  require_administrator: { reads: true, takes: {}, gives: 'void' },
  /** Id of the project, for an owner of it who sets its budgets; null for null, the organization, for an administrator. Raises as require_project_role() and require_administrator() do. */
  require_budget_owner: { reads: true, takes: { project: 'text' }, gives: 'bigint' },
  /** Id of the project of that name, for a user or operator who may judge or purge its cached responses, as cache_rights says. Raises as require_project_role() does. */
  require_cache_right: { reads: true, takes: { project: 'text', requested_action: 'text' }, gives: 'bigint' },
  /** Raises if the value is none of these words, and lists them, with the given names of the value: role, roles. */
  require_choice: { reads: true, takes: { given: 'text', words: 'text[]', what: 'text', plural: 'text' }, gives: 'void' },
  /** Raises if one of these is not a type of event. */
  require_event_kinds: { reads: true, takes: { kinds: 'text[]' }, gives: 'void' },
  /** Raises if the expiry is in the past. Null: expires (never). */
  require_future: { reads: true, takes: { expires: 'timestamptz?' }, gives: 'void' },
  /** Raises if the value cannot be the name of a key. */
  require_key_name: { reads: true, takes: { given: 'text' }, gives: 'void' },
  /** Raises insufficient_privilege when the current user acts through an admin key that is read-only, or limited to another project. Null: of_project (the change concerns no single project). */
  require_key_permission: { reads: true, takes: { of_project: 'bigint?' }, gives: 'void' },
  /** Raises for an archived project, which an active key would reopen. Call it before a key is locked. */
  require_open_project: { takes: { of_project: 'bigint' }, gives: 'void' },
  /** Raises where a user is the last owner who can log in of a project (null: of any that is not archived), and locks its members, so that this stays so until the transaction ends. Where no owner can log in, one who is invited must be left. */
  require_other_owner: { takes: { of_user: 'bigint', of_project: 'bigint' }, gives: 'void' },
  /** Raises no_data_found, naming all plans, when there is no plan of that name. */
  require_plan: { reads: true, takes: { plan: 'text' }, gives: 'void' },
  /** Id of the project of that name, for a user with the role viewer, member or owner there. Raises as find_project() and authorize() do. */
  require_project_role: { reads: true, takes: { project: 'text', needed: 'text' }, gives: 'bigint' },
  /** Resends a delivery under the same id, and enables its webhook again if a 410 had disabled it. Requires a member. */
  resend_delivery: { takes: { project: 'text', delivery_id: 'bigint' }, gives: 'void' },
  /** Reserves the upper bound of the cost of a call to the judge, in the judge's budget of the day (UTC) and in the project's budgets, and returns that day. settle_judgement() releases the excess. Null: result (too little is left, and nothing was reserved). */
  reserve_judgement: { takes: { of_project: 'bigint', at_most_usd: 'numeric' }, gives: 'date?' },
  /** Reserves the most that each request may cost (id, project_id, key_id, request_id, endpoint, model, tags, usd, tokens) in all budgets that apply to it and are enforced, or in none; far from their limits, its commit does not wait for the disk. verdict: granted; reserved (it fits once other requests have settled); exhausted (it fits no more in this period); unpriced (no price, or no longest response, is known). Then the budget that rejects it follows; scope: key, tag, model, project, organization. share_limit: the most that one key may reserve of it, or of the organization's one project, where that rejects it; reserved is then that key's or project's. may_wait: whether it fits once the requests that live have settled. A request may reserve several times under its id. A batch of a slot that was seen before returns nothing. A locked budget fails the batch after two seconds (55P03). Null: remaining_usd (no budget in US dollars applies), unit, amount, per, budget_id, spent, reserved, may_wait (granted), resets_at (granted, or it does not reset), share_limit (no share rejects it). */
  reserve_spending: { takes: { requests: 'json', in_slot: 'uuid', this_batch: 'bigint' }, gives: { ordinal: 'integer', verdict: 'text', remaining_usd: 'double precision?', unit: 'text?', amount: 'double precision?', per: 'text?', scope: 'text', resets_at: 'timestamptz?', budget_id: 'bigint?', spent: 'double precision?', reserved: 'double precision?', share_limit: 'double precision?', may_wait: 'boolean?' } },
  /** The first moment at which clocks of a time zone show this time, or a later one if they skip it. */
  resolve_local_time: { reads: true, takes: { local: 'timestamp without time zone', zone: 'text' }, gives: 'timestamptz' },
  /** Returns the id of a key; for a former value of a rotated key, the id of the rotated key. Null when there is none. */
  resolve_rotated_key: { reads: true, takes: { value_id: 'bigint' }, gives: 'bigint' },
  /** Makes a deactivated key valid again, with its value, limits and budgets. Its former values stay deactivated. Raises for a key that has expired, is a former value of another or belongs to an archived project, and where an active key has its name. Requires an owner of its project. */
  restore_key: { takes: { of_key: 'bigint' }, gives: 'void' },
  /** Keeps the reservation of a batch until the batch ends, under an id derived from the batch's id. */
  retain_batch_reservation: { takes: { reserved_as: 'uuid', of_project: 'bigint', batch_id: 'text' }, gives: 'void' },
  /** Ends all sessions of a person who may no longer log in because of the groups or the domain of the e-mail address at the identity provider. */
  revoke_identity_sessions: { takes: { of_issuer: 'text', of_subject: 'text' }, gives: 'void' },
  /** Adds up to 10,000 pending rows to the sums and latency counts of every grain, to the sums by name, those with tags to the sums by tags, and returns how many rows it added. Called every few seconds. */
  roll_up_usage: { takes: {}, gives: 'bigint' },
  /** Gives a key another value and returns it: it is not shown again. The key keeps its id, name, budgets and counters; its former value is accepted for the grace period, and counts as the key. Requires a member of its project. */
  rotate_key: { takes: { of_key: 'bigint', grace: 'interval=' }, gives: 'text' },
  /** Runs one statement on behalf of a user: actor {name, user_id, admin_key_id, address, idempotent}, where idempotent is the argument of claim_idempotency_key() for a change under an idempotency key. A statement that reads runs as role model_proxy_dashboard, under row-level security and read-only; a change relies on the checks of the functions it calls. The statement finds its values in $1; its rows come back as JSON. */
  run_as_actor: { takes: { actor: 'json', reads: 'boolean', statement: 'text', arguments: 'json' }, gives: { run_as_actor: 'json' } },
  /** Compares the requests admitted, reserved, settled and recorded in a period with limits, budgets and each other, and returns the contradictions. Without until_time, requests that ended in the last two minutes are omitted, because they may not be recorded yet. Raises on an unknown project. Null: from_time (31 days ago), until_time (two minutes ago), project (all). */
  run_audit: { reads: true, takes: { from_time: 'timestamptz=', until_time: 'timestamptz=', project: 'text=' }, gives: { kind: 'text', severity: 'violation|notice', project: 'text?', api_key: 'text?', at: 'timestamptz', subject: 'text', expected: 'text', found: 'text' } },
  /** The findings of one part of an audit: quotas, budgets, upkeep, records or sums. It acquires no lock, and reads one snapshot. Raises on an unknown project or part. Null: project (all). */
  run_audit_part: { reads: true, takes: { part: 'text', from_time: 'timestamptz', until_time: 'timestamptz', project: 'text?' }, gives: { kind: 'text', severity: 'violation|notice', project: 'text?', api_key: 'text?', at: 'timestamptz', subject: 'text', expected: 'text', found: 'text' } },
  /** Finds cache entries for each request. The lists have one item per request. Returns the entry of exactly this request, and candidates in equal context: up to five with equal normalized prompt, up to twenty that a person called the same (match: confirmed), however similar, and up to five whose prompt vectors are more similar than the threshold. A candidate comes without its response, but with its prompt, and with the verdict of a person, else of a review, else of the judge. If nothing exceeds the threshold, one row (match: below) gives the similarity of the nearest, without its contents. Places count from 0. A null threshold looks for the exact entry only, a null space for no similar ones; a space without a vector asks whether there are prompts that a vector would be compared with, which one row (match: open) says; a null age accepts any. Similar prompts are looked for among those that were stored with one of the topic words (arrays of hashes as text), and where compare_newest says so, among the newest 512 of the context. What a person called the same is looked for where have_verdicts says that there may be some. Null: similarity, prompt (of an exact match), response (of any other), verdict, verdict_source (there is none), policy (no hook has checked the response). */
  search_cache: { reads: true, takes: { project_ids: 'bigint[]', request_hashes: 'bytea[]', context_hashes: 'bytea[]', normalized_hashes: 'bytea[]', space_ids: 'integer[]', vectors: 'text[]', thresholds: 'double precision[]', max_ages_seconds: 'integer[]', topic_words: 'text[]=', have_verdicts: 'boolean[]=', compare_newest: 'boolean[]=' }, gives: { place: 'integer', entry_id: 'bigint', request_hash: 'text', match: 'text', similarity: 'double precision?', response: 'text?', provider: 'text', prompt_tokens: 'integer', completion_tokens: 'integer', created_at: 'timestamptz', expires_at: 'timestamptz', prompt: 'text?', verdict: 'text?', verdict_source: 'text?', policy: 'text?' } },
  /** What the current user may choose from: values of a kind (api_key, end_user, model, project, tag, user) that contain the search, ignoring case, with a name to show. project and user need no project. End users are those of this month and the one before, most expensive first; tags those of this month and the two before, most used first, without the tag user_id. Null: of_project (all), detail (none). */
  search_names: { reads: true, takes: { in_kind: 'text', of_project: 'bigint?', search: 'text', max_rows: 'integer' }, gives: { value: 'text', name: 'text', detail: 'text?' } },
  /** Sends a webhook.test to one webhook, and returns its delivery. Requires a member. */
  send_test_event: { takes: { project: 'text', webhook_id: 'bigint' }, gives: 'bigint' },
  /** Sets how much a project may spend, in total or with one key, model or tag (name=value), or for null how much the organization may spend in total, from the next request on, and returns the budget's id. The same scope, unit and period is the same budget; the amount null removes it. Raises on invalid values, and warns of names that no request has matched. Null: of_amount (it is removed). */
  set_budget: { takes: { project: 'text', in_unit: 'text', of_amount: 'numeric?', in_per: 'text', of_key: 'bigint=', of_model: 'text=', of_tag: 'text=', in_zone: 'text=' }, gives: 'bigint' },
  /** Records the version of the hook's rules under which a cache entry was accepted. The entry is given by the hex hashes of its request and response: a response that has replaced it is not changed. Null: with_policy (no hook has checked it). */
  set_entry_policy: { takes: { of_project: 'bigint', of_request: 'text', with_policy: 'text?', response_hash: 'text' }, gives: 'void' },
  /** Changes the given limits of a key and its former values, from the next request on: requests_per_minute, tokens_per_minute, allowed_models and allowed_addresses (arrays of text); for null, those of the plan and the project apply. Requires an owner of its project, and warns of models that no request has matched. */
  set_key_limits: { takes: { of_key: 'bigint', limits: 'jsonb' }, gives: 'void' },
  /** Sets whether the contents of a key's requests are stored: off (stored contents are deleted) or sealed; null: the setting of its project. Raises on an unknown key. */
  set_key_log_content: { takes: { key_or_prefix: 'text', value: 'text' }, gives: 'void' },
  /** Changes a member's role in a project to owner, member or viewer; a viewer keeps no key of a session. Requires an owner of it; the last owner who can log in cannot be demoted. */
  set_member: { takes: { project: 'text', of_user: 'bigint', member_role: 'text' }, gives: 'void' },
  /** Replaces the current user's password hash, and ends all sessions but one, and tokens that set another password. Null: kept_session (all end). */
  set_password: { takes: { new_hash: 'text', kept_session: 'bigint?' }, gives: 'void' },
  /** Moves a project to another plan; its limits apply from the next request on. Requires an administrator. Raises on an unknown project or plan. */
  set_plan: { takes: { project: 'text', plan: 'text' }, gives: 'void' },
  /** Changes the given limits of a plan, for all projects on it, from the next request on. Requires an administrator. */
  set_plan_limits: { takes: { plan: 'text', limits: 'jsonb' }, gives: 'void' },
  /** Sets one setting of a project, a row of setting_kinds, from the next request on. semantic_enabled and semantic_guards are other names for on and off of semantic_mode, and for threshold of semantic_policy. Raises on an unknown project or setting and on a value that the setting does not accept, and warns of models that no request has matched. */
  set_setting: { takes: { project: 'text', setting: 'text', value: 'text' }, gives: 'void' },
  /** Sets several settings of a project, or none when one is invalid; a list of names may be an array. Raises as set_setting() does. */
  set_settings: { takes: { project: 'text', settings: 'jsonb' }, gives: 'void' },
  /** Sets an alert that raises budget.threshold once a month when a project, or for null the organization, has spent that many US dollars; returns the alert's id. of_alert: changes this alert. Raises on invalid values. */
  set_spend_alert: { takes: { project: 'text', of_amount: 'numeric', to_recipients: 'text[]', with_prefix: 'text=', of_alert: 'bigint=' }, gives: 'bigint' },
  /** Makes a user an administrator (owner) or an ordinary user (reader). Requires an administrator; the last administrator who can log in cannot be demoted. */
  set_user_role: { takes: { of_user: 'bigint', user_role: 'text' }, gives: 'void' },
  /** Adds a vendor, or changes the given columns of one; every process uses it within seconds. Requires an administrator. Raises on an unknown column and on a value that does not fit. */
  set_vendor: { takes: { vendor: 'text', columns: 'jsonb' }, gives: 'void' },
  /** Stores the key of the installation for a vendor, encrypted by the proxy, in place of an earlier one. Requires an administrator. Raises on an unknown vendor. Null: sealed, last_four (the key is deleted). */
  set_vendor_key: { takes: { vendor: 'text', sealed: 'bytea?', last_four: 'text?' }, gives: 'void' },
  /** model_name_warnings() of the models in a project's settings, or in one of them: aliases, fallbacks, semantic_judge_model, allowed_models, and those with timeouts. Null: setting (all), result (there is no project that the current user may see). */
  setting_warnings: { reads: true, takes: { of_project: 'bigint', setting: 'text=' }, gives: 'text[]?' },
  /** Corrects what reserve_judgement() reserved. If the judge gave a verdict, stores it under its source (judge or review) and removes the pair from the queue. Hashes in hex. Null: verdict (there is none), similarity (of no use for calibration), difference (nothing prevented proof), queued_id (the pair was not queued). */
  settle_judgement: { takes: { of_project: 'bigint', of_day: 'date', correction_usd: 'numeric', context_hash: 'text', asked_hash: 'text', entry_hash: 'text', verdict: 'text?', until: 'timestamptz', similarity: 'double precision?', difference: 'text?', source: 'text', queued_id: 'bigint?' }, gives: 'void' },
  /** Settles a record with an estimated cost: the cost in US dollars and the tokens (null: as estimated) replace the estimate in the record, the sums and the budgets, and doubtful amounts are released. recorded: the recorded_at of its record (null: the newest with this request id). charged: a moment of the budgets' periods that bear the cost (null: when the request arrived). replaced_usd: the part of its cost that is replaced (null: all of it). False if no such record has an estimated cost. */
  settle_record: { takes: { of_project: 'bigint', of_request: 'text', cost: 'numeric', read_tokens: 'integer=', cached_tokens: 'integer=', written_tokens: 'integer=', recorded: 'timestamptz=', charged: 'timestamptz=', replaced_usd: 'numeric=' }, gives: 'boolean' },
  /** Settles a request manually: the amount that its provider charged, in US dollars, and its tokens (null: as estimated) replace the estimate, by settle_record(). recorded: the recorded_at of its record (null: the newest with this request id). Requires an owner. */
  settle_request: { takes: { project: 'text', of_request: 'text', cost: 'numeric', read_tokens: 'integer=', written_tokens: 'integer=', recorded: 'timestamptz=' }, gives: 'void' },
  /** Ends the reservations of requests by their ids, which several may share: the cost (usd, tokens) is spent; the possible cost beyond it (doubtful_usd, doubtful_tokens; at most the reserved amount) stays reserved for doubtful_reservation_ttl(); the rest is released. With project_id, key_id, model, tags and at, a cost without a reservation is also spent. */
  settle_spending: { takes: { settlements: 'json' }, gives: 'void' },
  /** The figure by which shares of usage are ordered: requests, cost, tokens, or failed requests. */
  share_measure: { reads: true, takes: { ordered_by: 'text', requests: 'numeric', failed: 'numeric', tokens: 'numeric', cost_usd: 'numeric' }, gives: 'numeric' },
  /** A project's last week by similarity, in hundredths from 0.50 on: semantic hits, near misses, their actual or possible savings, and pairs with a verdict of a person, or else of the judge. */
  similarity_histogram: { reads: true, takes: { of_project: 'bigint' }, gives: { at_least: 'double precision', served: 'bigint', stopped: 'bigint', saved_usd: 'numeric', missed_usd: 'numeric', same: 'bigint', different: 'bigint' } },
  /** Divides a time into UTC months, thirds of a month (which begin on the 1st, 11th and 21st), days, hours and quarters of an hour, of which sums exist (grains: some of these, longest first), and records. Pieces whose sign is -1 are subtracted: more than half of a unit is read as a whole, less the rest. Consecutive pieces are one. */
  split_range: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz', grains: 'text[]' }, gives: { begins: 'timestamptz', ends: 'timestamptz', grain: 'text', sign: 'integer' } },
  /** Divides a time into the pieces by which usage is read: whole UTC months (width: month) and days (day, month), which count in the bucket that contains their middle; otherwise hours, otherwise quarters of an hour; and single records at both ends, if these are within a quarter (grain: month, day, hour, quarter, record; middle: the distance from the beginning of each to its middle). The part of a month or day that is in the bucket before or after is read again and moved: subtracted (sign: -1) from one bucket, and added (1) to the other, which begins at counted_at. Without buckets (width: all), the pieces are those of split_range(). Null: counted_at (not moved). */
  split_usage_range: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz', width: 'text', zone: 'text' }, gives: { begins: 'timestamptz', ends: 'timestamptz', grain: 'text', middle: 'interval', counted_at: 'timestamptz?', sign: 'integer' } },
  /** Begins the present period of a new budget, or of one with a new time zone, with the cost of the period so far; a total begins with zero. Records of other projects do not wait. */
  start_budget_period: { takes: { of_budget: 'bigint' }, gives: 'void' },
  /** Stores or replaces the responses to requests. The lists have one item per response; responses (UTF-8) are concatenated. With a prompt, an entry can also be found by its normalized text (in equal context), and with a space and a vector by similar prompts: by its first three topic words, too, which are arrays of hashes as text, the rarest first. A space without a vector: it comes later, by add_prompt_vectors(). Whose a response is, the last one who asked says: each entry keeps that key, its log_content as it was, and the end user. Returns the entry id of each place, counted from 0. Nothing is stored for a project that is gone, locked, or was purged since (its cache generation differs from the given one; null skips this check), or under a version (name@version; null: none) that is not the newest of its name. A policy is the version of the hook's rules under which the response passed. */
  store_cached_responses: { takes: { project_ids: 'bigint[]', generations: 'integer[]', tests: 'boolean[]', request_hashes: 'bytea[]', namespaces: 'text[]', endpoints: 'text[]', models: 'text[]', providers: 'text[]', responses: 'bytea', response_lengths: 'integer[]', prompt_tokens: 'integer[]', completion_tokens: 'integer[]', ttls_seconds: 'integer[]', context_hashes: 'bytea[]', normalized_hashes: 'bytea[]', prompts: 'text[]', space_ids: 'integer[]', vectors: 'text[]', topic_words: 'text[]=', key_ids: 'bigint[]=', log_contents: 'text[]=', response_ids: 'text[]=', policies: 'text[]=', end_users: 'text[]=', versions: 'text[]=' }, gives: { place: 'integer', entry_id: 'bigint' } },
  /** The second half of store_cached_responses(): stores or replaces the prompts by which entries are also found. The lists have one item per entry. A null entry or prompt is skipped. A space without a vector: the vector is added later. Topic words are arrays of integers as text. */
  store_prompts: { takes: { entry_ids: 'bigint[]', project_ids: 'bigint[]', context_hashes: 'bytea[]', normalized_hashes: 'bytea[]', prompts: 'text[]', space_ids: 'integer[]', vectors: 'text[]', topic_words: 'text[]=' }, gives: 'void' },
  /** Stores a project's key for a direct provider, encrypted by the proxy, in place of an earlier one of this name; used from the next request on. Raises on an unknown project or provider, and on a name or weight that does not fit. Null: weight (it stays, 1 at first). */
  store_provider_key: { takes: { owner_id: 'bigint', provider: 'text', sealed: 'bytea', last_four: 'text', name: 'text', weight: 'integer?' }, gives: 'void' },
  /** Stores a response for a week, so that requests of the same key can continue it by its id or by item_ids, the ids of its items that its provider created. Null: continued_id (it began a conversation), own_input (it is too long). */
  store_response: { takes: { of_project: 'bigint', of_key: 'bigint', response_id: 'text', continued_id: 'text?', own_input: 'text?', response: 'text', of_user: 'text=', item_ids: 'text[]=', unfinished: 'boolean=' }, gives: 'void' },
  /** Stores the provider extras of assistant messages with tool calls for a week: objects with the columns of stored_turns. */
  store_turns: { takes: { turns: 'json' }, gives: 'void' },
  /** Stores or replaces vectors of a project. Vectors are concatenated, with the name, length, prompt tokens and responding model of each in lists; names must be distinct. They belong to the key and end user of the last request. Those of test keys expire within a day. Nothing is stored for a project that was deleted, is locked, or was purged since (its cache generation differs from the given one; null skips this check), or under a version (name@version; null: none) that is not the newest of its name. */
  store_vectors: { takes: { of_project: 'bigint', vector_names: 'bytea[]', vectors: 'bytea', lengths: 'integer[]', token_counts: 'integer[]', model_names: 'text[]', ttl_seconds: 'integer', for_test: 'boolean=', for_generation: 'integer=', of_key: 'bigint=', of_user: 'text=', in_namespace: 'text=', under_version: 'text=' }, gives: 'void' },
  /** Stores a verdict about two normalized questions of equal context, in place of an earlier one of the same source there; a person's verdict different is stored for a year. False when the project was deleted. Null: of_users (no end user was named). */
  store_verdict: { takes: { of_project: 'bigint', of_context: 'bytea', asked_hash: 'bytea', entry_hash: 'bytea', by_source: 'text', given: 'text', until: 'timestamptz', at_similarity: 'double precision', by_difference: 'text', of_users: 'text[]?' }, gives: 'boolean' },
  /** Updates the aggregator's rows of the catalogue from its list, and returns the differences: added, changed, back, gone (not listed any more), left alone (an operator's row that differs). dry_run: changes nothing. Raises when a model is listed twice or a value is invalid. */
  sync_aggregator_models: { takes: { published: 'json', source_address: 'text', dry_run: 'boolean' }, gives: { change: 'text', model: 'text', details: 'text' } },
  /** Updates vendors' prices in the catalogue from a published table, and returns the differences: changed, added (a condition), left alone (an operator's own), not listed (a model that is not in the catalogue: it is not added). dry_run: changes nothing. */
  sync_prices: { takes: { published: 'json', source_address: 'text', dry_run: 'boolean' }, gives: { change: 'text', model: 'text', details: 'text' } },
  /** The bits of a set of tags in a Bloom filter: three of each tag but user_id. A filter without one of them has no set with this tag. */
  tag_bits: { reads: true, takes: { tags: 'jsonb' }, gives: 'bit' },
  /** The test keys that the current user may see, and their key_id in the sums of all projects together. All other keys are project keys, including deleted ones. */
  test_keys: { reads: true, takes: {}, gives: { test_keys: 'bigint' } },
  /** Converts to Unix seconds, the format of times in the admin API. */
  to_unix_seconds: { reads: true, takes: { at: 'timestamptz' }, gives: 'bigint' },
  /** Raises an event for each measure that has reached its limit since the last call, and one for each that has recovered. Called every minute by all proxies, of which one measures. */
  update_alerts: { takes: { moment: 'timestamptz=' }, gives: 'void' },
  /** Brings cache_sizes up to date with added and deleted entries. */
  update_cache_sizes: { takes: {}, gives: 'void' },
  /** Changes a key: its name, expires_at (null: never), and its limits, as set_key_limits() does. An expired key with a later expiry is valid again. The former values of a rotated key keep their expiry. Raises on a name that an active key of the project has. Requires an owner of its project. */
  update_key: { takes: { of_key: 'bigint', changes: 'jsonb' }, gives: 'void' },
  /** Gives a project another plan, another name, or both. A name requires an owner of it; a plan, as set_plan(), an administrator. Raises on an invalid or taken name. Null: new_name, new_plan (it stays). */
  update_project: { takes: { project: 'text', new_name: 'text?', new_plan: 'text?' }, gives: 'void' },
  /** Changes the address of a webhook, which enables it again if a 410 had disabled it, and the types of events it receives (empty: all). Its format and its secret stay. Requires an owner. Null: new_url, new_kinds (unchanged). */
  update_webhook: { takes: { project: 'text', webhook_id: 'bigint', new_url: 'text?', new_kinds: 'text[]?' }, gives: 'void' },
  /** Sets a budget whose values and owner were validated (null: the organization, for all spending), and returns its id. A budget that is not enforced does not change an enforced one. */
  upsert_budget: { takes: { owner_id: 'bigint', in_unit: 'text', of_amount: 'numeric', in_per: 'text', of_key: 'bigint', of_model: 'text', tagged: 'jsonb', in_zone: 'text', is_enforced: 'boolean' }, gives: 'bigint' },
  /** Records an object for the project that created it, or updates what its provider reports about it; a null changes nothing. For a batch's input, holds_requests and models (null: they were not read); for a batch, the tags of the request that started it. */
  upsert_stored_object: { takes: { of_project: 'bigint', object_id: 'text', of_collection: 'text', of_provider: 'text', for_purpose: 'text=', holds_requests: 'integer=', object: 'text=', expires_at: 'timestamptz=', models: 'text[]=', tags: 'jsonb=', asked_for: 'text=' }, gives: 'void' },
  /** Usage by minute (1m), hour (1h) or UTC day (1d), in groups by any of project_id, api_key_id and model, and by the value of a tag; of_tags selects requests with all of these tags; a null filter selects everything that the current user may see. At most max_rows rows, after skipped_rows; buckets without usage are omitted. Null: of_projects, of_keys, of_models, of_endpoints, by_tag, of_tags (any); project_id, key_id, model, tag_value (all together). */
  usage_buckets: { reads: true, takes: { from_time: 'timestamptz', until_time: 'timestamptz', width: 'text', groups: 'text[]', of_projects: 'bigint[]?', of_keys: 'bigint[]?', of_models: 'text[]?', of_endpoints: 'text[]?', by_tag: 'text?', of_tags: 'jsonb?', skipped_rows: 'integer', max_rows: 'integer' }, gives: { bucket_start: 'timestamptz', project_id: 'bigint?', key_id: 'bigint?', model: 'text?', tag_value: 'text?', requests: 'bigint', prompt_tokens: 'bigint', cached_prompt_tokens: 'bigint', completion_tokens: 'bigint', tokens_saved: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** As usage_in_range(), for these keys only. Fast for few keys, however many others exist. width: hour, day or month; all: one bucket. */
  usage_by_key: { reads: true, takes: { of_keys: 'bigint[]', from_time: 'timestamptz', until_time: 'timestamptz', width: 'text', zone: 'text' }, gives: { bucket_start: 'timestamptz', model: 'text', cache_result: 'text', status_class: 'smallint', requests: 'bigint', prompt_tokens: 'bigint', completion_tokens: 'bigint', tokens_saved: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric', duration_ms: 'double precision' } },
  /** A project's usage in a calendar month (UTC), by model and provider, most used first; the last row, whose model is null, is the total. hit_rate: hits among the requests that reached the cache, 0 to 1. Raises on an unknown project. */
  usage_by_model: { reads: true, takes: { project: 'text', in_month: 'date' }, gives: { model: 'text', provider: 'text', requests: 'bigint', exact_hits: 'bigint', semantic_hits: 'bigint', misses: 'bigint', failed: 'bigint', hit_rate: 'numeric', prompt_tokens: 'bigint', completion_tokens: 'bigint', saved_tokens: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** Usage of the requests that have all of these tags, of some or all projects that the current user may see; of one model, key or type of keys (project, test), or of all. groupings: time, by the hour, day or month (width) of a time zone; the twenty models, api_keys and tags with the most requests, cost, tokens or failed requests (ordered_by: requests, cost, tokens, failed). Null: of_projects, of_model, of_key, of_key_type (any). */
  usage_by_tag: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz', of_tags: 'jsonb', of_model: 'text?', of_key: 'bigint?', of_key_type: 'text?', groupings: 'text[]', width: 'text', zone: 'text', ordered_by: 'text' }, gives: { grouped_by: 'text', bucket_start: 'timestamptz', name: 'text', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', prompt_tokens: 'bigint', completion_tokens: 'bigint', tokens_saved: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** Usage of some or all projects that the current user may see, with the bucket of each row (width: hour, day or month of a zone; all: one), up to the last record. Read from the sums that split_usage_range() chooses. cut, as choose_usage_sums() says: projects (by project, key, endpoint, model and provider), totals (by project and type of key, as key_type_id() says) or models (for administrators: all projects together, by type of key, endpoint, model and provider). Not by_key: by type of key; not by_model: without model and provider, so that far fewer rows are returned. Null: project_id (models), endpoint, model, provider (not by them). */
  usage_in_range: { reads: true, takes: { of_projects: 'bigint[]', from_time: 'timestamptz', until_time: 'timestamptz', width: 'text', zone: 'text', cut: 'text', by_key: 'boolean=', by_model: 'boolean=' }, gives: { bucket_start: 'timestamptz', project_id: 'bigint?', key_id: 'bigint', endpoint: 'text?', model: 'text?', provider: 'text?', cache_result: 'text', status_class: 'smallint', requests: 'bigint', prompt_tokens: 'bigint', cached_prompt_tokens: 'bigint', completion_tokens: 'bigint', tokens_saved: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric', duration_ms: 'double precision' } },
  /** The names by which usage_sums_by_name sums up a record: its end user, its provider key, and each of its tags. Null: end_user, provider, provider_keys, tags (none). */
  usage_names: { reads: true, takes: { end_user: 'text?', provider: 'text?', provider_keys: 'text?', tags: 'jsonb?' }, gives: { kind: 'text', name: 'text' } },
  /** The data of the dashboard's overview: requests by cache result, tokens, cost and time, by hour, day or month of a time zone, or in one bucket (width: all); of some or all projects that the current user may see; of one model, key or type of keys (project, test), or of all. Buckets without usage are omitted. Null: of_projects, of_model, of_key, of_key_type (any). */
  usage_overview: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz', width: 'text', zone: 'text', of_model: 'text?', of_key: 'bigint?', of_key_type: 'text?' }, gives: { bucket_start: 'timestamptz', requests: 'bigint', exact_hits: 'bigint', semantic_hits: 'bigint', misses: 'bigint', client_errors: 'bigint', server_errors: 'bigint', prompt_tokens: 'bigint', completion_tokens: 'bigint', tokens_saved: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric', hit_duration_ms: 'double precision', miss_duration_ms: 'double precision' } },
  /** The usage of models, providers, API keys or tags (share_by: model, provider, api_key, tag) in a time: the first max_rows, in the order of share_measure(); tags of one model or key are at most twenty. Of one model, key or type of keys (project, test), or of all. Null: of_projects, of_model, of_key, of_key_type (any), max_rows (all). */
  usage_shares: { reads: true, takes: { of_projects: 'bigint[]?', from_time: 'timestamptz', until_time: 'timestamptz', share_by: 'text', of_model: 'text?', of_key: 'bigint?', of_key_type: 'text?', ordered_by: 'text', max_rows: 'integer?' }, gives: { name: 'text', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', tokens: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** Usage of requests that have all of these tags ({}: any tags), of one model and key, or of any, of some or all projects that the current user may see, divided as in usage_in_range(): rows to be added up, some of which are negative, to move usage between buckets. cut: projects, or models, from choose_usage_sums(): all projects together, by type of key, as in key_type_id(), without project. Null: of_model, of_key (any). */
  usage_with_tags: { reads: true, takes: { of_projects: 'bigint[]', from_time: 'timestamptz', until_time: 'timestamptz', of_tags: 'jsonb', of_model: 'text?', of_key: 'bigint?', width: 'text', zone: 'text', cut: 'text' }, gives: { bucket_start: 'timestamptz', project_id: 'bigint', tags: 'jsonb', key_id: 'bigint', endpoint: 'text', model: 'text', requests: 'bigint', hits: 'bigint', misses: 'bigint', failed: 'bigint', prompt_tokens: 'bigint', cached_prompt_tokens: 'bigint', completion_tokens: 'bigint', tokens_saved: 'bigint', cost_usd: 'numeric', saved_usd: 'numeric' } },
  /** The columns of a vendor that an operator sets, with their types and meanings. */
  vendor_columns: { reads: true, takes: {}, gives: { name: 'text', type: 'text', meaning: 'text' } },
  /** Projects that the current user may see: all for an administrator, else the user's memberships; with an admin key that is limited to one project, only that one. Row-level security relies on it. */
  visible_projects: { reads: true, takes: {}, gives: { visible_projects: 'bigint' } },
} as const
