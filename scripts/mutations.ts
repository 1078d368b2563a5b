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
const LARGEST = 'test/integration/largest-cost.test.ts'
const BOUNDS = 'test/unit/formats/bounds.test.ts'
const LEAVING = 'test/integration/leaving.test.ts'
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
const RESTRICTIONS = 'test/integration/key-restrictions.test.ts'

export const MUTATIONS: readonly Mutation[] = [
  // What a request alone was counted in early is given back where its windows refuse it, and near a limit none is.
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
    file: 'src/admission/token-windows.ts',
    line: 'isWhole: true, ',
    becomes: '',
    noticedBy: [TOKENS],
  },
  {
    file: 'src/admission/token-windows.ts',
    line: 'if (kept < tokens) void settling.add(giveBack(window, tokens - kept, countedAtSecond))',
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
    file: 'src/postgres/partitions.ts',
    line: 'await maintainUsagePartitions(database)\n    await readTime(database)',
    becomes: 'throw error',
    noticedBy: [CLOCK_STEPS],
  },
  {
    file: 'src/postgres/record-usage.ts',
    line: 'hasStepped ? records.map(redate) : records',
    becomes: 'records',
    noticedBy: [CLOCK_STEPS],
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
    line: "perform pg_advisory_xact_lock(hashtext('put_budget'));",
    becomes: '',
    noticedBy: [BUDGETS],
    test: 'a budget that is set and a batch of records that is written wait for each other',
  },
  {
    file: 'sql/functions/usage/record_usage.sql',
    line: "perform pg_advisory_xact_lock_shared(hashtext('put_budget'));",
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
    file: 'src/catalogue/read-usage.ts',
    line: 'return withParts(whole, usage.iterations)',
    becomes: 'return whole',
    noticedBy: [LARGEST],
    test: 'a summary before the answer: one is charged as its vendor does, or refused by name',
  },
  {
    file: 'src/pipeline/pass-through/longest-sound.ts',
    line: "|| hasChunk(file, next, 'fmt ')",
    becomes: '',
    noticedBy: [BOUNDS],
  },
  {
    file: 'src/pipeline/pass-through/longest-sound.ts',
    line: '?? secondsOfMp3(file) ?? MOST_SECONDS',
    becomes: '?? secondsOfMp3(file) ?? file.byteLength / LEAST_MP3_BYTES_A_SECOND',
    noticedBy: [BOUNDS],
  },
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
  // Rate windows.
  {
    file: 'src/admission/rate-windows.ts',
    line: 'group.left--',
    becomes: '',
    noticedBy: [ADMISSION],
  },
  {
    file: 'src/admission/rate-windows.ts',
    line: 'store.uncount(names, 1, counted.countedAtSecond)',
    becomes: 'store.uncount(names, 0, counted.countedAtSecond)',
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
    line: 'keptBy: vendor ?? null,',
    becomes: 'keptBy: null,',
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
    line: 'if (found.alone) shiftWindow(found.alone, step)',
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
    line: 'countedAtSecond: -counted.countedAtSecond',
    becomes: 'countedAtSecond: counted.countedAtSecond',
    noticedBy: [GUARD],
  },
  {
    file: 'src/stores/window-memory.ts',
    line: 'found.telling += missed',
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
    line: 'coalesce(sum(m.alone), 0) + greatest',
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
  // The ledger of months.
  {
    file: 'src/admission/quota.ts',
    line: 'if (late !== LOCKED && late.reserved) ledger.refund(late.account, requests)',
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
    line: 'granted > 0 && isNearEnd',
    becomes: 'granted < 0 && isNearEnd',
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
  // A request ends once.
  {
    file: 'src/pipeline/open-account.ts',
    line: 'if (this.#isFinished) return',
    becomes: '',
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
    file: 'src/coalescing/remote-leader.ts',
    line: 'else if (number === this.#next) this.#takeNext(message)',
    becomes: 'this.#takeNext(message)',
    noticedBy: ['test/unit/coalescing/remote-leader.test.ts'],
  },
]
