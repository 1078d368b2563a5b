/** Lines that count and admit, how each could break, and the tests that must notice. */

export interface Mutation {
  file: string
  /** Occurs once in the file. */
  line: string
  becomes: string
  noticedBy: readonly string[]
  /** Name of the test that notices, where its file takes long. */
  test?: string
}

const ADMISSION = 'test/integration/admission.test.ts'
const QUOTA = 'test/integration/quota.test.ts'
const ADMIT = 'test/integration/admit.test.ts'
const KEYS = 'test/unit/admission/api-key.test.ts'
const ACCOUNTING = 'test/unit/pipeline/accounting.test.ts'
const BUDGETS = 'test/integration/budgets.test.ts'
const ROLLUPS = 'test/integration/admin/rollups.test.ts'
const STORIES = 'test/integration/stories.test.ts'
const LARGEST = 'test/integration/largest-cost.test.ts'
const BOUNDS = 'test/unit/formats/bounds.test.ts'
const SOUND = 'test/unit/formats/sound.test.ts'
const HEARD = 'test/integration/heard-seconds.test.ts'
const LEAVING = 'test/integration/leaving.slow.test.ts'
const GUARD = 'test/unit/stores/guarded-store.test.ts'
const MINUTE = 'test/integration/count-minute.test.ts'
const WINDOW_MEMORY = 'test/unit/stores/window-memory.test.ts'
const CLOCK_STEPS = 'test/integration/clock-steps.test.ts'
const PRIMARY = 'test/unit/postgres/primary.test.ts'
const KEPT_IDS = 'test/hostile/kept-ids.test.ts'
const FILES_BY_VENDOR = 'test/clients/files-by-vendor.test.ts'
const WEBHOOKS = 'test/integration/webhooks.test.ts'
const WINDOWS = 'test/integration/rate-windows.test.ts'
const TOKENS = 'test/integration/token-limits.test.ts'
const UPSTREAM_CALL = 'test/unit/providers/call-upstream.test.ts'
const CREDENTIALS = 'test/unit/providers/credentials.test.ts'
const QUOTED = 'test/integration/quoted-credentials.test.ts'
const WHOLE = 'test/integration/whole-answers.test.ts'
const EMBEDDINGS = 'test/integration/embeddings.test.ts'
const COMPLETENESS = 'test/unit/formats/chat/completeness.test.ts'
const FORMAT_OF = 'test/unit/formats/format-of.test.ts'
const OFF_LOOP = 'test/unit/event-loop/off-loop.test.ts'
const UNFINISHED = 'test/unit/cache/unfinished-writes.test.ts'
const LEDGER = 'test/integration/budget-ledger.test.ts'
const RIGHTS = 'test/integration/admin/rights.test.ts'
const OIDC = 'test/integration/admin/oidc.test.ts'
const PEOPLE = 'test/integration/admin/users.test.ts'
const ADMIN_API = 'test/integration/admin/api.test.ts'
const ACCESS = 'test/integration/admin/access.test.ts'
const ADMIN_WEBHOOKS = 'test/integration/admin/webhooks.test.ts'
const VERIFY = 'test/unit/cache/verify/verify.test.ts'
const EVENTS = 'test/integration/events.test.ts'
const LARGEST_COST = 'test/unit/pipeline/largest-cost.test.ts'
const ALLOWED = 'test/unit/providers/allowed-models.test.ts'
const SHARE = 'test/unit/pipeline/share-call.test.ts'
const TAGS = 'test/unit/pipeline/tags.test.ts'
const KEPT = 'test/integration/kept.test.ts'
const FIND_ANSWER = 'test/integration/find-answer.test.ts'
const POST = 'test/unit/admin/webhooks/post.test.ts'
const ADDRESS_PREFIX = 'test/unit/stores/address-prefix.test.ts'
const RESTRICTIONS = 'test/integration/key-restrictions.test.ts'

const STREAM_ROOM = 'test/unit/event-loop/stream-room.test.ts'
const EVENT_BUFFER = 'test/unit/pipeline/coalescing/event-buffer.test.ts'
const SHARED_CALL = 'test/unit/pipeline/coalescing/shared-call.test.ts'
const KEPT_TEXT = 'test/unit/pipeline/kept-text.test.ts'
const SHARE_CALL = 'test/unit/pipeline/share-call.test.ts'

/** Lines of one file that one test file notices: each line, what it becomes, and the name of the test. */
function linesOf(
  file: string,
  noticedBy: string,
  lines: readonly (readonly [line: string, becomes: string, test?: string])[],
): Mutation[] {
  return lines.map(([line, becomes, test]) => ({ file, line, becomes, noticedBy: [noticedBy], ...(test && { test }) }))
}

export const MUTATIONS: readonly Mutation[] = [
  // What a request by itself was counted in early is given back where its windows refuse it, and near a limit none is.
  {
    file: 'src/admission/count-request.ts',
    line: 'if (reservation?.reserved) quota.refund(reservation.account)',
    becomes: '',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/count-request.ts',
    line: 'if (crowd.isNear() || !farFromLimits.has(account)) return',
    becomes: '',
    noticedBy: [ADMISSION],
  },
  // A project's job beside the event loop keeps its own requests waiting, no others.
  {
    file: 'src/event-loop/off-loop.ts',
    line: '!this.#busy.some(({ busy }) => busy?.owner === owner)',
    becomes: 'owner !== undefined',
    noticedBy: [OFF_LOOP],
  },
  {
    file: 'src/event-loop/off-loop.ts',
    line: 'this.#threads.size < MOST_THREADS && [...this.#threads].every(isLate)',
    becomes: 'this.#threads.size === 0',
    noticedBy: [OFF_LOOP],
  },
  {
    file: 'src/event-loop/off-loop.ts',
    line: "if (isFull && first.busy) this.#giveUp(first.busy, refuse('workTooLong'))",
    becomes: 'if (isFull && first.busy) return',
    noticedBy: [OFF_LOOP],
  },
  // Memory for streams: all of it is counted, given back once, and full at its bound; what waits, waits for the slowest, who is cut off in the end.
  {
    file: 'src/event-loop/stream-room.ts',
    line: 'this.#room.take(bytes)',
    becomes: 'this.#room.take(Math.max(0, bytes))',
    noticedBy: [STREAM_ROOM],
  },
  {
    file: 'src/event-loop/stream-room.ts',
    line: 'if (this.#isFull ? this.#room.fits(this.#room.size * FREE_SHARE) : !this.#room.fits(0)) this.#turn()',
    becomes: '',
    noticedBy: [STREAM_ROOM],
  },
  {
    file: 'src/event-loop/stream-room.ts',
    line: 'if (!this.#isOpen || bytes === 0) return',
    becomes: '',
    noticedBy: [STREAM_ROOM],
  },
  {
    file: 'src/event-loop/stream-room.ts',
    line: '.sort((a, b) => a.sinceMs - b.sinceMs)',
    becomes: '',
    noticedBy: [STREAM_ROOM],
  },
  {
    file: 'src/event-loop/stream-room.ts',
    line: '.filter(({ sinceMs }) => sinceMs < beforeMs)',
    becomes: '',
    noticedBy: [STREAM_ROOM],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'this.#held.add(lump.heldBytes)',
    becomes: '',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'if (bytes > 0) this.#held.add(-bytes)',
    becomes: '',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'this.#held.close()',
    becomes: '',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'this.#noteAhead(mustWait || (isFast && this.#readers.size > 0))',
    becomes: '',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'if (!this.#room.isFull) return this.#unreadBytes >= READ_AHEAD_BYTES',
    becomes: 'return this.#unreadBytes >= READ_AHEAD_BYTES',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'if (isFast && !this.#isAhead && this.#pushedBytes < NEW_BYTES) this.refuseWithoutRoom()',
    becomes: '',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'if (!this.#room.isFull) return\n',
    becomes: '',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/event-buffer.ts',
    line: 'if (reader.at === slowest?.at && reader.tookMs < beforeMs)',
    becomes: '',
    noticedBy: [EVENT_BUFFER],
  },
  {
    file: 'src/pipeline/coalescing/shared-call.ts',
    line: 'this.#isGivenUp ||= this.#wholeWaiting === 0',
    becomes: 'this.#isGivenUp = true',
    noticedBy: [SHARED_CALL],
  },
  {
    file: 'src/pipeline/kept-text.ts',
    line: 'else this.#held.set(meter.keptChars)',
    becomes: '',
    noticedBy: [KEPT_TEXT],
  },
  {
    file: 'src/pipeline/kept-text.ts',
    line: 'if (meter.isUnstorable && !meter.isGivenUp) this.drop()',
    becomes: 'if (false) this.drop()',
    noticedBy: [KEPT_TEXT],
  },
  {
    file: 'src/pipeline/share-call.ts',
    line: "if (room.isFull) throw refuse('tooManyUnreadStreams')",
    becomes: '',
    noticedBy: [SHARE_CALL],
  },
  // A key is used from its addresses alone, also where another list was known; tokens are counted as a whole, and what was not used is not.
  {
    file: 'src/admission/count-request.ts',
    line: 'if (!mayComeFrom(address, account)) {',
    becomes: 'if (false) {',
    noticedBy: [RESTRICTIONS],
  },
  {
    file: 'src/admission/count-request.ts',
    line: 'guess.allowed_addresses?.join() === account.allowed_addresses?.join()',
    becomes: 'true',
    noticedBy: [RESTRICTIONS],
  },
  {
    file: 'src/admission/rate-windows.ts',
    line: '!group.counted.countedAt.isInStore || ',
    becomes: '',
    noticedBy: [MINUTE],
  },
  {
    file: 'src/admission/rate-windows.ts',
    line: 'without_redis: !countedAt.isInStore',
    becomes: 'without_redis: false',
    noticedBy: [MINUTE],
  },
  {
    file: 'src/admission/token-windows.ts',
    line: 'isWhole: true, ',
    becomes: '',
    noticedBy: [TOKENS],
  },
  {
    file: 'src/admission/token-windows.ts',
    line: 'if (kept < tokens) void settling.add(giveBack(window, tokens - kept, countedAt))',
    becomes: '',
    noticedBy: [TOKENS],
  },
  {
    file: 'sql/functions/budgets/settle_spending.sql',
    line: 'case when g.is_presumed then g.amount else 0 end as spent',
    becomes: '0 as spent',
    noticedBy: [BUDGETS],
    test: 'and its process dies: it is taken for spent, and its record puts that right if it comes',
  },
  // Who wants a counter that many want is not refused as if somebody held it.
  {
    file: 'src/admission/quota.ts',
    line: 'if (stood !== null && lockedAt !== stood)',
    becomes: 'if (false)',
    noticedBy: [QUOTA],
    test: 'a locked counter',
  },
  {
    file: 'src/admission/quota.ts',
    line: 'if (stood !== null && lockedAt !== stood)',
    becomes: 'if (true)',
    noticedBy: [QUOTA],
    test: 'a locked counter',
  },
  // A clock that ran ahead and was put back leaves nothing that outlives its time, and what is kept for long is not deleted by it.
  {
    file: 'sql/functions/upkeep/note_time.sql',
    line: 'perform redate_future();',
    becomes: 'null;',
    noticedBy: [CLOCK_STEPS],
  },
  {
    file: 'sql/functions/upkeep/note_time.sql',
    line: "when now() < i.believed_at + interval '31 days' then now()",
    becomes: 'when true then now()',
    noticedBy: [CLOCK_STEPS],
  },
  {
    file: 'sql/functions/upkeep/redate_future.sql',
    line: "where %2$I > %3$L and %2$I < %4$L'",
    becomes: "where %2$I > %3$L and true or %2$I = %4$L'",
    noticedBy: [CLOCK_STEPS],
  },
  {
    file: 'src/postgres/upkeep.ts',
    line: "await call(database, 'maintain_usage_partitions', {})\n    await readTime(database)",
    becomes: 'throw error',
    noticedBy: [CLOCK_STEPS],
  },
  {
    file: 'src/postgres/record-usage.ts',
    line: 'hasStepped ? records.map(redate) : records',
    becomes: 'records',
    noticedBy: [CLOCK_STEPS],
  },
  {
    file: 'src/pipeline/request-record.ts',
    line: "plainText('model' in target ? (target.model ?? '') : '', MAX_MODEL_LENGTH)",
    becomes: "'model' in target ? (target.model ?? '') : ''",
    noticedBy: [STORIES],
    test: 'a model that only a path can name is recorded as text',
  },
  // Each record is in one bucket of a report, from whichever sums it is read.
  {
    file: 'sql/functions/usage/usage_pieces.sql',
    line: '    group by d.begins < (select min(m.begins) from months m)\n',
    becomes: '    having count(*) > 0\n',
    noticedBy: [ROLLUPS],
    test: 'is the same by the hour, day and month of any zone, from whichever sums it is read',
  },
  {
    file: 'sql/functions/usage/usage_within.sql',
    line: 'coalesce(w.counted_at, u.at + w.middle)',
    becomes: 'coalesce(w.counted_at, u.at)',
    noticedBy: [ROLLUPS],
    test: 'is the same by the hour, day and month of any zone, from whichever sums it is read',
  },
  {
    file: 'sql/functions/usage/usage_of_keys.sql',
    line: 'coalesce(t.counted_at, t.at + t.middle)',
    becomes: 'coalesce(t.counted_at, t.at)',
    noticedBy: [ROLLUPS],
    test: 'is the same by the hour, day and month of any zone, from whichever sums it is read',
  },
  // A moment lies in one period, also where midnight comes twice, or never.
  {
    file: 'sql/functions/budgets/first_moment.sql',
    line: 'and (first is null or candidate < first)',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'periods of budgets',
  },
  {
    file: 'sql/functions/budgets/first_moment.sql',
    line: 'candidate at time zone zone >= local and ',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'periods of budgets',
  },
  {
    file: 'sql/functions/budgets/period_of.sql',
    line: 'if at >= ends then',
    becomes: 'if false then',
    noticedBy: [BUDGETS],
    test: 'periods of budgets',
  },
  // An event is raised once where it has a name, and an address is told by one process at a time, until it has taken it.
  {
    file: 'sql/functions/events/raise_due_events.sql',
    line: "c.key_type || ':' || c.month || ':' || t.percent\n    )",
    becomes: 'null)',
    noticedBy: [WEBHOOKS],
    test: 'a quota that is nearly used up, and a key that soon expires, are told a single time',
  },
  {
    file: 'sql/functions/events/take_deliveries.sql',
    line: 'and w.busy_until <= now()',
    becomes: '',
    noticedBy: [WEBHOOKS],
    test: 'one that hangs keeps no other waiting',
  },
  {
    file: 'sql/functions/events/settle_delivery.sql',
    line: 'case when answered = 410 then now() else w.disabled_at end',
    becomes: 'w.disabled_at',
    noticedBy: [WEBHOOKS],
    test: 'after a 410 an address is told nothing more, until somebody sends again',
  },
  ...linesOf('sql/functions/events/raise_event.sql', EVENTS, [
    [
      'join webhooks w on w.project_id = of_project and w.disabled_at is null',
      'join webhooks w on w.disabled_at is null',
      'an event is told to the addresses',
    ],
    ['and w.disabled_at is null', '', 'an event is told to the addresses'],
    ["where w.kinds = '{}' or raise_event.kind = any (w.kinds)", 'where true', 'an event is told to the addresses'],
  ]),
  ...linesOf('sql/functions/events/raise_due_events.sql', EVENTS, [
    ['c.requests * 100 >= l.per_month * t.percent', 'c.requests * 100 > l.per_month * t.percent', 'a quota is told of'],
    [
      "case c.key_type when 'test' then s.test_requests_per_month else s.requests_per_month end",
      's.requests_per_month',
      'a quota is told of',
    ],
    ['where c.month = current_month()\n        and not exists', 'where not exists', 'a quota is told of'],
    ['and p.archived_at is null', '', 'a quota is told of'],
    ['where k.deactivated_at is null\n        and k.expires_at', 'where k.expires_at', 'a key is told of a week'],
    ['and k.expires_at - (k.expires_at - k.created_at) / 10 <= now()', '', 'a key is told of a week'],
  ]),
  ...linesOf('sql/functions/events/take_deliveries.sql', EVENTS, [
    ['where w.disabled_at is null\n            and', 'where', 'an address is told one event at a time'],
    [
      "set busy_until = now() + interval '1 minute'",
      'set busy_until = now()',
      'an address is told one event at a time',
    ],
    ['q.not_before <= now()', 'q.not_before is not null', 'an address is told one event at a time'],
    ["not_before = now() + interval '1 minute'", 'not_before = null', 'an address is told one event at a time'],
  ]),
  ...linesOf('sql/functions/events/settle_delivery.sql', EVENTS, [
    [
      'case when not was_taken then now() + waits[d.attempts] * (1 + random() / 10) end',
      'now() + waits[d.attempts] * (1 + random() / 10)',
      'an address is told one event at a time',
    ],
    [
      'if answered = 410 then\n        update',
      'if false then\n        update',
      'an address is told one event at a time',
    ],
    ['set busy_until = now(),', 'set busy_until = w.busy_until,', 'an address is told one event at a time'],
  ]),
  ...linesOf('sql/functions/events/resend_delivery.sql', EVENTS, [
    ['and w.project_id = owner_id', '', 'what a project’s addresses are told'],
    ['attempts = 0,', '', 'what a project’s addresses are told'],
  ]),
  ...linesOf('sql/functions/events/find_webhook.sql', EVENTS, [
    ['and w.project_id = owner_id', '', 'what a project’s addresses are told'],
  ]),
  ...linesOf('sql/functions/events/add_webhook.sql', EVENTS, [
    [
      'if (select count(*) from webhooks w where w.project_id = owner_id) >= most then',
      'if false then',
      'what a project’s addresses are told',
    ],
  ]),
  ...linesOf('sql/api/project_deliveries.sql', EVENTS, [
    ['d.project_id as _project_id', 'd.project_id + 1 as _project_id', 'what a project’s addresses are told'],
  ]),
  ...linesOf('src/admin/webhooks/post.ts', POST, [
    [
      'refusePrivate(\n    addresses.map(({ address }) => address),\n    toPrivateNetworks,\n  )',
      '',
      'https://localhost/ leads into a private network, and is asked nothing',
    ],
    [
      'if (isIP(host) !== 0) refusePrivate([host], toPrivateNetworks)',
      '',
      'https://169.254.169.254/latest/ is refused before anything is sent',
    ],
    ['lookup: (_, __, done) => done(null, addresses),', '', 'a name that leads elsewhere the next time gains nothing'],
    ['addresses.some(isPrivateAddress)', 'addresses.every(isPrivateAddress)', 'a name of which one address is private'],
  ]),
  ...linesOf('src/admin/webhooks/post.ts', ADMIN_WEBHOOKS, [
    ['parsed.href.length > MOST_CHARACTERS', 'url.length > MOST_CHARACTERS'],
  ]),
  ...linesOf('src/admin/tables/webhooks.ts', ADMIN_WEBHOOKS, [
    ['project: projectId, url, kinds', 'project: projectId, url: given, kinds'],
  ]),
  ...linesOf('src/admin/webhooks/deliver.ts', WEBHOOKS, [
    [
      '{ projectId, provider: SEALED_AS }',
      '{ projectId: 0, provider: SEALED_AS }',
      'a key that is created and one that is deactivated are told, signed, once each',
    ],
    ['MOST_AT_ONCE - underWay.size', 'MOST_AT_ONCE', 'a process tells sixteen addresses at once, and no more'],
  ]),
  // What is reserved of a budget is settled once, and never more than there is.
  {
    file: 'sql/functions/budgets/reserve_spending.sql',
    line: 'c.spent + c.reserved + n.needed > b.amount',
    becomes: 'c.spent + n.needed > b.amount',
    noticedBy: [BUDGETS],
    test: 'of many at once, only as many are asked as the budget pays for; then hits go on',
  },
  {
    file: 'sql/functions/budgets/reserve_spending.sql',
    line: 'n.needed is null or ',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'nothing passes /images/variations without money, or without a price',
  },
  {
    file: 'sql/functions/budgets/reserve_spending.sql',
    line: 'where s.batch < excluded.batch',
    becomes: 'where true',
    noticedBy: [BUDGETS],
    test: 'a batch of a slot that comes again reserves nothing more',
  },
  {
    file: 'sql/functions/budgets/settle_spending.sql',
    line: '    set reserved = greatest(0, c.reserved - s.released),',
    becomes: '    set reserved = c.reserved,',
    noticedBy: [BUDGETS],
    test: 'what a request cost is spent, and the rest of what was reserved is free again',
  },
  {
    file: 'sql/functions/budgets/settle_spending.sql',
    line: '        spent = greatest(0, c.spent + s.spent)',
    becomes: '        spent = c.spent',
    noticedBy: [BUDGETS],
    test: 'what a request cost is spent, and the rest of what was reserved is free again',
  },
  {
    file: 'sql/functions/budgets/settle_spending.sql',
    line: '    where n.spent > 0\n',
    becomes: '    where false\n',
    noticedBy: [BUDGETS],
    test: 'and its process dies: it is taken for spent, and its record puts that right if it comes',
  },
  {
    file: 'sql/functions/budgets/reserve_spending.sql',
    line: 'where b.enforced\n            and',
    becomes: 'where',
    noticedBy: [BUDGETS],
    test: 'an alert is told once when a month has cost its amount, limits nothing, and is told again for another',
  },
  {
    file: 'sql/functions/budgets/settle_spending.sql',
    line: ' and r.budget_id = b.id',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'a budget that is set, or set anew, while a request is under way has that request’s cost',
  },
  {
    file: 'sql/functions/budgets/settle_spending.sql',
    line: ' filter (where b.model is null or (model_names(b.model))[1] = any (model_names(o.model)))',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'what a fallback costs is paid from its own model’s budget',
  },
  {
    file: 'sql/functions/budgets/budgets_of.sql',
    line: '(model_names(b.model))[1] = any (model_names(of_model))',
    becomes: 'b.model = of_model',
    noticedBy: [BUDGETS],
    test: 'a budget of gpt-4o-mini holds by whatever name the model is asked',
  },
  {
    file: 'sql/functions/budgets/budgets_of.sql',
    line: ' or b.project_id is null',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'a budget of the organization holds for what all projects spend together, and its alert reaches those that listen',
  },
  {
    file: 'sql/functions/budgets/budgets_of.sql',
    line: '(b.tag is null or of_tags @> b.tag)',
    becomes: 'b.tag is null',
    noticedBy: [BUDGETS],
    test: 'a batch reserves what its lines may cost at half price until it is over; one that is too dear is not begun',
  },
  {
    file: 'sql/functions/budgets/charge_budgets.sql',
    line: 'and c.spent + c.reserved + usd > b.amount',
    becomes: 'and false',
    noticedBy: [BUDGETS],
    test: 'the judge is paid from the budgets of its project',
  },
  // Budgets and records that meet: each record counts in each budget, once.
  {
    file: 'sql/functions/budgets/put_budget.sql',
    line: "perform pg_advisory_xact_lock(hashtext('model_proxy put_budget'));",
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'a budget that is set and a batch of records that is written wait for each other',
  },
  {
    file: 'sql/functions/usage/record_usage.sql',
    line: "perform pg_advisory_xact_lock_shared(hashtext('model_proxy put_budget'));",
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'a budget that is set and a batch of records that is written wait for each other',
  },
  {
    file: 'sql/functions/usage/record_usage.sql',
    line: '            or p.has_budgets\n',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'the first budget, and the first alert, have the cost of requests that were under way before there was any',
  },
  // What is not known costs the most.
  {
    file: 'src/pipeline/presumed-usage.ts',
    line: 'return failure.mayHaveCost',
    becomes: 'return false',
    noticedBy: [LEAVING],
    test: 'left before its head, it is charged the most that it may have cost',
  },
  {
    file: 'src/pipeline/presumed-usage.ts',
    line: 'if (answered !== null) return answered < 400',
    becomes: 'if (answered !== null) return false',
    noticedBy: [LEAVING],
    test: 'cut, or silent, it is charged the most, with a budget and without',
  },
  {
    file: 'src/pipeline/presumed-usage.ts',
    line: 'return failure.upstreamStatus === null && ',
    becomes: 'return false && ',
    noticedBy: [LEAVING],
    test: 'what a model may have cost counts beside what its fallback cost, each in its own budget',
  },
  {
    file: 'src/pipeline/presumed-usage.ts',
    line: " && !known.capabilities.includes('reasoning')",
    becomes: '',
    noticedBy: [LEAVING],
    test: 'left in the middle, it is charged the most that it may have cost',
  },
  {
    file: 'src/pipeline/asked-calls.ts',
    line: 'this.presumed.push({ model: call.model, usage: call.presume() })',
    becomes: '{}',
    noticedBy: [LEAVING],
    test: 'what a model may have cost counts beside what its fallback cost, each in its own budget',
  },
  {
    file: 'src/pipeline/read-answer.ts',
    line: 'if (usage && !cut)',
    becomes: 'if (usage)',
    noticedBy: [LEAVING],
    test: 'left in the middle, it is charged the most that it may have cost',
  },
  {
    file: 'src/pipeline/read-answer.ts',
    line: '(cut || !isSentAsWritten(call))',
    becomes: 'cut',
    noticedBy: [LEAVING],
    test: 'a usage that its client kept from being told is presumed',
  },
  {
    file: 'src/pipeline/share-call.ts',
    line: '(accounting.isReadToEnd && ',
    becomes: '(false && ',
    noticedBy: [LEAVING],
    test: 'left in the middle under a budget, it is read to its end, and costs what it costs',
  },
  {
    file: 'sql/functions/budgets/settle_response.sql',
    line: '        and r.ctid = was.place\n',
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'what a response has used changes one record, whatever ended in the same millisecond',
  },
  {
    file: 'sql/functions/budgets/settle_response.sql',
    line: 'usd_more := cost - open.usd;',
    becomes: 'usd_more := 0;',
    noticedBy: [LEAVING],
    test: 'made in the background, it is presumed until its provider tells, with a budget: true',
  },
  {
    file: 'sql/functions/budgets/settle_response.sql',
    line: "and (b.per <> 'total' or b.created_at <= was.recorded_at)",
    becomes: '',
    noticedBy: [LEAVING],
    test: 'made in the background, it is presumed until its provider tells, with a budget: false',
  },
  {
    file: 'src/pipeline/pass-through/pass-through.ts',
    line: 'most && !most.isUnpriced ? most : ',
    becomes: '',
    noticedBy: [LEAVING],
    test: 'what an answer does not say that it used is presumed',
  },
  {
    file: 'src/admission/budgets.ts',
    line: "if (late.verdict === 'granted') release(id)",
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'and its reply is late: a 503, and it is released',
  },
  // What is reserved is the most that may be sent, and what is not known is never free.
  {
    file: 'src/formats/bounds/text-alone.ts',
    line: "if (!TEXT_FIELDS.has(name) || (name === 'type' && !TEXT_TYPES.has(value))) found.isText = false",
    becomes: '',
    noticedBy: [BOUNDS],
  },
  {
    file: 'src/formats/bounds/text-alone.ts',
    line: "if (name === 'tools' && Array.isArray(value)) found.tools.push(...value)",
    becomes: '',
    noticedBy: [LARGEST],
    test: 'tools that an item brings: what many at once cost is no more than their budget',
  },
  {
    file: 'src/formats/bounds/field-bounds.ts',
    line: "?? 'open'",
    becomes: "?? 'none'",
    noticedBy: [BOUNDS],
  },
  {
    file: 'src/formats/bounds/read-bounds.ts',
    line: "endpoint !== 'responses' || findKeptReferences(body, '').length === 0",
    becomes: 'true',
    noticedBy: [BOUNDS],
  },
  {
    file: 'src/formats/bounds/read-bounds.ts',
    line: "if (typeof number !== 'number' || !Number.isFinite(number))",
    becomes: 'if (false)',
    noticedBy: [BOUNDS],
  },
  {
    file: 'src/formats/bounds/read-bounds.ts',
    line: '* (isList ? Math.max(1, prompt.length) : 1)',
    becomes: '',
    noticedBy: [LARGEST],
    test: 'many prompts: what many at once cost is no more than their budget',
  },
  {
    file: 'src/pipeline/largest-tokens.ts',
    line: '(single + (hasPrediction ? bytes : 0))',
    becomes: 'single',
    noticedBy: [LARGEST],
    test: 'a prediction that is refused: what many at once cost is no more than their budget',
  },
  {
    file: 'src/pipeline/largest-tokens.ts',
    line: 'prompt: once * rounds * (isCompacted ? 2 : 1),',
    becomes: 'prompt: once * rounds,',
    noticedBy: [BOUNDS],
    test: 'a summary reads and writes as much again',
  },
  {
    file: 'src/pipeline/largest-cost.ts',
    line: "if (row.startsWith('fast')) return asked === 'fast'",
    becomes: "if (row.startsWith('fast')) return false",
    noticedBy: [LARGEST],
    test: 'fast mode: what many at once cost is no more than their budget',
  },
  {
    file: 'src/pipeline/largest-cost.ts',
    line: 'if (tier !== null && findTier(model, tier) === undefined)',
    becomes: 'if (false)',
    noticedBy: [LARGEST],
    test: 'fast mode of a model that has no price for it: what many at once cost is no more than their budget',
  },
  {
    file: 'src/pipeline/largest-cost.ts',
    line: 'return bounds.hosted.map(tool => largestOfTool(tool, bounds, find)).reduce(addLargest, own)',
    becomes: 'return own',
    noticedBy: [LARGEST],
    test: 'an advisor of another model: what many at once cost is no more than their budget',
  },
  {
    file: 'src/pipeline/answering-model.ts',
    line: 'find(pricedAs, isOther ? answeredAs : model)',
    becomes: 'find(pricedAs, model)',
    noticedBy: [LARGEST],
    test: 'a dearer fallback: one is charged as its vendor does, or refused by name',
  },
  {
    file: 'src/formats/read-usage.ts',
    line: 'return withParts(whole, usage.iterations)',
    becomes: 'return whole',
    noticedBy: [LARGEST],
    test: 'a summary before the answer: one is charged as its vendor does, or refused by name',
  },
  ...linesOf('src/formats/sound/wav.ts', BOUNDS, [["|| hasChunk(file, next, 'fmt ')", '']]),
  ...linesOf('src/pipeline/pass-through/sound-length.ts', BOUNDS, [
    ['?? mostSecondsOfMp3(file) ?? MOST_SECONDS', '?? mostSecondsOfMp3(file) ?? file.length / LEAST_BYTES_A_SECOND'],
    [' || parts.some(({ name, isFile }) => !isFile && NAMES_SOUND.test(name))', ''],
    ['files.length === 0 || ', ''],
  ]),
  // What is charged is as long as a decoder makes it, whatever a head says; and the same is told, recorded and taken from budgets.
  ...linesOf('src/pipeline/pass-through/sound-length.ts', HEARD, [
    ['mostSeconds, seconds ?? Math', 'mostSeconds, Math'],
    ['(bytes ?? unseen)', '(bytes ?? 0)'],
    ['Math.max(toldSeconds, ', 'Math.min(toldSeconds, '],
  ]),
  ...linesOf('src/pipeline/pass-through/passed-usage.ts', HEARD, [
    ['if (reported !== null) return { ...usage, seconds: reported }', ''],
    [', isPresumed: query.sound.seconds === null }', ' }'],
    ['if (isPaidBySecond(model) !== (usage.seconds !== undefined)) return null', ''],
  ]),
  ...linesOf('src/pipeline/presumed-usage.ts', HEARD, [
    ['query.sound ? { seconds: chargedSeconds(query.sound) } : {}', 'false ? { seconds: 0 } : {}', 'whoever leaves'],
  ]),
  ...linesOf('src/formats/sound/ogg.ts', SOUND, [
    ['Math.max(seconds, end)', 'seconds'],
    ['Math.max(seconds, end)', 'end'],
    ['stream.head && isVorbisSetup(packet)', 'false'],
    [' || streams.length === MOST_TRACKS', ''],
  ]),
  ...linesOf('src/formats/sound/flac.ts', SOUND, [
    ['frequency > 0 ? samples / frequency : 0', '0'],
    ['secondsOfFrames(file, frequency))', '0)'],
  ]),
  ...linesOf('src/formats/sound/packets.ts', SOUND, [
    ['(areLong[(first >>> 1) & mask] ?? true)', 'true'],
    ['[1, 2, 2, second & 63][first & 3] ?? 0', '1'],
  ]),
  ...linesOf('src/formats/sound/mp4.ts', SOUND, [
    ['(frames + fragments.frames) * frameSeconds,', '0,'],
    ['tabled + fragments.duration', 'tabled'],
    ['Math.max(this.duration, edited)', 'this.duration'],
    ['secondsOfFrames(file, USUAL_FREQUENCY)', '0'],
    ['if (Math.max(this.tracks.length, this.#fragments.size) > MOST_TRACKS) return null', ''],
  ]),
  ...linesOf('src/formats/sound/webm.ts', SOUND, [
    ['Math.max(this.duration, this.#last)', '0'],
    ['track.seconds += packets', 'track.seconds += 0 * packets'],
    ['if (this.#tracks.size > MOST_TRACKS) return Number.NaN', ''],
    ["codec === 'A_VORBIS' ? secondsOfVorbisHeads(head) : null", 'null'],
    ['at = file.indexOf(CLUSTER_BYTES, at + 1)', 'break'],
  ]),
  ...linesOf('src/formats/sound/mp3.ts', SOUND, [
    ['inFrames >= file.length * LEAST_SHARE ? Math.min(most, seconds) : most', 'Math.min(most, seconds)'],
    ['inFrames >= file.length * LEAST_SHARE ? Math.min(most, seconds) : most', 'most'],
  ]),
  ...linesOf('sql/functions/budgets/presume_expired_spending.sql', BUDGETS, [
    ["delete from budget_reservations r where r.presumed_at < now() - interval '1 day';", '', 'and its process dies'],
  ]),
  ...linesOf('sql/functions/budgets/set_spend_alert.sql', LEDGER, [
    ['and a.budget_id = meter_id', '', 'an alert is changed and removed by its project alone'],
  ]),
  ...linesOf('sql/functions/budgets/remove_spend_alert.sql', LEDGER, [
    ['and b.project_id is not distinct from owner_id', '', 'an alert is changed and removed by its project alone'],
  ]),
  ...linesOf('sql/functions/budgets/remove_budget.sql', LEDGER, [
    ['and b.project_id is not distinct from owner_id', '', 'a budget is removed by its project alone'],
  ]),
  ...linesOf('sql/functions/budgets/reserve_spending.sql', LEDGER, [
    [
      'set amount = r.amount + excluded.amount',
      'set amount = excluded.amount',
      'the same request may reserve again: both are held, and both are released',
    ],
    [
      'min(greatest(0, b.amount - c.spent - c.reserved))',
      'max(greatest(0, b.amount - c.spent - c.reserved))',
      'what is reserved is in every budget that applies, or in none',
    ],
    ["now() + interval '5 minutes'", 'now()', 'only what has expired is taken for spent, once'],
    [
      'if not found then\n            with',
      'if true then\n            with',
      'what is reserved is in every budget that applies, or in none',
    ],
  ]),
  ...linesOf('sql/functions/budgets/put_budget.sql', LEDGER, [
    [
      'and r.recorded_at >= p.begins',
      '',
      'a new budget begins with what its own requests have cost since its period began, and a total with nothing',
    ],
    [
      '(owner_id is null or r.project_id = owner_id)',
      'r.project_id = owner_id',
      'a new budget begins with what its own requests have cost since its period began, and a total with nothing',
    ],
    [
      '(owner_id is null or r.project_id = owner_id)',
      'true',
      'a new budget begins with what its own requests have cost since its period began, and a total with nothing',
    ],
    [
      'and (of_key is null or r.key_id = of_key)',
      '',
      'a new budget begins with what its own requests have cost since its period began, and a total with nothing',
    ],
    [
      'and (of_model is null or (model_names(of_model))[1] = any (model_names(r.model)))',
      '',
      'a new budget begins with what its own requests have cost since its period began, and a total with nothing',
    ],
    [
      'and (tagged is null or r.tags @> tagged)',
      '',
      'a new budget begins with what its own requests have cost since its period began, and a total with nothing',
    ],
    [
      "when in_per = 'total' then 0",
      'when false then 0',
      'a new budget begins with what its own requests have cost since its period began, and a total with nothing',
    ],
    [
      'p.id = owner_id or owner_id is null',
      'p.id = owner_id',
      'a budget of the organization concerns every project, and leaves those that have one of their own',
    ],
    [
      'enforced = b.enforced or excluded.enforced\n        returning b.id into put_id;\n    end if;',
      'enforced = excluded.enforced\n        returning b.id into put_id;\n    end if;',
      'what is set for an alert alone leaves what limits, and its amount',
    ],
  ]),
  ...linesOf('sql/functions/budgets/keep_spending.sql', LEDGER, [
    [
      "expires_at = 'infinity'",
      'expires_at = r.expires_at',
      'what is held for a batch is held until the batch is over',
    ],
    ["of_project || ' ' || batch_id", 'batch_id', 'what is held for a batch is held until the batch is over'],
  ]),
  ...linesOf('sql/functions/budgets/tell_thresholds.sql', LEDGER, [
    [
      "concat_ws(':', t.name, extract(epoch from c.begins)::bigint) as once",
      't.name as once',
      'a threshold and an alert are told once in each period',
    ],
    ['and c.begins >= present.begins', '', 'an alert says nothing of a period that was over before it was there'],
    [
      'c.spent >= t.amount * t.percent / 100',
      'c.spent >= t.amount',
      'a threshold and an alert are told once in each period',
    ],
  ]),
  ...linesOf('sql/functions/budgets/renew_spending.sql', LEDGER, [
    ["now() + interval '5 minutes'", 'r.expires_at', 'what is under way is renewed each minute, and nothing else'],
    ['r.id = any (ids)', 'true', 'what is under way is renewed each minute, and nothing else'],
  ]),
  ...linesOf('sql/functions/budgets/presume_expired_spending.sql', LEDGER, [
    [
      'set reserved = greatest(0, c.reserved - s.amount)',
      'set reserved = c.reserved',
      'only what has expired is taken for spent, once',
    ],
    ['spent = c.spent + s.amount', 'spent = c.spent', 'only what has expired is taken for spent, once'],
  ]),
  ...linesOf('sql/functions/budgets/charge_budgets.sql', LEDGER, [
    [
      'if usd > 0 and exists',
      'if exists',
      'the judge is charged in no budget of a key or a tag, in none where one has too little left, and given back',
    ],
    [
      'c.spent + c.reserved + usd > b.amount',
      'c.spent + usd > b.amount',
      'the judge is charged in no budget of a key or a tag, in none where one has too little left, and given back',
    ],
    [
      'set spent = greatest(0, c.spent + usd)',
      'set spent = c.spent',
      'the judge is charged in no budget of a key or a tag, in none where one has too little left, and given back',
    ],
    [
      'and c.begins = p.begins;\n    perform',
      ';\n    perform',
      'the judge is charged in no budget of a key or a tag, in none where one has too little left, and given back',
    ],
  ]),
  ...linesOf('sql/functions/budgets/drop_unused_meter.sql', LEDGER, [
    [
      'and not b.enforced',
      '',
      'an enforced budget stays so when an alert comes and goes, and none is left when both are gone',
    ],
    [
      'and not exists (select from spend_alerts a where a.budget_id = b.id)',
      '',
      'an alert outlives the limit beside it',
    ],
    [
      'b.project_id = p.id or b.project_id is null',
      'b.project_id = p.id',
      'a budget of the organization concerns every project',
    ],
  ]),
  ...linesOf('sql/functions/budgets/settle_spending.sql', LEDGER, [
    [
      'when o.is_unknown then g.amount',
      'when false then g.amount',
      'what is not known to be priced is held as all that was reserved, and so is a part of what shares an id',
    ],
    [
      'g.begins = min(g.begins) over (partition by g.id, g.budget_id)',
      'true',
      'what reserved on two days is paid from the first',
    ],
    [
      'period_of(b.per, b.time_zone, d.at) p\n    cross join lateral (select',
      'period_of(b.per, b.time_zone, now()) p\n    cross join lateral (select',
      'a threshold and an alert are told once in each period',
    ],
  ]),
  ...linesOf('sql/functions/budgets/budgets_of.sql', LEDGER, [
    [
      '(b.key_id is null or b.key_id = of_key)',
      'true',
      'the judge is charged in no budget of a key or a tag, in none where one has too little left, and given back',
    ],
    ['b.project_id = of_project or', 'true or', 'what is reserved is in every budget that applies, or in none'],
  ]),
  ...linesOf('sql/functions/budgets/set_budget.sql', LEDGER, [
    ['and k.project_id = owner_id', '', 'a budget of a key is of one of the project’s own'],
  ]),
  ...linesOf('sql/functions/budgets/open_budgets.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
    ["'owner'", "'viewer'", 'what concerns a project takes a role there'],
  ]),
  ...linesOf('src/admin/find-objects.ts', ADMIN_API, [
    ['column in hidden', "column === '_id'", 'spend alerts of a project and of the organization'],
    [
      'isOrganizations ? { ...ids, project_id: null } : ids',
      'ids',
      'spend alerts of a project and of the organization',
    ],
  ]),
  ...linesOf('src/admin/find-objects.ts', ACCESS, [
    ['await requireVisible(of, asked)', '', 'each role can do what it is for, and no more'],
    ["if (isOrganizations) await callAs(actor, 'require_administrator', {})", '', 'each role can do what it is for'],
  ]),
  ...linesOf('src/pipeline/spending.ts', LEDGER, [
    ['await this.#takeTokens(largest.tokens)', '', 'that ends twice, tokens are given back once'],
    [
      'if (model !== this.#reservedAheadFor) await this.reserveMoney',
      'await this.reserveMoney',
      'what was reserved before the cache was asked is not reserved again for the same model, and is for another',
    ],
    [
      'if (this.#isOver) this.#limits.budgets.release(id)',
      '',
      'that is over before what it asked for is reserved, neither money nor tokens are kept',
    ],
    [
      'if (this.#isOver) this.#limits.tokenWindows.settle([taken], 0)\n    else',
      '',
      'that is over before what it asked for is reserved, neither money nor tokens are kept',
    ],
    [
      'if (!this.#isOver) this.#limits.tokenWindows',
      'this.#limits.tokenWindows',
      'that ends twice, tokens are given back once',
    ],
    ['this.#id = null', '', 'what is left to a later record is not released with its request'],
    [
      'if (id !== null) this.#limits.budgets.close(id)',
      '',
      'what is left to a later record is not released with its request',
    ],
    [
      'if (id !== null) this.#limits.budgets.release(id)',
      '',
      'what was reserved before the cache was asked is not reserved again for the same model, and is for another',
    ],
    [
      'this.#reservedAheadFor = model',
      'this.#reservedAheadFor = null',
      'what was reserved before the cache was asked is not reserved again for the same model, and is for another',
    ],
  ]),
  ...linesOf('src/admission/budgets.ts', LEDGER, [
    [
      "else void call(database, 'renew_spending', { ids: [...open] }).catch(() => {})",
      '',
      'what is under way is renewed each minute, and nothing else',
    ],
    [
      'renewing ??= setInterval(renew, RENEW_EVERY_MS).unref()',
      '',
      'what is under way is renewed each minute, and nothing else',
    ],
    ['renewing = undefined', '', 'what is under way is renewed each minute, and nothing else'],
    ['open.add(ask.id)', '', 'what is under way is renewed each minute, and nothing else'],
    [
      'close: id => void open.delete(id)',
      'close: () => {}',
      'what is under way is renewed each minute, and nothing else',
    ],
    ['for (const id of ids) open.delete(id)', '', 'what is under way is renewed each minute, and nothing else'],
    [
      'while (!(await isDone())) await Bun.sleep(RETRY_MS)',
      'await isDone()',
      'what could not be released is released when the database is there again',
    ],
  ]),
  ...linesOf('src/pipeline/largest-cost.ts', LARGEST_COST, [
    [
      'amounts.includes(null) ? null :',
      '',
      'of several models the dearest counts, and what one of them costs must be known',
    ],
    [
      'if (pricedAs === null) return null',
      '',
      'of several models the dearest counts, and what one of them costs must be known',
    ],
    ['...alternatives]', ']', 'of several models the dearest counts, and what one of them costs must be known'],
    [
      'if (!model) return { usd: null, tokens, unknown: tellName(named) }',
      'if (!model) return { usd: 0, tokens }',
      'of several models the dearest counts, and what one of them costs must be known',
    ],
    [
      'row.cacheWriteUsdPerMillion ?? 0,',
      '',
      'every price that may apply to a request is reserved for: the dearest of them',
    ],
    [
      '...model.conditionalPrices.filter(row => prompt > row.abovePromptTokens && mayBe(row.tier))',
      '',
      'every price that may apply to a request is reserved for: the dearest of them',
    ],
    [
      'Math.max(input, audio_input, image_input)',
      'input',
      'every price that may apply to a request is reserved for: the dearest of them',
    ],
    [
      'Math.max(audio_output, ...prices',
      'Math.max(...prices',
      'every price that may apply to a request is reserved for: the dearest of them',
    ],
    [
      'const apart = request + toolsUsd(unitPrices, mostPricedCalls(size.bounds))',
      'const apart = request',
      'responses {"tools":[{"type":"function","name":"f","parameters":{}},{"type":"web_search"}]}: 10 calls, for 0.1 dollars beside the tokens',
    ],
  ]),
  ...linesOf('src/pipeline/largest-tokens.ts', LARGEST_COST, [
    [
      'prompt: once * rounds *',
      'prompt: once *',
      'responses {"tools":[{"type":"function","name":"f","parameters":{}},{"type":"web_search"}]}: 10 calls, for 0.1 dollars beside the tokens',
    ],
    ['+ (bounds.hasTools ? TOOL_TOKENS : 0)', '', 'what makes an answer longer or a prompt larger is reserved for'],
  ]),
  ...linesOf('src/formats/bounds/read-bounds.ts', LARGEST_COST, [
    [
      "if (isGiven(body.web_search_options)) hosted.push(hostedTool('web_search'))",
      '',
      'chat {"web_search_options":{}}: 10 calls, for 0.1 dollars beside the tokens',
    ],
    [
      "Math.max(whole(n, 'n') ?? 1, whole",
      'Math.max(whole',
      'what makes an answer longer or a prompt larger is reserved for',
    ],
    [
      "['chat', ['max_tokens', 'max_completion_tokens']]",
      "['chat', ['max_tokens']]",
      'what makes an answer longer or a prompt larger is reserved for',
    ],
  ]),
  // A request is counted in its windows and its month, or in neither.
  {
    file: 'src/admission/count-request.ts',
    line: 'return sameLimits(guess, account) && (',
    becomes: 'return (',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/count-request.ts',
    line: 'await counted.uncount()\n      if (reserved)',
    becomes: 'if (reserved)',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/count-request.ts',
    line: 'if (reserved) quota.refund(account)',
    becomes: '',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/count-request.ts',
    line: 'await counted.uncount()\n        throw error',
    becomes: 'throw error',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/count-request.ts',
    line: 'guess.requests_per_minute_per_address === account.requests_per_minute_per_address',
    becomes: 'true',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/admission.ts',
    line: "  if (!reserved) throw refuse('monthlyQuotaExceeded')\n  return",
    becomes: '  return',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/admission.ts',
    line: 'if (others >= concurrent_requests)',
    becomes: 'if (others > concurrent_requests)',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/admission.ts',
    line: 'if (isOver) return',
    becomes: '',
    noticedBy: [ADMISSION],
  },
  ...linesOf('src/admission/token-windows.ts', TOKENS, [
    ['if (wanted > limit) throw refuse', 'if (false) throw refuse', 'one that would never fit is told so'],
    [
      'if (granted < wanted) throw refuse',
      'if (granted < 0) throw refuse',
      'of many at once, only as many are asked as have room, and the others are told when to come back',
    ],
    ['left -= kept', '', 'a request counts as many as it may take, then as many as it took; a hit counts none'],
  ]),
  ...linesOf('src/admission/count-request.ts', ADMISSION, [
    [
      'refuseInactive(account)\n      if (!reserved)',
      'if (!reserved)',
      'a key that was deactivated meanwhile is refused, and nothing is counted',
    ],
    [
      'if (account !== guess) keys.note(keyHash, account)',
      '',
      'a request that was counted under limits that changed meanwhile counts once, under the new ones: narrow_key',
    ],
    [
      'guess.requests_per_minute === account.requests_per_minute &&',
      '',
      'a request for which the new limits have no room is refused, though the old ones had: narrow_key',
    ],
    [
      "(isInDatabase || account.verdict === 'unknown' || !countsInDatabase(account))",
      'true',
      'a request that was counted before its key was marked is counted in the minute of all processes, too',
    ],
  ]),
  ...linesOf('src/admission/admission.ts', ADMISSION, [
    [
      'return () => quota.refund(account, requests)',
      'return () => quota.refund(account)',
      'more requests are counted at once, all or none, and can be given back',
    ],
    [
      '} catch (error) {\n        leave()',
      '} catch (error) {',
      'one that leaves makes room for another, and one that was refused took none',
    ],
    ['refuseInactive(account)\n  if', 'if', 'more requests are counted at once, all or none, and can be given back'],
  ]),
  ...linesOf('src/admission/rate-windows.ts', MINUTE, [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the line
    ['${countsInDatabase(account)} ', '', 'is asked for by a process while the key is marked'],
    ['if (granted < left) await takeBack(left - granted)', '', 'takes back what it does not let pass'],
    [
      'await takeBack(left)',
      '',
      'is asked for by a process while the key is marked, and what it does not let pass is taken out of the windows',
    ],
    [
      'until !== null && until * 1_000 > nowMs()',
      'until !== null',
      'is asked for by a process while the key is marked, and what it does not let pass is taken out of the windows',
    ],
    [
      'group.isInDatabase = true',
      '',
      'is asked for by a process while the key is marked, and what it does not let pass is taken out of the windows',
    ],
  ]),
  // Rate windows.
  {
    file: 'src/admission/rate-windows.ts',
    line: 'group.left--',
    becomes: '',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/rate-windows.ts',
    line: 'store.uncount(names, 1, counted.countedAt)',
    becomes: 'store.uncount(names, 0, counted.countedAt)',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/stores/fast-store.ts',
    line: 'Math.min(requests, ...rooms)',
    becomes: 'requests',
    noticedBy: [WINDOWS],
  },
  // No server that a failover left behind is used.
  {
    file: 'src/postgres/primary.ts',
    line: 'if (areAll || problem) this.#note(problem)',
    becomes: 'this.#note(problem)',
    noticedBy: [PRIMARY],
  },
  {
    file: 'src/postgres/primary.ts',
    line: 'timeline < this.#seen.timeline',
    becomes: 'timeline > this.#seen.timeline',
    noticedBy: [PRIMARY],
  },
  {
    file: 'src/postgres/primary.ts',
    line: 'return isOurs ? identity.timeline : 0',
    becomes: 'return isOurs ? 0 : 0',
    noticedBy: [PRIMARY],
  },
  // A file goes to the vendor whose API its client speaks, or whose models its requests name, and to nobody else.
  {
    file: 'src/http/named-vendor.ts',
    line: "if (ANTHROPICS_HEADERS.some(name => headers.has(name))) return 'anthropic'",
    becomes: '',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/http/paths.ts',
    line: 'return target && ofVendor(target, vendor ?? told)',
    becomes: 'return target && ofVendor(target, told)',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/providers/object-keepers.ts',
    line: 'if (named !== undefined && name !== named) continue',
    becomes: '',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/pipeline/kept-objects/ask-object.ts',
    line: "return vendor === undefined || provider.split('/')[0] === vendor",
    becomes: 'return true',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/pipeline/kept-objects/list-objects.ts',
    line: 'kept_by: vendor ?? null,',
    becomes: 'kept_by: null,',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/pipeline/kept-objects/upload-file.ts',
    line: 'if (named !== null && vendor !== undefined && named !== vendor) throw namesAnother(vendor, named)',
    becomes: '',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/pipeline/kept-objects/upload-file.ts',
    line: 'if (another !== undefined) {',
    becomes: 'if (false) {',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/pipeline/pass-through/read-passed.ts',
    line: 'vendor === undefined ? OPERATIONS[operation].defaultModel : null',
    becomes: 'OPERATIONS[operation].defaultModel',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'src/pipeline/kept-objects/stored-responses.ts',
    line: 'if (vendor !== undefined || !provider?.askStored',
    becomes: 'if (!provider?.askStored',
    noticedBy: [FILES_BY_VENDOR],
  },
  {
    file: 'sql/functions/cache/forget_kept_object.sql',
    line: 'and k.collection = of_collection',
    becomes: '',
    noticedBy: [FILES_BY_VENDOR],
  },
  // Of few words, one that differs is much.
  ...linesOf('src/cache/verify/verify.ts', VERIFY, [
    ['similarity <= threshold + MARGIN', 'similarity <= threshold', 'of two words, one that differs is much'],
    ['return !isSemantic || similarity', 'return similarity', 'of two words, one that differs is much'],
  ]),
  // Whoever asks what a write under way could answer waits for it, and for no longer than a lookup takes.
  {
    file: 'src/cache/unfinished-writes.ts',
    line: 'Promise.all([this.#byName.get(name), written])',
    becomes: 'written',
    noticedBy: [UNFINISHED],
  },
  {
    file: 'src/cache/unfinished-writes.ts',
    line: 'if (this.#byName.get(name) === all) this.#byName.delete(name)',
    becomes: 'this.#byName.delete(name)',
    noticedBy: [UNFINISHED],
  },
  {
    file: 'src/cache/unfinished-writes.ts',
    line: 'this.#withinLimit(writing).catch(() => {})',
    becomes: 'writing',
    noticedBy: [UNFINISHED],
  },
  {
    file: 'src/cache/unfinished-writes.ts',
    line: 'nameOf(account.project_id, contextHash, null), ',
    becomes: '',
    noticedBy: [UNFINISHED],
  },
  {
    file: 'src/cache/unfinished-writes.ts',
    line: 'nameOf(account.project_id, semantic.contextHash',
    becomes: 'nameOf(1, semantic.contextHash',
    noticedBy: [UNFINISHED],
  },
  {
    file: 'src/cache/search.ts',
    line: 'await unfinished.before(query, asked)',
    becomes: '',
    noticedBy: ['test/integration/unfinished-writes.test.ts'],
    test: 'have left already if the process is alone, and whoever asks for the same waits for them',
  },
  // What a provider keeps stays its project's.
  {
    file: 'sql/functions/cache/bind_ids.sql',
    line: 'and k.project_id <> of_project',
    becomes: 'and false',
    noticedBy: [KEPT_IDS],
    test: 'an answer that repeats another project’s id binds nothing',
  },
  {
    file: 'src/pipeline/kept-objects/ask-object.ts',
    line: 'isMade ? keeperOf(provider, answer.headers.get(PROVIDER_KEY)) : null',
    becomes: 'null',
    noticedBy: [KEPT_IDS],
    test: 'responses that a batch made are its project’s when their ids are first read',
  },
  {
    file: 'src/stores/sliding-window.ts',
    line: 'window.total -= window.counts[at] ?? 0',
    becomes: '',
    noticedBy: [WINDOWS],
  },
  // Where a clock steps, what was counted stays as old as it was: a minute is neither longer nor begun anew.
  {
    file: 'src/stores/sliding-window.ts',
    line: 'if (second < window.lastSecond) shiftWindow(window, second - window.lastSecond)',
    becomes: '',
    noticedBy: [WINDOWS],
  },
  {
    file: 'src/stores/sliding-window.ts',
    line: 'window.counts[placeAfter(at, bySeconds)] = count',
    becomes: 'window.counts[at] = count',
    noticedBy: [WINDOWS, WINDOW_MEMORY],
  },
  {
    file: 'src/stores/window-memory.ts',
    line: 'if (found.seen) found.seen = shiftBytes(found.seen, step)',
    becomes: '',
    noticedBy: [WINDOW_MEMORY],
  },
  {
    file: 'src/stores/window-memory.ts',
    line: 'if (found.withoutRedis) shiftWindow(found.withoutRedis, step)',
    becomes: '',
    noticedBy: [WINDOW_MEMORY],
  },
  {
    file: 'src/stores/window-memory.ts',
    line: 'Math.min(0, countedAtSecond - sentAtSecond)',
    becomes: 'Math.min(0, countedAtSecond - this.#nowSecond())',
    noticedBy: [WINDOW_MEMORY],
  },
  {
    file: 'src/stores/guarded-store.ts',
    line: 'if (isCountedHere) await uncountTwice(store, batch, counted)',
    becomes: '',
    noticedBy: [GUARD],
  },
  {
    file: 'src/stores/guarded-store.ts',
    line: 'countedAt.isInStore',
    becomes: 'true',
    noticedBy: [GUARD],
  },
  {
    file: 'src/stores/window-memory.ts',
    line: 'countedAt: { second, isInStore: false }',
    becomes: 'countedAt: { second, isInStore: true }',
    noticedBy: [GUARD],
  },
  {
    file: 'src/stores/window-memory.ts',
    line: 'found.reporting += missed',
    becomes: '',
    noticedBy: [WINDOW_MEMORY],
  },
  {
    file: 'src/stores/window-memory.ts',
    line: 'Math.floor((limit - all.total) / processes)',
    becomes: 'limit - all.total',
    noticedBy: [WINDOW_MEMORY],
  },
  {
    file: 'sql/functions/admission/count_minute.sql',
    line: 'coalesce(sum(m.outside_redis), 0) + greatest',
    becomes: 'greatest',
    noticedBy: [MINUTE],
  },
  {
    file: 'sql/functions/admission/count_minute.sql',
    line: 'and m.second > at_second + 60;',
    becomes: 'and false;',
    noticedBy: [MINUTE],
  },
  {
    file: 'sql/functions/admission/count_minute.sql',
    line: 'and m.second > at_second + 60;',
    becomes: 'and m.second > at_second;',
    noticedBy: [MINUTE],
  },
  ...linesOf('sql/functions/admission/count_minute.sql', MINUTE, [
    ['set in_redis = greatest(m.in_redis, excluded.in_redis)', 'set in_redis = excluded.in_redis'],
    ['set in_redis = greatest(0, m.in_redis - (wanted - granted))', 'set in_redis = m.in_redis'],
    ['and m.second > at_second - 61', ''],
    ['case when without_redis then 0 else wanted end', '0'],
    ['set outside_redis = m.outside_redis + excluded.outside_redis', 'set outside_redis = excluded.outside_redis'],
    ['where (k.id = of_key or k.replaced_by = of_key)', 'where k.id = of_key'],
    ['coalesce(sum(m.in_redis), 0), coalesce(sum(m.recorded), 0)', 'coalesce(sum(m.in_redis), 0)'],
  ]),
  ...linesOf('src/stores/window-memory.ts', WINDOW_MEMORY, [
    [
      'found.reporting === 0 ? (found.withoutRedis?.total ?? 0) : 0',
      'found.withoutRedis?.total ?? 0',
      'what passed without the store is reported once, however many calls could',
    ],
    [
      'for (const { name, missed = 0 } of recalled.windows) this.#find(name).reporting -= missed',
      '',
      'what could not be reported is reported with the next call',
    ],
    [
      'const left = found.withoutRedis.total - missed',
      'const left = 0',
      'what passes while it is being reported stays to be reported',
    ],
    [
      'isStale ? null : found.seen',
      'found.seen',
      'a window is brought back as it was seen, but for one that nobody has asked for in a minute',
    ],
    [
      'Math.min(limit - all.total, share - withoutRedis.total)',
      'share - withoutRedis.total',
      'nothing passes a limit of nothing',
    ],
  ]),
  ...linesOf('src/stores/fast-store.ts', ADDRESS_PREFIX, [
    ["address.split('%')[0] ?? ''", 'address', '1::2%a:b:c:d:e:f:g is limited as 1:0:0:0::/64'],
    ['if (isIP(address) !== 6) return address', 'return address', '2001:db8:0:1::7 is limited as 2001:db8:0:1::/64'],
  ]),
  ...linesOf('src/stores/guarded-store.ts', GUARD, [
    [
      'memory.noteFailed(recalled)',
      '',
      'what passed without the store is told it when it is back, though it failed once more meanwhile',
    ],
  ]),
  // Keys.
  {
    file: 'src/admission/api-key.ts',
    line: "if (reply.verdict === 'disabled')",
    becomes: 'if (false)',
    noticedBy: [KEYS],
  },
  {
    file: 'src/admission/api-key.ts',
    line: "if (account.verdict !== 'unknown' && !isCrowded) await",
    becomes: "if (account.verdict === 'active' && !isCrowded) await",
    noticedBy: [KEYS],
  },
  {
    file: 'src/admission/api-key.ts',
    line: "if (account.verdict === 'unknown' && isCrowded) throw",
    becomes: 'if (false) throw',
    noticedBy: [KEYS],
  },
  // Who may do what, where a key may be used, and what ends with what.
  ...linesOf('sql/functions/people/can_lose_role.sql', RIGHTS, [
    [
      "(can_log_in(u) or not exists (\n            select from users o where o.role = 'owner' and can_log_in(o)\n        ))",
      'true',
      'the last administrator who can log in is neither',
    ],
    ['and u.id <> of_user', '', 'the last administrator who can log in is neither'],
  ]),
  ...linesOf('sql/functions/people/require_other_owner.sql', PEOPLE, [
    ['and o.user_id <> of_user', '', 'the last owner of a project is neither'],
    ['(can_log_in(other) or not can_log_in(leaving))', 'true', 'the last owner of a project is neither'],
    ['or not can_log_in(leaving)', '', 'where no owner can log in yet, one who is invited is left'],
    ['and p.archived_at is null', '', 'the last owner of a project is neither'],
  ]),
  ...linesOf('sql/functions/people/remove_member.sql', PEOPLE, [
    ['perform require_other_owner(of_user, owner_id);', '', 'the last owner of a project is neither'],
  ]),
  ...linesOf('sql/functions/people/set_member.sql', PEOPLE, [
    ["if member_role <> 'owner' then", 'if false then', 'the last owner of a project is neither'],
    ['if was is null then', 'if false then', 'whoever is a member is not added again'],
  ]),
  ...linesOf('sql/functions/people/delete_user.sql', PEOPLE, [
    ['perform require_other_owner(of_user, null);', '', 'the last owner of a project is neither'],
  ]),
  ...linesOf('sql/functions/people/add_membership.sql', PEOPLE, [
    ['do nothing', 'do update set role = excluded.role', 'whoever is a member is not added again'],
  ]),
  ...linesOf('sql/functions/people/invite_new_user.sql', PEOPLE, [
    ['if given.times > 1 then', 'if false then', 'an invite to a project that is not there'],
    ['if given.name is null then', 'if false then', 'an invite to a project that is not there'],
  ]),
  ...linesOf('src/admin/login.ts', PEOPLE, [
    ['invited === null ? await call', 'true ? await call', 'a whole office takes'],
    ['invited === null ? await call', 'false ? await call', 'a whole office takes'],
  ]),
  ...linesOf('sql/functions/people/set_user_role.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
    [
      'if not can_lose_role(of_user, user_role) then',
      'if false then',
      'the last administrator who can log in is neither demoted nor deleted',
    ],
  ]),
  ...linesOf('sql/functions/people/delete_user.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
  ]),
  ...linesOf('sql/functions/people/delete_invite.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
  ]),
  ...linesOf('sql/functions/people/invite_user.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
  ]),
  ...linesOf('sql/functions/people/create_user.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
  ]),
  ...linesOf('sql/functions/people/create_administrator.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
  ]),
  ...linesOf('sql/functions/people/issue_admin_key.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
    ["and u.role = 'owner'", '', 'what concerns everybody takes an administrator'],
  ]),
  ...linesOf('sql/functions/people/delete_admin_key.sql', RIGHTS, [
    ['perform require_administrator();', '', 'what concerns everybody takes an administrator'],
  ]),
  ...linesOf('sql/functions/people/log_in_by_identity.sql', RIGHTS, [
    ['i.issuer = of_issuer and i.subject', 'i.subject', 'a person is known by what their own provider calls them'],
  ]),
  ...linesOf('sql/functions/people/shut_out_identity.sql', RIGHTS, [
    ['i.issuer = of_issuer and', '', 'a person is known by what their own provider calls them'],
  ]),
  ...linesOf('sql/functions/people/admit_session.sql', RIGHTS, [
    [
      "and s.last_seen_at > now() - interval '7 days'\n        and s.expires_at > now();\nend;",
      'and s.expires_at > now();\nend;',
      'a session ends by itself, and at the latest when it says so',
    ],
    [
      "and s.last_seen_at > now() - interval '7 days'\n        and s.expires_at > now();\nend;",
      "and s.last_seen_at > now() - interval '7 days';\nend;",
      'a session ends by itself, and at the latest when it says so',
    ],
  ]),
  ...linesOf('sql/functions/people/accept_invitation.sql', RIGHTS, [
    [
      'and i.expires_at > now()',
      '',
      'an invitation ends after a week and with its use, and what was open before ends with it',
    ],
    [
      'delete from sessions s where s.user_id = invited;',
      '',
      'an invitation ends after a week and with its use, and what was open before ends with it',
    ],
  ]),
  ...linesOf('sql/functions/people/set_password.sql', RIGHTS, [
    [
      "and s.token_hash is distinct from decode(kept_session, 'hex')",
      '',
      'a new password ends all other sessions of its user, and nobody else’s',
    ],
    [
      "delete from sessions s where s.user_id = current_user_id() and s.token_hash is distinct from decode(kept_session, 'hex');",
      '',
      'a new password ends all other sessions of its user, and nobody else’s',
    ],
  ]),
  ...linesOf('sql/functions/people/close_session_with_id.sql', RIGHTS, [
    ['and s.user_id = current_user_id()', '', 'a session’s id ends it for its own user alone, who sees no other'],
  ]),
  ...linesOf('sql/functions/people/own_sessions.sql', RIGHTS, [
    ['s.user_id = current_user_id()', 'true', 'a session’s id ends it for its own user alone, who sees no other'],
  ]),
  ...linesOf('sql/functions/people/login_state.sql', RIGHTS, [
    [
      'and (\n            current_user_id() is null',
      'and (\n            true or current_user_id() is null',
      'the last known login of a member is seen by members of the same project, and nobody else',
    ],
  ]),
  ...linesOf('sql/functions/people/authorize.sql', RIGHTS, [
    [
      'if array_position(ranks, held) < array_position(ranks, needed) then',
      'if false then',
      'what concerns a project takes a role there',
    ],
    ['if held is null then', 'if false then', 'what concerns a project takes a role there'],
  ]),
  ...linesOf('sql/functions/people/remove_member.sql', RIGHTS, [
    [
      'and k.project_id = owner_id',
      '',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
    [
      'where s.id = k.session_id and s.user_id = of_user and k.project_id = owner_id and k.deactivated_at is null;',
      'where false;',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
  ]),
  ...linesOf('sql/functions/people/set_member.sql', RIGHTS, [
    [
      "and member_role = 'viewer'",
      '',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
    [
      "k.deactivated_at is null and member_role = 'viewer'",
      'false',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
  ]),
  ...linesOf('sql/functions/people/end_session_keys.sql', RIGHTS, [
    [
      'k.session_id in (select g.id from gone g)',
      'false',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
  ]),
  ...linesOf('sql/functions/accounts/issue_session_key.sql', RIGHTS, [
    [
      'and s.user_id = current_user_id()',
      '',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
    [
      "now() + interval '1 hour'",
      'null',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
    [
      "update api_keys k set session_id = opened_in.id where k.key_hash = sha256(convert_to(secret, 'UTF8'));",
      '',
      'a key of a session is its user’s, lasts an hour, and ends with what let it be made',
    ],
  ]),
  ...linesOf('sql/functions/accounts/rotate_key.sql', RIGHTS, [
    ["perform authorize(old_key.project_id, 'member');", '', 'what concerns a project takes a role there'],
    [
      'old_key.deactivated_at is not null or',
      '',
      'a former value of a key is what the key is, ends with it, and no later than it',
    ],
    [
      'old_key.expires_at <= now() or',
      '',
      'no key is rotated that has expired, and none is made in a project that is archived',
    ],
    [
      'least(old_key.expires_at, now() + grace)',
      'now() + grace',
      'a former value of a key is what the key is, ends with it, and no later than it',
    ],
    [
      'or old_key.replaced_by is not null',
      '',
      'a former value of a key is what the key is, ends with it, and no later than it',
    ],
    [
      'old_key.allowed_models, old_key.allowed_addresses, rotated',
      'old_key.allowed_models, null, rotated',
      'a former value of a key',
    ],
    ['old_key.allowed_models, old_key', 'null, old_key', 'a former value of a key'],
    [
      'old_key.requests_per_minute, old_key.tokens_per_minute',
      'null, old_key.tokens_per_minute',
      'a former value of a key',
    ],
    [
      'old_key.requests_per_minute, old_key.tokens_per_minute',
      'old_key.requests_per_minute, null',
      'a former value of a key',
    ],
  ]),
  ...linesOf('sql/functions/accounts/set_key_limits.sql', RIGHTS, [
    ['where of_key in (k.id, k.replaced_by)', 'where of_key = k.id', 'a former value of a key'],
    ['of_key := key_of_value(of_key);', '', 'a former value of a key'],
    ["perform authorize(owner_id, 'owner');", '', 'what concerns a project takes a role there'],
  ]),
  ...linesOf('sql/functions/accounts/deactivate_key_with_id.sql', RIGHTS, [
    ['key_id in (k.id, k.replaced_by)', 'key_id = k.id', 'a former value of a key'],
    ["perform authorize(found_key.project_id, 'member');", '', 'what concerns a project takes a role there'],
  ]),
  ...linesOf('sql/functions/accounts/parse_networks.sql', RIGHTS, [
    ["or network <<= '::ffff:0:0/96'", '', 'networks of a key have no host bits'],
    ['network <> network(network)::inet or', '', 'networks of a key have no host bits'],
  ]),
  ...linesOf('sql/functions/accounts/archive_project.sql', RIGHTS, [
    [
      'update api_keys k set deactivated_at = now() where k.project_id = owner_id and k.deactivated_at is null;',
      '',
      'no key is rotated that has expired',
    ],
  ]),
  ...linesOf('sql/functions/accounts/issue_key.sql', RIGHTS, [
    [
      'if exists (select 1 from projects p where p.id = owner_id and p.archived_at is not null) then',
      'if false then',
      'no key is rotated that has expired',
    ],
  ]),
  ...linesOf('sql/views/key_accounts.sql', RIGHTS, [
    [
      "case k.type when 'project' then least(k.tokens_per_minute, pl.tokens_per_minute_per_key) end",
      'least(k.tokens_per_minute, pl.tokens_per_minute_per_key)',
      'a test key takes tokens',
    ],
    ['coalesce(k.replaced_by, k.id) as key_id', 'k.id as key_id', 'a former value of a key'],
    ["case k.type when 'test' then 86400 end", 'null::integer', 'a test key takes tokens'],
    [
      'to_json(least(p.cache_ttl_seconds, longest.cache_ttl_seconds))',
      'to_json(p.cache_ttl_seconds)',
      'a test key takes tokens',
    ],
  ]),
  ...linesOf('sql/views/key_accounts.sql', 'test/integration/stories.test.ts', [
    [
      'to_json(coalesce(k.log_content, p.log_content))',
      'to_json(p.log_content)',
      'content is kept only where the project or the key wants it',
    ],
  ]),
  ...linesOf('sql/functions/people/close_session.sql', RIGHTS, [
    ['and s.user_id = current_user_id()', '', 'a session’s id ends it for its own user alone'],
  ]),
  ...linesOf('sql/functions/people/write_invitation.sql', RIGHTS, [
    ["interval '7 days'", "interval '70 days'", 'an invitation ends after a week'],
  ]),
  ...linesOf('sql/functions/people/find_invitation.sql', RIGHTS, [
    ['and i.expires_at > now();', ';', 'an invitation ends after a week'],
  ]),
  ...linesOf('sql/functions/people/log_in_by_identity.sql', OIDC, [
    ['and can_lose_role(person.id, user_role)', '', 'the last administrator who can log in stays one'],
    ["if person.role = 'reader' then", 'if false then', 'ends what was set for a reader’s address'],
    ['delete from invitations i where i.user_id = person.id;', '', 'makes void an invitation'],
  ]),
  ...linesOf('src/pipeline/plan-request.ts', 'test/integration/policies.test.ts', [
    ['Bun.deepEquals(guess, account)', 'true', 'not at all, and what was remembered of a wording'],
  ]),
  ...linesOf('src/providers/model-router.ts', 'test/integration/admin/routes.test.ts', [
    ['.find(name => direct_providers.includes(name))', '[0]', 'is told as it is then taken'],
  ]),
  ...linesOf('src/providers/model-router.ts', ALLOWED, [
    ['if (!isAllowedInProject(model, allowed_models)) return false', '', '["gpt-4o"]: gpt-4o-mini'],
    [
      'return key_allowed_models === null || matchesAny(model, key_allowed_models)',
      'return true',
      '["gpt-4o"]: gpt-4o-mini',
    ],
    ['return name.length - last.length >= at && name.endsWith(last)', 'return name.endsWith(last)', '["a*a"]: a'],
    [
      'refuseUnallowed([askedAs, ...alternatives], account)',
      'refuseUnallowed([askedAs], account)',
      'no other model that a request names may be asked, and none is listed, that is not allowed',
    ],
    [
      'if (isAllowed(model.model, account)) byName',
      'byName',
      'no other model that a request names may be asked, and none is listed, that is not allowed',
    ],
  ]),
  ...linesOf('src/admission/api-key.ts', KEYS, [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the line
    ['`${keyHash} ${address}`', 'keyHash', 'requests with one key from one address share a call'],
    [
      'if (networks === null) return true',
      'return true',
      'an address is in a network of a key whatever zone it is told with, and each form of address in its own',
    ],
    ['else known.delete(keyHash)', '', 'each verdict has its refusal, and only an active key is remembered'],
    [
      "isIP(address) === 6 ? 'ipv6' : 'ipv4'",
      "'ipv4'",
      'an address is in a network of a key whatever zone it is told with, and each form of address in its own',
    ],
    [
      'list.addSubnet(base, Number(bits)',
      'list.addSubnet(base, 8',
      'an address is in a network of a key whatever zone it is told with, and each form of address in its own',
    ],
  ]),
  // The ledger of months.
  {
    file: 'src/admission/quota.ts',
    line: 'if (!isLocked(late) && late.reserved) ledger.refund(late.account, requests)',
    becomes: '',
    noticedBy: [QUOTA],
    test: 'a reply that is late is a 503, and what it granted is given back',
  },
  {
    file: 'src/admission/quota.ts',
    line: 'found.left < requests',
    becomes: 'found.left === 0',
    noticedBy: [QUOTA],
    test: 'reserves all the requests that are asked for, or none',
  },
  {
    file: 'src/admission/quota.ts',
    line: "if (left > 0 && account.verdict !== 'unknown') ledger.refund(account, left)",
    becomes: '',
    noticedBy: [QUOTA],
    test: 'what is too little for one that asks for several does not stay counted',
  },
  {
    file: 'src/admission/quota.ts',
    line: 'asks.filter(({ keyHash }) => !locked.has(keyHash))',
    becomes: 'asks',
    noticedBy: [QUOTA],
    test: 'a locked counter fails nobody but its own keys, which wait for it',
  },
  {
    file: 'src/admission/quota.ts',
    line: 'if (performance.now() > deadlineMs || !(await deploys.isOn(startedAtMs))) throw error',
    becomes: 'throw error',
    noticedBy: [QUOTA],
    test: 'while a deploy locks the tables, a request waits; without one it fails',
  },
  {
    file: 'src/admission/quota-ledger.ts',
    line: 'if (error instanceof AnswerLost) void',
    becomes: 'if (false) void',
    noticedBy: [QUOTA],
    test: 'a reply that is lost is a 503, and what it granted is given back',
  },
  {
    file: 'src/admission/quota-ledger.ts',
    line: 'batch.sequence++',
    becomes: '',
    noticedBy: [QUOTA],
    test: 'reserves all the requests that are asked for, or none',
  },
  {
    file: 'src/admission/quota-ledger.ts',
    line: "if (account.verdict !== 'unknown' && granted > 0) refunds.add(account, granted)",
    becomes: '{}',
    noticedBy: [QUOTA],
    test: 'a reply that is lost is a 503, and what it granted is given back',
  },
  {
    file: 'src/admission/quota-ledger.ts',
    line: 'refundRequests(this.#database, refunds, batch)',
    becomes: 'refundRequests(this.#database, refunds, crypto.randomUUID())',
    noticedBy: [QUOTA],
    test: 'a refund whose reply was lost is sent again, and applied once',
  },
  {
    file: 'src/admission/quota-ledger.ts',
    line: 'waiting.requests += requests',
    becomes: 'waiting.requests = requests',
    noticedBy: [QUOTA],
    test: 'reserves all the requests that are asked for, or none',
  },
  // What the database decides.
  {
    file: 'sql/views/key_limits.sql',
    line: "' ', k.xmin, p.xmin, pl.xmin,",
    becomes: "' ', k.xmin, pl.xmin,",
    noticedBy: [ADMIT],
  },
  {
    file: 'sql/views/key_limits.sql',
    line: "case when k.expires_at <= now() then 'expired' end,",
    becomes: '',
    noticedBy: [ADMIT],
  },
  {
    file: 'sql/functions/admission/admit.sql',
    line: 'is_near := missing or coalesce(is_near, false);',
    becomes: 'is_near := missing;',
    noticedBy: [ADMIT],
  },
  {
    file: 'src/postgres/admit.ts',
    line: 'granted > 0 && near_end',
    becomes: 'granted < 0 && near_end',
    noticedBy: [QUOTA],
    test: 'near the end of a month nobody is admitted before the count is on disk, and what is not comes back',
  },
  {
    file: 'src/postgres/admit.ts',
    line: "if (rows.length === 0) throw new AnswerLost('the server has lost the batch')",
    becomes: '',
    noticedBy: [QUOTA],
    test: 'near the end of a month a count that a crash undid admits nobody',
  },
  {
    file: 'sql/functions/admission/admit.sql',
    line: 'and c.requests + wanted[1] <= k.requests_per_month - k.counted_durably',
    becomes: '',
    noticedBy: [QUOTA],
    test: 'reserves all the requests that are asked for, or none',
  },
  {
    file: 'sql/functions/admission/admit.sql',
    line: 'and a.account_version is distinct from a.known_version',
    becomes: '',
    noticedBy: [ADMIT],
    test: 'whatever changes an account',
  },
  {
    file: 'sql/functions/admission/admit.sql',
    line: 'least(d.wanted, greatest(0, d.requests_per_month - c.requests)) as granted',
    becomes: 'd.wanted as granted',
    noticedBy: [QUOTA],
    test: 'reserves all the requests that are asked for, or none',
  },
  {
    file: 'sql/functions/admission/refund_requests.sql',
    line: 'on conflict do nothing;\n    if not found then\n        return;\n    end if;',
    becomes: 'on conflict do nothing;',
    noticedBy: [QUOTA],
    test: 'a refund whose reply was lost is sent again, and applied once',
  },
  // What is stored or kept is found by whom it is for, and no longer than it lasts.
  ...linesOf('sql/functions/cache/find_answers.sql', FIND_ANSWER, [
    [
      'where x.project_id = g.project_id\n            and x.request_hash = g.request_hash',
      'where x.request_hash = g.request_hash',
      'of no other project and context',
    ],
    ['where e.expires_at > now()\n        and (g', 'where (g', 'of no other project and context'],
    [
      'and (g.max_age_seconds is null or e.created_at >= now() - make_interval(secs => g.max_age_seconds));',
      ';',
      'of no other project and context',
    ],
    ['and x.expires_at > now()\n            and (h', 'and (h', 'of no other project and context'],
    [
      'and (h.max_age_seconds is null or x.created_at >= now() - make_interval(secs => h.max_age_seconds))',
      '',
      'of no other project and context',
    ],
    [
      'and x.expires_at > now()\n                    and x.created_at >= o.oldest',
      'and x.created_at >= o.oldest',
      'of no other project and context',
    ],
    ['and x.created_at >= o.oldest', '', 'of no other project and context'],
    ["and x.verdict = 'same'", '', 'and all of a context in which a person'],
    [
      "and x.source = 'person'\n                    and x.verdict",
      'and x.verdict',
      'and all of a context in which a person',
    ],
    [
      'and x.context_hash = g.context_hash\n                    and x.source',
      'and x.source',
      'and all of a context in which a person',
    ],
    [
      's.sharing <= most_compared then null else k.group_key',
      'true then null else k.group_key',
      'however many have it',
    ],
  ]),
  ...linesOf('sql/functions/cache/store_answers.sql', FIND_ANSWER, [
    [
      'where g.generation is null or g.generation = p.cache_generation',
      'where true',
      'what was deleted while it was stored',
    ],
    [
      'order by g.project_id, g.request_hash, g.at desc',
      'order by g.project_id, g.request_hash, g.at',
      'what was deleted while it was stored',
    ],
    ['case when g.test then 86400 end', 'null', 'what was deleted while it was stored'],
  ]),
  ...linesOf('sql/functions/cache/find_kept_object.sql', KEPT, [
    ['k.project_id = of_project\n        and', '', 'an object is found by its project'],
    ['k.collection = of_collection\n            or', '', 'an object is found by its project'],
  ]),
  ...linesOf('sql/functions/cache/forget_kept_object.sql', KEPT, [
    ['k.project_id = of_project', 'true', 'an object is found by its project'],
  ]),
  ...linesOf('sql/functions/cache/settle_batch.sql', KEPT, [
    ['and not k.settled', '', 'a batch is settled once'],
    ['k.project_id = of_project', 'true', 'a batch is settled once'],
    ['and k.id = batch_id', '', 'a batch is settled once'],
  ]),
  ...linesOf('sql/functions/cache/claim_ids.sql', KEPT, [
    [
      'where not k.is_mine and (k.is_bound or under_shared_key)',
      'where not k.is_mine and k.is_bound',
      'an id is whose it is',
    ],
    [
      'where not k.is_mine and (k.is_bound or under_shared_key)',
      'where not k.is_mine and under_shared_key',
      'an id is whose it is',
    ],
    ['where not under_shared_key\n            and not exists', 'where not exists', 'an id is whose it is'],
    [
      "left join kept_objects k on k.id = named.id and split_part(k.provider, '/', 1) = of_provider",
      'left join kept_objects k on k.id = named.id',
      'an id is whose it is',
    ],
  ]),
  ...linesOf('sql/functions/cache/find_keepers.sql', KEPT, [
    [
      'k.project_id = of_project\n        and k.id = any (ids)',
      'k.id = any (ids)',
      'an object is asked for with the key',
    ],
    ["and split_part(k.provider, '/', 1) = of_provider", '', 'an object is asked for with the key'],
    ['order by count(*) desc, k.provider', 'order by count(*), k.provider', 'an object is asked for with the key'],
  ]),
  ...linesOf('sql/functions/cache/find_kept_responses.sql', KEPT, [
    ['and k.key_id = of_key', '', 'a response is its key’s'],
    ['k.project_id = of_project\n        and', '', 'a response is its key’s'],
    ['and k.expires_at > now()', '', 'a response is its key’s'],
  ]),
  ...linesOf('sql/functions/cache/forget_kept_response.sql', KEPT, [
    ['and k.key_id = of_key', '', 'a response is its key’s'],
    ['k.project_id = of_project\n            and', '', 'a response is its key’s'],
  ]),
  ...linesOf('sql/functions/cache/keep_response.sql', KEPT, [
    ["now() + interval '7 days')", "now() + interval '1 day')", 'a response is its key’s'],
    ['or k.expires_at < renewed_before', '', 'a response is its key’s'],
  ]),
  // A request ends once.
  {
    file: 'src/pipeline/open-account.ts',
    line: 'if (this.#isFinished) return\n    this.#isFinished = true',
    becomes: 'this.#isFinished = true',
    noticedBy: [ACCOUNTING],
  },
  {
    file: 'src/pipeline/open-account.ts',
    line: 'if (!outcome.counts) quota.refund(account)',
    becomes: '',
    noticedBy: [ACCOUNTING],
  },
  {
    file: 'src/pipeline/open-account.ts',
    line: '!this.#options.shutdown.isCut && ',
    becomes: '',
    noticedBy: [ACCOUNTING],
  },
  {
    file: 'src/pipeline/open-account.ts',
    line: 'if (provider !== this.#provider) this.#askedAtMs = null',
    becomes: '',
    noticedBy: [ACCOUNTING],
  },
  // No credential of a provider crosses, and what showed one is not for others.
  {
    file: 'src/providers/call-upstream.ts',
    line: 'filter.push(piece)',
    becomes: 'piece',
    noticedBy: [UPSTREAM_CALL],
  },
  {
    file: 'src/providers/call-upstream.ts',
    line: 'hideInHeaders(headers, credentials)',
    becomes: '',
    noticedBy: [UPSTREAM_CALL],
  },
  {
    file: 'src/providers/call-upstream.ts',
    line: '!isForbidden && !filter.hasFound',
    becomes: '!isForbidden',
    noticedBy: [UPSTREAM_CALL],
  },
  {
    file: 'src/providers/call-upstream.ts',
    line: '() => !isForbidden',
    becomes: '() => true',
    noticedBy: [UPSTREAM_CALL],
  },
  {
    file: 'src/providers/credentials/credentials.ts',
    line: 'held.length > 0 ? joinBytes([held, bytes]) : bytes',
    becomes: 'bytes',
    noticedBy: [CREDENTIALS],
  },
  {
    file: 'src/providers/credentials/credentials.ts',
    line: '|| holdsEscape(bytes)',
    becomes: '',
    noticedBy: [CREDENTIALS],
  },
  {
    file: 'src/providers/credentials/credentials.ts',
    line: 'if (end === OPEN && !isEnd) return OPEN',
    becomes: '',
    noticedBy: [CREDENTIALS],
  },
  {
    file: 'src/providers/credentials/spelling-index.ts',
    line: '- GROUP_BYTES + 1\n',
    becomes: '+ 1\n',
    noticedBy: [CREDENTIALS],
  },
  {
    file: 'src/pipeline/relay-stream.ts',
    line: ' && !answer.credentials?.areIn(bytes)',
    becomes: '',
    noticedBy: [QUOTED],
    test: 'one that comes in parts is not stored',
  },
  {
    file: 'src/providers/balanced.ts',
    line: 'earlier.push(answer)',
    becomes: '',
    noticedBy: [QUOTED],
    test: 'a key of several that was refused before',
  },
  {
    file: 'src/pipeline/realtime/connect-upstream.ts',
    line: "listener.onMessage(credentials.hide(typeof data === 'string' ? data : new TextDecoder().decode(data)))",
    becomes: 'listener.onMessage(String(data))',
    noticedBy: [QUOTED],
    test: 'a realtime session’s events',
  },
  // Only what was asked for, whole, is for others, and what its provider lets be stored.
  {
    file: 'src/pipeline/completion.ts',
    line: ' && answer.mayStore()',
    becomes: '',
    noticedBy: [WHOLE],
    test: 'with Cache-Control: no-cache, No-Store',
  },
  {
    file: 'src/pipeline/relay-stream.ts',
    line: ' && answer.mayStore()',
    becomes: '',
    noticedBy: [WHOLE],
    test: 'with Cache-Control: no-cache, No-Store',
  },
  {
    file: 'src/pipeline/pass-through/pass-through.ts',
    line: 'answer.status === 200 && answer.mayStore()',
    becomes: 'answer.status === 200',
    noticedBy: [WHOLE],
    test: 'with Cache-Control: no-cache, No-Store',
  },
  {
    file: 'src/pipeline/pass-through/pass-through.ts',
    line: 'answer.status === 200 && ',
    becomes: '',
    noticedBy: [WHOLE],
    test: 'sound with status',
  },
  {
    file: 'src/pipeline/embeddings/gather-vectors.ts',
    line: 'batch.mayStore && ',
    becomes: '',
    noticedBy: [WHOLE],
    test: 'with Cache-Control: no-cache, No-Store',
  },
  {
    file: 'src/pipeline/embeddings/gather-vectors.ts',
    line: ' && areAsWanted(job, gathered)',
    becomes: '',
    noticedBy: [EMBEDDINGS],
    test: 'the client has them, and nobody else',
  },
  {
    file: 'src/pipeline/embeddings/gather-vectors.ts',
    line: '...known.values(), ',
    becomes: '',
    noticedBy: [EMBEDDINGS],
    test: 'the client has them, and nobody else',
  },
  {
    file: 'src/pipeline/pass-through/assess-passed.ts',
    line: 'results.length >= wanted.results',
    becomes: 'results.length > 0',
    noticedBy: [WHOLE],
    test: '/moderations',
  },
  {
    file: 'src/formats/chat/completeness.ts',
    line: 'choices.length < (wanted.count ?? 1)',
    becomes: 'choices.length < 1',
    noticedBy: [COMPLETENESS],
  },
  {
    file: 'src/formats/chat/completeness.ts',
    line: "if (!calls.every(hasWholeArguments)) return 'cut_arguments'",
    becomes: '',
    noticedBy: [COMPLETENESS],
  },
  {
    file: 'src/formats/chat/completeness.ts',
    line: "return isTextAsWanted(textOf(readField(message, 'content')), wanted) ? 'whole' : 'no_json'",
    becomes: "return 'whole'",
    noticedBy: [COMPLETENESS],
  },
  {
    file: 'src/formats/wanted.ts',
    line: 'countOf(n) * countInputs(prompt)',
    becomes: 'countOf(n)',
    noticedBy: [COMPLETENESS],
  },
  {
    file: 'src/formats/responses/assemble-response.ts',
    line: "if (!functionCalls.every(call => areWholeArguments(call.arguments))) return 'cut_arguments'",
    becomes: '',
    noticedBy: ['test/unit/formats/responses/assemble-response.test.ts'],
  },
  {
    file: 'src/formats/messages/assemble-message.ts',
    line: ' && open.size === 0',
    becomes: '',
    noticedBy: [WHOLE],
    test: '/messages',
  },
  {
    file: 'src/formats/messages/assemble-message.ts',
    line: ' && !Object.hasOwn(input, INVALID_JSON)',
    becomes: '',
    noticedBy: [WHOLE],
    test: '/messages',
  },
  {
    file: 'src/formats/format-of.ts',
    line: "if (data.length < count) return 'too_few'",
    becomes: '',
    noticedBy: [FORMAT_OF],
  },
  {
    file: 'src/formats/format-of.ts',
    line: 'lengths.has(0) || lengths.size > 1 || ',
    becomes: '',
    noticedBy: [FORMAT_OF],
  },
  ...linesOf('src/pipeline/share-call.ts', SHARE, [
    [
      'if (followed.failure && !(followed.failure instanceof ClientGone)) failures.push(followed.failure)',
      'if (followed.failure) failures.push(followed.failure)',
      'after a call that failed, then one whose client left, a request asks alone',
    ],
    [
      'const isOwn = failure instanceof ProxyError && OF_ONE_KEY.has(failure.code)',
      'const isOwn = false',
      'a call that ends for its own key’s limit tells its followers so',
    ],
    ['if (call.signal.aborted) throw new ClientGone()', '', 'a call that nobody waits for any more asks nobody'],
    [
      'return control.lookup && control.store && !control.onlyIfCached',
      'return !control.onlyIfCached',
      'with {"lookup":false}, a request follows no call',
    ],
  ]),
  ...linesOf('src/pipeline/accounting.ts', ACCOUNTING, [
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the line
      'if (!record || !options.takeRefused(`${account.key_id}`)) return',
      'if (!record) return',
      'of what is refused, thirty a minute are recorded, and all of what an upstream refused',
    ],
  ]),
  ...linesOf('src/pipeline/open-account.ts', ACCOUNTING, [
    [
      'if (!outcome.counts) quota.refund(account)',
      'quota.refund(account)',
      'a request that counts is recorded, and nothing is given back',
    ],
    ['this.#onFinish?.()', '', 'a request that counts is recorded, and nothing is given back'],
    [
      'this.#isFinished = onFinish === null',
      'this.#isFinished = false',
      'a request that is free leaves nothing, however it ends',
    ],
    ['onFinish && isLimited', 'isLimited', 'a request that is free leaves nothing, however it ends'],
    [
      'if (!this.#isFinished) request.isRecorded',
      'request.isRecorded',
      'a request that is free leaves nothing, however it ends',
    ],
    [
      'if (this.#isFinished) return\n    this.#calls.begin',
      'this.#calls.begin',
      'a request that is free leaves nothing, however it ends',
    ],
    [
      'this.spending?.release()',
      '{}',
      'what was reserved is settled with the record, and released where a refusal is not recorded',
    ],
    [
      'reservation: this.spending?.end(tokensOf(outcome, this.#calls.presumed)) ?? null',
      'reservation: null',
      'what was reserved is settled with the record, and released where a refusal is not recorded',
    ],
    ['this.#judgeUsd += usd', 'this.#judgeUsd = usd', 'every question to the judge is paid'],
  ]),
  ...linesOf('src/pipeline/open-account.ts', ACCOUNTING, [
    [
      'account.has_budgets || account.tokens_per_minute !== null',
      'account.has_budgets',
      'what has budgets, or a limit of tokens, is reserved for',
    ],
  ]),
  ...linesOf('src/pipeline/tags.ts', TAGS, [
    [
      '!tags.has(name) &&',
      '',
      'metadata is taken as far as it is names and values, and there is room after the header',
    ],
    [
      'tags.size < MOST_TAGS &&',
      '',
      'metadata is taken as far as it is names and values, and there is room after the header',
    ],
  ]),
  // Calls are shared by those that would accept the same, and nobody reads past a gap.
  {
    file: 'src/cache/cache-query.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the line
    line: ':${acceptable}',
    becomes: '',
    noticedBy: ['test/unit/cache/cache-query.test.ts'],
  },
  {
    file: 'src/pipeline/share-call.ts',
    line: 'taken.entry ?? (await cache.readLateEntry(cacheQuery.exactKey))',
    becomes: 'taken.entry',
    noticedBy: ['test/integration/coalescing.test.ts'],
    test: 'what is counted only when the call that it could have joined is over finds its answer',
  },
  {
    file: 'src/pipeline/coalescing/remote-leader.ts',
    line: 'else if (number === this.#next) this.#takeNext(message)',
    becomes: 'this.#takeNext(message)',
    noticedBy: ['test/unit/pipeline/coalescing/remote-leader.test.ts'],
  },
]
